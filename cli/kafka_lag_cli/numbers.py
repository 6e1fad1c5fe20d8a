# SPDX-License-Identifier: Apache-2.0
"""Whole numbers on a command line, with limits that the error names and the help leaves out."""

from __future__ import annotations

from typing import Any

import click


class WholeNumber(click.ParamType[int]):
    """A whole number from `least` to `most`, both included."""

    name = "number"

    def __init__(self, least: int, most: int) -> None:
        self._least, self._most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value)
        digits = text.isascii() and text.isdigit() and len(text) <= len(str(self._most))
        if not digits or not self._least <= int(text) <= self._most:
            limits = f"from {self._least} to {self._most:,}"
            self.fail(f"{text!r} must be a whole number {limits}", param, ctx)
        return int(text)


# Between two runs.
SECONDS = WholeNumber(1, 86_400)
