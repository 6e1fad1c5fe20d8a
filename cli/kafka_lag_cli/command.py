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

from kafka_lag import contract
from kafka_lag_cli.help_sections import WRONG, add_variables
from kafka_lag_cli.terminal.text import ignore_closed_pipe, printable

_PROGRAM = "kafka-lag"
_PACKAGE = "msk-lag-reporter"
_PREFIX = "KAFKA_LAG"
INTERRUPTED = 130
# What each does. A subcommand is imported when it is called: Spark, AWS and the configuration's
# model need not be loaded for the others.
_SUBCOMMANDS = {
    "show": "show the groups of a cluster now, or the partitions of one group",
    "watch": "show them again and again, and keep snapshots",
    "serve": "serve the status page, Burrow's API and /metrics",
    "doctor": "find what keeps a login from reading, and print what repairs it",
    "why": "explain why a group is behind, and what to do",
    "alive": "say whether the commits of a member advance, for a liveness probe",
    "mute": "mute a group's messages and alarms for a while",
    "tasks": "say how many tasks groups need, now and by hour of the week",
    "replay": "try the alarms of a configuration on past days",
    "diff": "compare two configurations: keys, alarms, cost, pages",
    "query": "run a saved query on snapshots and reports",
    "report": "make the daily report of a folder",
    "init": "write a configuration from a cluster's ARN",
    "config": "check a configuration, and print it with all defaults",
    "cost": "estimate what a configuration costs a month",
    "completion": "let your shell complete this command's words",
}
# Words of other programs and subcommands that people type, and the words here.
_INSTEAD = {
    "--bootstrap-servers": "kafka-lag show reads a cluster.",
    "--gap": "kafka-lag show has it; here it is --interval.",
    "--interval": "kafka-lag watch has it.",
    "--port": "It is --listen PORT.",
    "--host": "It is --listen HOST:PORT.",
    "--json": "It is --output json.",
    "--format": "It is --output.",
    "--password": "It is --password-env VAR, or --password-file F: others see options.",
    "--brokers": "It is --bootstrap-servers.",
    "--once": "kafka-lag show reads once.",
    "--security-protocol": "It is -X security.protocol=SASL_SSL.",
    "--sasl-mechanism": "It is -X sasl.mechanism=SCRAM-SHA-256.",
    "--cafile": "It is -X ssl.truststore.location=ca.pem.",
    "--timeout": "It is -X request.timeout.ms=10000.",
    "--role": "It is --profile P, a profile of ~/.aws/config with role_arn.",
    "--region": "It is AWS_REGION, or the region of --profile.",
}
_LIKE_ENOUGH = 0.75
_EXAMPLES = """\b
examples:
  kafka-lag show --bootstrap-servers localhost:9092
  kafka-lag show --bootstrap-servers b-1.example:9098 --iam --group billing
  kafka-lag show --bootstrap-servers b-1.example:9096 --command-config client.properties
  kafka-lag COMMAND --help

\b
variables, unless the option is there: KAFKA_LAG_BOOTSTRAP_SERVERS, _COMMAND_CONFIG, _CONFIG,
_STATE and _PROFILE; KAFKA_LAG_PASSWORD

\b
exit codes:
  0    done
  1    the cluster, the files or AWS could not be read; one sentence says what to do.
       doctor: there is a fault; alive: the member is stalled
  2    wrong usage, a file that is not there, a configuration with faults; one line says what
  3    show --fail-on: a group has that status, or breaks its SLA
  4    show --fail-on: no group matched, but some could not be read;
       doctor: no fault was found, but some checks could not be made;
       alive: nothing is known of that member
  130  interrupted
"""


class _Root(click.Group):
    """The subcommands, each in the module of its name."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)

    def list_commands(self, _: click.Context) -> list[str]:
        return list(_SUBCOMMANDS)

    def get_command(self, _: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _SUBCOMMANDS:
            return None
        command: click.Command = getattr(import_module(f"kafka_lag_cli.{cmd_name}"), cmd_name)
        add_variables(command, _PREFIX)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        named = args and not args[0].startswith("-") and not ctx.resilient_parsing
        if named and args[0] not in _SUBCOMMANDS:
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
        except BrokenPipeError:
            # Whoever read the output has seen enough; what is left of it goes nowhere.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        with ignore_closed_pipe():
            sys.stdout.flush()
        return code


@click.group(
    cls=_Root,
    epilog=_EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=False,
)
@click.version_option(package_name=_PACKAGE, prog_name=_PROGRAM)
def kafka_lag() -> None:
    """Show how far behind the consumer groups of a Kafka cluster are, in records and time."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the subcommand and returns its exit code; 2, and one line, for wrong usage."""
    for name, value in contract.THREAD_SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        code = kafka_lag.main(argv, _PROGRAM, standalone_mode=False)
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else _path(argv)
        click.echo(f"{path}: {_sentence(error)} (See {path} --help.)", err=True)
        return WRONG
    except click.ClickException as error:
        click.echo(f"{_PROGRAM}: {error.format_message()}", err=True)
        return error.exit_code
    except click.Abort:
        return INTERRUPTED
    return code or 0


def _path(argv: Sequence[str] | None) -> str:
    """The subcommand that was called, where an error does not know."""
    called = (sys.argv[1:] if argv is None else argv)[:1]
    return " ".join([_PROGRAM, *(word for word in called if word in _SUBCOMMANDS)])


def _sentence(error: click.UsageError) -> str:
    """On one line: values are repeated in it, and a line of theirs must not become another."""
    text = error.format_message()
    if isinstance(error, click.NoSuchOption):
        text = f"No such option {error.option_name}. {_advice(error)}"
    text = printable(" ".join(text.split()))
    text = text if text.endswith((".", "?", "!")) else f"{text}."
    is_extra = text.startswith("Got unexpected extra argument")
    return f"{text} A value follows the name of its option." if is_extra else text


def _advice(error: click.NoSuchOption) -> str:
    """Return advice about what was probably meant."""
    name = error.option_name
    if error.ctx is None or error.ctx.parent is None:
        return f"Name a subcommand first: {', '.join(_SUBCOMMANDS)}."
    if not name.startswith("--"):
        return "Options begin with two hyphens."
    if name in _INSTEAD:
        return _INSTEAD[name]
    known = [each for parameter in error.ctx.command.params for each in parameter.opts]
    longer = [each for each in known if each.startswith(name)]
    near = longer if len(longer) == 1 else difflib.get_close_matches(name, known, 1, _LIKE_ENOUGH)
    return f"Did you mean {near[0]}?" if near else ""


if __name__ == "__main__":
    raise SystemExit(main())
