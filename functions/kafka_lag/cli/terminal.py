# SPDX-License-Identifier: Apache-2.0
"""Strangers' names on a terminal, where they can neither colour nor move anything."""

from __future__ import annotations

from rich.markup import escape

from kafka_lag.formatting import escape_name, python_escape


def printable(name: str) -> str:
    """The name with its unprintable characters escaped; two quotes for the empty one."""
    return escape_name(name, python_escape, "''")


def escape_markup(text: str) -> str:
    """The same as rich markup that shows exactly these characters."""
    return escape(printable(text))
