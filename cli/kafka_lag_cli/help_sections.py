# SPDX-License-Identifier: Apache-2.0
"""Subcommands: options under headings in their help, and errors as a sentence and an exit code."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from rich.console import Console

from kafka_lag.errors import ReporterError
from kafka_lag_cli.terminal.text import escape_markup, wording_of
from kafka_lag_config.faults import ConfigurationError

F = TypeVar("F", bound=Callable[..., Any])

_GENERAL = "options"
FAILED, WRONG = 1, 2

# The options that a variable may set, too, by their long names.
_WITH_VARIABLE = ("bootstrap-servers", "command-config", "config", "state", "profile")
_LOGIN = {"iam", "username", "password_env", "password_file"}
# What on the command line makes a parameter's variable count for nothing: another source.
_REPLACED_BY = {
    "bootstrap_servers": {"config", "s3"},
    "command_config": {"config", "profile", "s3", *_LOGIN},
    "config": {"bootstrap_servers", "command_config", "s3"},
}


class _Option(click.Option):
    """An option that knows its heading; an error names the variable where the value is from one."""

    def __init__(self, *args: Any, section: str = _GENERAL, **rest: Any) -> None:
        super().__init__(*args, **rest)
        self.section = section

    def consume_value(
        self, ctx: click.Context, opts: Mapping[str, Any]
    ) -> tuple[Any, ParameterSource]:
        """The value and where it is from: not from a variable that the command line replaces."""
        value, source = super().consume_value(ctx, opts)
        given = opts.keys() | ({"s3"} if str(opts.get("state")).startswith("s3://") else set())
        replaced = _REPLACED_BY.get(str(self.name), set()) & given
        if source is ParameterSource.ENVIRONMENT and replaced:
            return None, ParameterSource.DEFAULT
        return value, source

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Returns the option's names without those that mean the same, and its help."""
        record = super().get_help_record(ctx)
        if record is None:
            return None
        short = [name for name in self.opts if not name.startswith("--")]
        names = dict.fromkeys([*short, _long_name(self)])
        return ", ".join(names) + ("" if self.is_flag else f" {self.make_metavar(ctx)}"), record[1]

    def get_error_hint(self, ctx: click.Context | None) -> str:
        """One name, as all that mean the same would hide what is wrong."""
        return (ctx and _variable_used(ctx, self)) or f"'{_long_name(self)}'"


class _File(click.Path):
    """A file that is there; ~ is one's home, also in a variable, where no shell sees it."""

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(os.path.expanduser(value), param, ctx)


FILE = _File()


def given_name(ctx: click.Context, parameter: click.Parameter) -> str | None:
    """The option or variable by which somebody set a parameter, None where it has its default."""
    if ctx.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE:
        return _long_name(parameter)
    return _variable_used(ctx, parameter)


def is_from_variable(name: str) -> bool:
    """Return true if a parameter of the running command has its value from a variable."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and ctx.get_parameter_source(name) is ParameterSource.ENVIRONMENT


def _long_name(parameter: click.Parameter) -> str:
    return next((name for name in parameter.opts if name.startswith("--")), parameter.opts[-1])


def _variable_used(ctx: click.Context, parameter: click.Parameter) -> str | None:
    if ctx.get_parameter_source(str(parameter.name)) is not ParameterSource.ENVIRONMENT:
        return None
    return str(parameter.envvar)


def add_variables(command: click.Command, prefix: str) -> None:
    """Has some options' values from variables, too: PREFIX_BOOTSTRAP_SERVERS, by its long name."""
    for parameter in command.params:
        if not isinstance(parameter, click.Option):
            continue
        name = _long_name(parameter).removeprefix("--")
        if name in _WITH_VARIABLE:
            parameter.envvar = f"{prefix}_{name.replace('-', '_').upper()}"


class SectionedCommand(click.Command):
    """A command whose help lists its options by heading; those without one come first."""

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command; an error is printed and becomes the exit code."""
        try:
            return super().invoke(ctx)
        except ReporterError as error:
            # Errors about brokers name the keys of a configuration. They are options for people who
            # have none.
            has_options = "bootstrap_servers" in ctx.params and not ctx.params.get("config")
            lines, code = [wording_of(config=not has_options)(str(error))], FAILED
        except ConfigurationError as error:
            lines, code = [error.line], WRONG
            if len(error.faults) > 1:
                lines = str(error).splitlines()
        text = "\n".join(map(escape_markup, lines))
        Console(stderr=True).print(f"[red]{text}[/]", soft_wrap=True)
        return ctx.exit(code)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {_GENERAL: []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                heading = getattr(parameter, "section", _GENERAL)
                sections.setdefault(heading, []).append(record)
        for heading, records in sections.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def command(
    name: str | None = None, **rest: Any
) -> Callable[[Callable[..., Any]], SectionedCommand]:
    """Returns a decorator that makes a subcommand of a function."""
    return click.command(name, cls=SectionedCommand, **rest)


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
