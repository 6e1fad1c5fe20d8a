# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag report`: the daily report of a folder, by the deployment's job on this machine."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from kafka_lag_cli.help_sections import command, option
from kafka_lag_cli.needs import check_extra, check_java
from kafka_lag_cli.state.folder import find_state, open_folder
from kafka_lag_cli.terminal.text import printable, printable_line

# What each stage of the job does, for who waits; the others take no time.
_STAGES = {
    "history": "compacting the snapshots",
    "reduce": "reading the snapshots",
    "reports": "writing the tables",
    "pages": "drawing the page",
    "usual": "learning what is usual",
}
# What a JVM with Spark says whenever it starts.
_NOISE = re.compile(r"WARNING: Using incubator modules:")
_EXAMPLES = """\b
examples:
  kafka-lag report --state ./lag
  kafka-lag report --state ./lag --date 2026-01-25 --until 2026-01-31 --cluster orders
"""


@command("report", epilog=_EXAMPLES)
@option(
    "--state",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="folder of snapshots (your cache folder)",
)
@click.option("--date", "day", metavar="YYYY-MM-DD", help="UTC day (yesterday)")
@click.option("--until", metavar="YYYY-MM-DD", help="last UTC day, from --date on")
@click.option(
    "--cluster", "clusters", metavar="NAME", multiple=True, help="report this cluster of several"
)
@click.option("--no-history", is_flag=True, help="compact nothing into history/")
@click.pass_context
def report(
    context: click.Context,
    state: Path | None,
    day: str | None,
    until: str | None,
    clusters: Sequence[str],
    no_history: bool,
) -> None:
    """Make the daily report of a folder: tables, and a page for each cluster.

    A deployment's job does the same each night. Needs Java and Spark. `kafka-lag query` reads the
    tables.
    """
    check_extra("report", "report", "Spark", "pyspark")
    from kafka_lag_report.daily_report import main  # noqa: PLC0415 - needs the extra
    from kafka_lag_report.errors import UsageError  # noqa: PLC0415
    from kafka_lag_report.options import parse, utc_now  # noqa: PLC0415

    folder = _find_folder(state)
    arguments = [f"--input={folder}", f"--output={folder}"]
    arguments += [f"--date={day}"] if day is not None else []
    arguments += [f"--until={until}"] if until is not None else []
    arguments += [f"--cluster={name}" for name in clusters]
    arguments += ["--no-history"] if no_history else []
    try:
        parse(arguments, utc_now)
    except UsageError as error:
        raise click.UsageError(printable(str(error))) from error
    check_java("report", os.environ)
    click.echo("Starting Spark; a day takes a minute or more.", err=True)
    context.exit(_run_quietly(lambda session: main(arguments, begin=_say_stage, session=session)))


def _say_stage(stage: str, cluster: str | None) -> None:
    if stage in _STAGES:
        of = "" if cluster is None else f" of {printable(cluster)}"
        click.echo(f"{_STAGES[stage]}{of}", err=True)


def _find_folder(state: Path | None) -> Path:
    folder = find_state(state, os.environ)
    open_folder(folder)
    # through a link .. leads elsewhere than text says
    return folder.resolve() if ".." in folder.parts else folder.absolute()


def _run_quietly(job: Callable[[Callable[..., Any]], int]) -> int:
    """Runs the job with a session and returns its exit code.

    What Java says is shown only where the job fails, as it may be why.
    """
    from kafka_lag_report.session import open_session  # noqa: PLC0415 - needs the extra

    with tempfile.TemporaryFile() as said:

        def opened(*, few_rows: bool) -> Any:
            # The JVM keeps the stderr that it began with; the job itself has its own.
            with stderr_in(said.fileno()):
                return open_session(few_rows=few_rows)

        try:
            code = job(opened)
        except BaseException:
            _show(said.fileno())
            raise
        if code:
            _show(said.fileno())
        return code


@contextmanager
def stderr_in(file: int) -> Iterator[None]:
    """Gives this file as stderr to the programs that start in the context."""
    sys.stderr.flush()
    own = os.dup(2)
    try:
        os.dup2(file, 2)
        yield
    finally:
        os.dup2(own, 2)
        os.close(own)


def _show(file: int) -> None:
    with open(os.dup(file), "rb") as said:
        said.seek(0)
        for line in said.read().decode(errors="replace").splitlines():
            if not _NOISE.match(line):
                click.echo(printable_line(line), err=True)


if __name__ == "__main__":
    report()
