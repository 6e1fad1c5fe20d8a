# SPDX-License-Identifier: Apache-2.0
"""Options under headings in a subcommand's help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_GENERAL = "options"


class _Option(click.Option):
    """An option that knows its heading."""

    def __init__(self, *args: Any, section: str = _GENERAL, **rest: Any) -> None:
        super().__init__(*args, **rest)
        self.section = section


class SectionedCommand(click.Command):
    """A command whose help lists its options by heading; those without one come first."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {_GENERAL: []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                heading = getattr(parameter, "section", _GENERAL)
                sections.setdefault(heading, []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def option(*names: str, section: str = _GENERAL, **rest: Any) -> Callable[[F], F]:
    """An option of a subcommand, under a heading of its help."""
    return click.option(*names, cls=_Option, section=section, **rest)


def add_options(*options: Callable[[F], F]) -> Callable[[F], F]:
    """All of these options, in the order of the help."""

    def add(function: F) -> F:
        for each in reversed(options):
            function = each(function)
        return function

    return add
