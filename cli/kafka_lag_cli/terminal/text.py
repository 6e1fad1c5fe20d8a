# SPDX-License-Identifier: Apache-2.0
"""Text for terminals: strangers' names without control characters, and tables that fit."""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from kafka_lag.wording.formatting import (
    cut_middle,
    escape_name,
    escape_text,
    format_list,
    python_escape,
)

# A file or another program reads the output: nothing is cut.
_ANY_WIDTH = 100_000
_GAP = 2
_FEW_NAMES = 3
_OPTIONS = {
    "bootstrap_servers": "--bootstrap-servers",
    "security_protocol": "security.protocol",
    "sasl_mechanism": "sasl.mechanism",
    "cafile": "ssl.truststore.location",
}
_KEYS = re.compile(
    r"(?<![\w/.-])(?:bootstrap_servers|security_protocol|sasl_mechanism|cafile)(?![\w/-]|\.\w)"
)


def printable(name: str) -> str:
    """Returns the name with its unprintable characters escaped; two quotes for the empty name."""
    return escape_name(name, python_escape, "''")


def printable_line(text: str) -> str:
    """Returns a line with its unprintable characters escaped; it may be indented, or empty."""
    return escape_text(text, python_escape)


def hint_at_name(name: str, names: Sequence[str]) -> str:
    """Returns names that an unknown one may stand for, or else some that exist."""
    near = difflib.get_close_matches(name, names, _FEW_NAMES, cutoff=0.5)
    return f"is it {' or '.join(near)}?" if near else f"there is {format_list(names, _FEW_NAMES)}."


def escape_markup(text: str) -> str:
    """Returns a line as rich markup that shows exactly these characters."""
    return escape(printable_line(text))


def name_options(text: str) -> str:
    """Returns a sentence that names keys of a configuration, in the words of the options."""
    return _KEYS.sub(lambda key: _OPTIONS[key[0]], text)


def wording_of(*, config: object) -> Callable[[str], str]:
    """Returns the wording for sentences that name configuration keys, by the given options."""
    return str if config else name_options


class _Screen(Console):
    """Standard output that raises if its reader is gone; rich would end the process with 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


@contextmanager
def ignore_closed_pipe() -> Iterator[None]:
    """Ignores a closed pipe: the rest of the output is dropped."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def open_screen(*, wide: bool = False) -> Console:
    """Returns standard output: as wide as the terminal, and of any width by --wide or without."""
    screen = _Screen()
    if wide or not screen.is_terminal:
        screen.width = _ANY_WIDTH
    return screen


def print_line(screen: Console, line: str, style: str = "") -> None:
    """Prints a line whole, however narrow the terminal is."""
    screen.print(Text(printable_line(line), style), soft_wrap=True)


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """The columns of a table, in order; those in `wide` are shown by --wide alone.

    If a terminal is narrow, columns are cut to the widths of `shortened` at most, the longest
    first; then the last of `optional` are left out. Other columns, such as numbers, are whole.
    """

    names: tuple[str, ...]
    right: Collection[str]
    shortened: Mapping[str, int]
    wide: Collection[str] = ()
    optional: tuple[str, ...] = ()
    cut_in_middle: Collection[str] = ()

    def without(self, *names: str) -> ColumnLayout:
        """Returns the layout without these columns."""
        return replace(self, names=tuple(each for each in self.names if each not in names))

    def table(
        self,
        lines: Sequence[Mapping[str, Text]],
        width: int,
        captions: Sequence[str] = (),
        *,
        wide: bool = False,
        also: Collection[str] = (),
    ) -> Table:
        """Returns a table of these cells, a line each, with the captions below it.

        `also` are columns of `wide` that are shown without it.
        """
        shown = [name for name in self.names if wide or name in also or name not in self.wide]
        widths = self._fit({name: self._natural(name, lines) for name in shown}, width)
        table = Table(
            title_justify="left",
            caption_justify="left",
            box=SIMPLE_HEAD,
            # The box has a blank of its own between columns.
            padding=(0, _GAP - 1, 0, 0),
            pad_edge=False,
        )
        if captions:
            table.caption = Text(", ".join(captions), no_wrap=True, overflow="ellipsis")
        for name, column in widths.items():
            justify: Literal["left", "right"] = "right" if name in self.right else "left"
            table.add_column(name, justify=justify, no_wrap=True, overflow="ellipsis", width=column)
        for line in lines:
            table.add_row(*(self._cut(name, line[name], wide) for name, wide in widths.items()))
        return table

    def _natural(self, name: str, lines: Sequence[Mapping[str, Text]]) -> int:
        return max([len(name), *(line[name].cell_len for line in lines)])

    def _fit(self, widths: Mapping[str, int], width: int) -> dict[str, int]:
        """Returns the columns that there is room for, with their widths."""
        fitted = dict(widths)
        least = {name: min(wide, self.shortened.get(name, wide)) for name, wide in widths.items()}
        for name in reversed(self.optional):
            if _total_width(least[each] for each in fitted) > width:
                fitted.pop(name, None)
        while _total_width(fitted.values()) > width:
            longest = max(fitted, key=lambda name: fitted[name] - least[name])
            if fitted[longest] <= least[longest]:
                break
            fitted[longest] -= 1
        return fitted

    def _cut(self, name: str, cell: Text, width: int) -> Text:
        if cell.cell_len <= width:
            return cell
        if name in self.cut_in_middle:
            return Text(cut_middle(cell.plain, width - 1), cell.style)
        return cell


def _total_width(widths: Iterable[int]) -> int:
    # A column is followed by its gap; the box begins with a blank.
    return sum(column + _GAP for column in widths) + 1


@dataclass(frozen=True, slots=True)
class WarningPrinter:
    """Warnings of a run on a console, one line each with its time.

    `wording` names keys of a configuration as the user wrote them.
    """

    console: Console
    wording: Callable[[str], str] = name_options

    def warning(self, message: str, /) -> None:
        """Prints the line as it is; names in it cannot act as markup."""
        text = self.wording(message)
        self.console.print(
            f"[dim]{datetime.now(UTC):%H:%M:%S}[/] [yellow]{escape_markup(text)}[/]",
            soft_wrap=True,
        )
