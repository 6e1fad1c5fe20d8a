# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag query`: the saved queries of Athena on a folder or a bucket, run by DuckDB."""

from __future__ import annotations

import difflib
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem
from rich.console import Console

from kafka_lag.errors import ConfigError
from kafka_lag.snapshots.store import BrowsableStore
from kafka_lag.wording.formatting import format_list, format_quantity
from kafka_lag_cli.help_sections import command
from kafka_lag_cli.needs import check_extra
from kafka_lag_cli.query.parameters import bind
from kafka_lag_cli.state.folder import open_folder
from kafka_lag_cli.state.place import SnapshotPlace, place_options
from kafka_lag_cli.terminal.progress import count_objects
from kafka_lag_cli.terminal.records import TABLE, output_option, write_records
from kafka_lag_cli.terminal.text import escape_markup, open_screen, printable
from kafka_lag_config.saved_queries import Query, read_queries

if TYPE_CHECKING:
    from kafka_lag_cli.query.engine import Answer

# Objects that are fetched from a bucket at the same time.
_AT_ONCE = 16
_EXAMPLES = """\b
examples:
  kafka-lag query --list
  kafka-lag query group_wrong_now -p group=billing --state ./lag
  kafka-lag query status_by_day -p day=2026-01-31 -p days=3 --output csv
  kafka-lag query records_lost --state s3://kafka-lag-data
"""


def _complete_name(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
    return [
        CompletionItem(query.key, help=query.title)
        for query in read_queries()
        if query.key.startswith(begun)
    ]


@command("query", epilog=_EXAMPLES)
@click.argument("name", required=False, shell_complete=_complete_name)
@place_options
@click.option(
    "--parameter",
    "-p",
    "parameters",
    metavar="KEY=VALUE",
    multiple=True,
    help="set a parameter of the query; --list names them",
)
@click.option("--history", is_flag=True, help="read days whose snapshots are gone")
@output_option
@click.option("--list", "listing", is_flag=True, help="list the saved queries")
def query(
    name: str | None,
    place: SnapshotPlace,
    parameters: Sequence[str],
    history: bool,
    output: str,
    listing: bool,
) -> None:
    """Run a saved query, NAME, on snapshots and daily reports.

    A deployment has the same queries in Athena. Of a bucket only the days are fetched that the
    query is about.
    """
    if listing:
        _print_list(output)
        return
    if name is None:
        raise click.UsageError("Name a query: --list has them.")
    check_extra("query", "sql", "DuckDB", "duckdb", "sqlglot")
    saved = _find_query(name)
    values = _values(saved, parameters)
    answer = _run(bind(saved, values, datetime.now(UTC), history=history), place)
    if answer.unread and "at" in saved.parameters:
        raise ConfigError(_nothing_of(answer.table, answer.unread))
    _print(answer, output)


def _find_query(name: str) -> Query:
    queries = {each.key: each for each in read_queries()}
    key = name.replace("-", "_")
    if key not in queries:
        text = f"There is no query {printable(name)}{_nearest(key, queries)}"
        raise click.UsageError(f"{text} kafka-lag query --list has all.")
    return queries[key]


def _values(saved: Query, parameters: Sequence[str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for text in parameters:
        name, given, value = text.partition("=")
        if not given or not value:
            raise click.UsageError(f"-p {printable(text)} must be KEY=VALUE, as -p group=billing.")
        if name not in saved.parameters:
            takes = format_list(list(saved.parameters), len(saved.parameters))
            nearest = _nearest(name, saved.parameters)
            raise click.UsageError(
                f"{saved.key} has no parameter {printable(name)}{nearest} It takes {takes}."
            )
        if name in values:
            raise click.UsageError(f"-p {name} is there twice.")
        values[name] = value
    return values


def _nearest(name: str, names: Iterable[str]) -> str:
    found = difflib.get_close_matches(name, names, 1)
    return f"; {found[0]}?" if found else "."


def _run(text: str, place: SnapshotPlace) -> Answer:
    from kafka_lag_cli.query.engine import Engine  # noqa: PLC0415 - needs the extra

    try:
        if place.bucket is None:
            folder = place.folder()
            engine = Engine(
                open_folder(folder), lambda keys: [folder / key for key in keys], place.describe()
            )
            return engine.run(text)
        with tempfile.TemporaryDirectory(prefix="kafka-lag-") as fetched:
            store = place.open_bucket(_AT_ONCE)
            engine = Engine(store, _fetcher(store, Path(fetched)), place.describe())
            return engine.run(text)
    except OSError as error:
        raise ConfigError(f"{error.filename} cannot be used ({error.strerror}).") from error


def _fetcher(store: BrowsableStore, folder: Path) -> Callable[[Sequence[str]], list[Path]]:
    """Objects as files below a folder, in the order of their keys."""

    def fetch(key: str) -> Path:
        path = folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(store.read(key))
        return path

    def fetch_all(keys: Sequence[str]) -> list[Path]:
        with count_objects() as progress, ThreadPoolExecutor(_AT_ONCE) as pool:
            advance = progress(len(keys))
            paths = []
            try:
                for path in pool.map(fetch, keys):
                    paths.append(path)
                    advance(1)
            finally:
                pool.shutdown(cancel_futures=True)
            return paths

    return fetch_all


def _nothing_of(table: str, days: Sequence[str]) -> str:
    there = f"{days[0]} to {days[1]}" if days[0] != days[1] else days[0]
    return f"{table} has nothing of the time asked for; it has {there}."


def _hint(text: str) -> None:
    Console(stderr=True).print(f"[yellow]{escape_markup(text)}[/]", soft_wrap=True)


def _print(answer: Answer, output: str) -> None:
    from kafka_lag_cli.query.output import print_table, records  # noqa: PLC0415

    if answer.unread:
        _hint(_nothing_of(answer.table, answer.unread))
    if output == TABLE:
        print_table(answer, open_screen())
        return
    write_records(records(answer), output, sys.stdout, names=answer.columns)


def _print_list(output: str) -> None:
    queries = list(read_queries())
    if output == TABLE:
        for each in queries:
            click.echo(f"{each.key}\n    {each.title}\n    {_parameters_text(each)}")
        click.echo(format_quantity(len(queries), "query", "queries"))
        return
    listed = [
        {
            "name": each.key,
            "title": each.title,
            "description": each.description,
            "parameters": dict(each.parameters),
        }
        for each in queries
    ]
    write_records(listed, output, sys.stdout)


def _parameters_text(saved: Query) -> str:
    return ", ".join(
        f"{name} ({default})" if default else name for name, default in saved.parameters.items()
    )


if __name__ == "__main__":
    query()
