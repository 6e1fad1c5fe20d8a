# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag`: the command that people install, a subcommand for each thing it does."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click
from rich.console import Console

from kafka_lag.cli.terminal import escape_markup
from kafka_lag.errors import ReporterError

_PROGRAM = "kafka-lag"
_PACKAGE = "msk-lag-reporter"
FAILED, WRONG_USAGE, INTERRUPTED = 1, 2, 130
# What each does. A subcommand is imported when it is called: Spark, AWS and the configuration's
# model need not be loaded for the others.
_SUBCOMMANDS = {
    "show": "the groups of a cluster now, or the partitions of one group",
    "watch": "the same again and again, redrawn on a terminal; keeps snapshots",
    "serve": "status page, Burrow's API and /metrics of snapshots, or of a cluster",
    "doctor": "what keeps a login from reading a cluster, and the line that repairs each",
    "query": "saved queries on snapshots and reports: who lagged most, and when",
    "report": "the daily report of a folder: skew, risks of loss, time lag",
    "init": "writes a deployment's document from a cluster's ARN",
    "config": "a collector's document, checked and written as the function reads it",
    "cost": "what a configuration will cost a month, before it is deployed",
    "completion": "completion of this command's words, for your shell",
}
_EXAMPLES = """\b
examples:
  kafka-lag show --bootstrap-servers localhost:9092
  kafka-lag show --bootstrap-servers b-1.example:9098 --iam --group billing
  kafka-lag COMMAND --help

\b
exit codes:
  0    done
  1    the cluster, the files or AWS could not be read; one sentence says what to do.
       doctor: there is a fault
  2    wrong usage
  3    show --fail-on: a group has that status
  4    show --fail-on: none is seen to have it, and of some the status is not known
  130  interrupted
"""


class _Root(click.Group):
    """The subcommands, each in the module of its name; errors are a sentence and an exit code."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(_SUBCOMMANDS)

    def get_command(self, _: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _SUBCOMMANDS:
            return None
        command: click.Command = getattr(import_module(f"kafka_lag.cli.{cmd_name}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in _SUBCOMMANDS:
            near = difflib.get_close_matches(args[0], _SUBCOMMANDS, 1)
            advice = f"Did you mean {near[0]}?" if near else f"There are {', '.join(_SUBCOMMANDS)}."
            raise click.UsageError(f"No such command {args[0]!r}. {advice}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("commands"):
            formatter.write_dl(list(_SUBCOMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except ReporterError as error:
            console = Console(stderr=True)
            console.print(f"[red]{escape_markup(str(error))}[/]", soft_wrap=True)
            return FAILED
        except BrokenPipeError:
            # Whoever read the output has seen enough; what is left of it goes nowhere.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        return code


@click.group(
    cls=_Root,
    epilog=_EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=False,
)
@click.version_option(package_name=_PACKAGE, prog_name=_PROGRAM)
def kafka_lag() -> None:
    """How far behind the consumer groups of a Kafka cluster are, in records and in time."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the subcommand and returns its exit code; 2, and one line, for wrong usage."""
    try:
        code = kafka_lag.main(argv, _PROGRAM, standalone_mode=False)
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else _PROGRAM
        # Values are repeated in the message, so a line of theirs must not become another.
        message = " ".join(error.format_message().split())
        click.echo(f"{path}: {message} (See {path} --help.)", err=True)
        return WRONG_USAGE
    except click.ClickException as error:
        click.echo(f"{_PROGRAM}: {error.format_message()}", err=True)
        return error.exit_code
    except click.Abort:
        return INTERRUPTED
    return code or 0


if __name__ == "__main__":
    raise SystemExit(main())
