# SPDX-License-Identifier: Apache-2.0
"""Strangers' names on a terminal, where they can neither colour nor move anything."""

from __future__ import annotations

from rich.markup import escape


def printable(name: str) -> str:
    """The name with its unprintable characters escaped; two quotes for the empty one."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
    return text or "''"


def shown(name: str) -> str:
    """The same as rich markup that shows exactly these characters."""
    return escape(printable(name))
