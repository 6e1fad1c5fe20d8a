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
_WIDE_GAP, _NARROW_GAP = 2, 1
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
    """The name with what nobody sees of it escaped; two quotes for the empty one."""
    return escape_name(name, python_escape, "''")


def printable_line(text: str) -> str:
    """A line of text with its unprintable characters escaped; it may be indented, or empty."""
    return escape_text(text, python_escape)


def hint_at_name(name: str, names: Sequence[str]) -> str:
    """Return names that an unknown one may stand for, or else some that exist."""
    near = difflib.get_close_matches(name, names, _FEW_NAMES, cutoff=0.5)
    return f"is it {' or '.join(near)}?" if near else f"there is {format_list(names, _FEW_NAMES)}."


def escape_markup(text: str) -> str:
    """A line as rich markup that shows exactly these characters."""
    return escape(printable_line(text))


def name_options(text: str) -> str:
    """Returns a sentence that names keys of a configuration, in the words of the options."""
    return _KEYS.sub(lambda key: _OPTIONS[key[0]], text)


def wording_of(*, config: object) -> Callable[[str], str]:
    """Returns the wording for sentences that name configuration keys, by the given options."""
    return str if config else name_options


class _Screen(Console):
    """Standard output that raises where its reader is gone; rich would end the process with 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


@contextmanager
def ignore_closed_pipe() -> Iterator[None]:
    """Lets whoever read the output have seen enough: what is left of it goes nowhere."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def open_screen() -> Console:
    """Standard output: as wide as the terminal, and of any width where it is none."""
    screen = _Screen()
    if not screen.is_terminal:
        screen.width = _ANY_WIDTH
    return screen


@dataclass(frozen=True, slots=True)
class FittedColumns:
    """The widths of columns that fit, the blanks after each, and the columns that do not fit."""

    widths: Mapping[str, int]
    gap: int
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """A table's columns, and what happens to them if there is little room.

    `optional` may be left out, those first that get room first; the others are always there.
    `shortened` may be cut for another column to the width given, and at last `elastic` to
    `least_elastic`. Before a column is left out, the gaps between them are narrowed.
    """

    names: tuple[str, ...]
    right: Collection[str]
    optional: tuple[str, ...]
    shortened: Mapping[str, int]
    elastic: str
    least_elastic: int = 8
    cut_in_middle: Collection[str] = ()

    def without(self, name: str) -> ColumnLayout:
        """The same without this column."""
        return replace(
            self,
            names=tuple(each for each in self.names if each != name),
            optional=tuple(each for each in self.optional if each != name),
        )

    def fit(
        self,
        lines: Sequence[Mapping[str, Text]],
        width: int,
        first: Sequence[str] = (),
    ) -> FittedColumns:
        """The columns that there is room for, and how wide they are; empty ones come last.

        Of `optional` the `first` come before others. One that is never shortened and has no room
        lets no later one in: that would be a lesser number in its place.
        """
        natural = {
            name: max([len(name), *(line[name].cell_len for line in lines)]) for name in self.names
        }
        least = {name: min(wide, self.shortened.get(name, wide)) for name, wide in natural.items()}
        filled = {name for line in lines for name, cell in line.items() if cell}
        order = sorted(self.optional, key=lambda name: (name not in filled, name not in first))
        for gap in (_WIDE_GAP, _NARROW_GAP):
            chosen = set(self.names).difference(self.optional)
            for name in order:
                if _total_width((least[column] for column in (*chosen, name)), gap) <= width:
                    chosen.add(name)
                elif name not in self.shortened:
                    break
            left_out = [name for name in self.names if name in filled and name not in chosen]
            if not left_out:
                break
        widths = {name: wide for name, wide in natural.items() if name in chosen}
        shortened = [name for name in self.shortened if name in widths]
        while shortened and _total_width(widths.values(), gap) > width:
            longest = max(shortened, key=lambda name: widths[name] - least[name])
            if widths[longest] <= least[longest]:
                break
            widths[longest] -= 1
        missing = max(0, _total_width(widths.values(), gap) - width)
        natural_elastic = widths[self.elastic]
        widths[self.elastic] = max(
            min(natural_elastic, self.least_elastic), natural_elastic - missing
        )
        return FittedColumns(widths, gap, tuple(left_out))

    def table(
        self,
        lines: Sequence[Mapping[str, Text]],
        width: int,
        captions: Sequence[str] = (),
        first: Sequence[str] = (),
    ) -> Table:
        """A table of these cells that is no wider, a line each; below it the captions, and which
        columns had no room. `first` is that of `fit`.
        """
        fitted = self.fit(lines, width, first)
        widths, said = fitted.widths, list(captions)
        table = Table(
            title_justify="left",
            caption_justify="left",
            box=SIMPLE_HEAD,
            # The box has a blank of its own between columns.
            padding=(0, fitted.gap - 1, 0, 0),
            pad_edge=False,
        )
        if fitted.left_out:
            said.append(f"no room here, but in --output csv: {', '.join(fitted.left_out)}")
        if said:
            table.caption = Text(", ".join(said), no_wrap=True, overflow="ellipsis")
        for name, column in widths.items():
            justify: Literal["left", "right"] = "right" if name in self.right else "left"
            table.add_column(name, justify=justify, no_wrap=True, overflow="ellipsis", width=column)
        for line in lines:
            table.add_row(*(self._cut(name, line[name], wide) for name, wide in widths.items()))
        return table

    def _cut(self, name: str, cell: Text, width: int) -> Text:
        if cell.cell_len <= width:
            return cell
        if name in self.cut_in_middle:
            return Text(cut_middle(cell.plain, width - 1), cell.style)
        return cell


def _total_width(widths: Iterable[int], gap: int) -> int:
    # A column is followed by its gap; the box begins with a blank.
    return sum(column + gap for column in widths) + 1


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
