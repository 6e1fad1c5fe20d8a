# SPDX-License-Identifier: Apache-2.0
"""What code knows of the reference tables in docs/, written into them in place.

    python -m dev.docs

Cells that no code has are kept as they stand; those of a new row are empty until somebody writes
them. Tables of which code has no more than the names are by hand, and tests/test_docs.py holds
their names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from kafka_lag import contract
from kafka_lag.contract.reports import REPORT_COLUMNS
from kafka_lag.lag.steps import STEPS
from kafka_lag.wording.words import MEANINGS, WORDS
from kafka_lag_cli.command import kafka_lag
from kafka_lag_config import alarm_rules, schema
from kafka_lag_config.saved_queries import read_queries

DOCS = Path(__file__).parents[1] / "docs"
Cells = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """The first table behind a line of a file, or from there to the line `until`.

    `write` makes of its lines as they stand those that it should have.
    """

    file: str
    behind: str
    write: Callable[[Sequence[str]], Iterable[str]]
    until: str | None = None

    def written(self, text: str) -> str:
        """The file's text with this part as it should be."""
        lines = text.splitlines()
        begin = lines.index(self.behind)
        first = next(at for at in range(begin, len(lines)) if lines[at].startswith("|"))
        if self.until:
            last = lines.index(self.until, first)
        else:
            last = next(at for at in range(first, len(lines)) if not lines[at].startswith("|"))
        lines[first:last] = self.write(lines[first:last])
        return "\n".join(lines) + "\n"


def cells_of(row: str) -> list[str]:
    """The cells of a table's row."""
    return [cell.strip() for cell in row[1:-1].split("|")]


def _row(cells: Iterable[str]) -> str:
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


def _always(written: Iterable[str]) -> Callable[[Sequence[str]], Iterable[str]]:
    """What writes these lines, whatever stands there."""
    return lambda _: written


def _known_rows(rows: Sequence[Cells], lines: Sequence[str]) -> Iterator[str]:
    """A row for each of `rows`, by its first cell; None stays as it stands."""
    yield from lines[:2]
    there = {cells[0]: cells for cells in map(cells_of, lines[2:])}
    for row in rows:
        old = there.get(str(row[0]), [""] * len(row))
        yield _row(old[at] if cell is None else cell for at, cell in enumerate(row))


def _types(columns: Mapping[str, str], lines: Sequence[str]) -> Iterator[str]:
    """The rows with the types of the columns they name, where a type is said and known."""
    yield from lines[:2]
    for line in lines[2:]:
        names, said, *more = cells_of(line)
        types = [columns.get(name, "").replace("list<", "list of ") for name in names.split(", ")]
        types = [each.rstrip(">") for each in types]
        if said and all(types):
            said = types[0] if len({*types}) == 1 else ", ".join(types)
        yield _row([names, said, *more])


def _queries() -> Iterator[Cells]:
    for query in sorted(read_queries(), key=lambda query: query.title):
        takes = (
            f"{name} ({default})" if default else name for name, default in query.parameters.items()
        )
        yield query.title, None, f"`{query.key}`: {', '.join(takes)}"


def _steps() -> Iterator[str]:
    yield from ("| step | table | needs | adds |", "|---|---|---|---|")
    for step in STEPS:
        adds = ", ".join(f"`{name}`" for name in step.adds.split())
        yield _row([step.name, step.of, ", ".join(step.needs.split()), adds])


def _options() -> Iterator[str]:
    """A row for each option, by the commands that have it."""
    found: dict[tuple[str, str], list[str]] = {}
    root = click.Context(kafka_lag)
    for name in kafka_lag.list_commands(root):
        command = kafka_lag.get_command(root, name)
        for parameter in command.params if command else ():
            if isinstance(parameter, click.Option) and (record := parameter.get_help_record(root)):
                found.setdefault(record, []).append(name)
    yield from ("| option | meaning | commands |", "|---|---|---|")
    for (names, text), commands in sorted(found.items(), key=lambda each: each[0][0].lstrip("-")):
        yield _row([f"`{names}`", text.replace("|", "\\|"), ", ".join(commands)])


def _parts() -> Iterator[Part]:
    yield Part("command-line.md", "## All options", _always(_options()))
    yield Part("architecture.md", "## The steps of an evaluation", _always(_steps()))
    for table in schema.TABLES:
        yield Part(table.file, table.behind, _always(table.rows()))
    alarms = _always([*alarm_rules.markdown().splitlines(), ""])
    yield Part("alarms.md", "## All alarms", alarms, until="#### job failure")
    yield Part("report.md", "## Queries", partial(_known_rows, [*_queries()]))
    words: list[Cells] = [(name, WORDS[name], None) for name in MEANINGS]
    yield Part("metrics.md", "### In words", partial(_known_rows, words))
    for dataset, columns in contract.COLUMNS.items():
        yield Part("snapshots.md", f"## {dataset}", partial(_types, dict(columns)))
    for report, names in REPORT_COLUMNS.items():
        yield Part("snapshots.md", f"### {report}", partial(_types, dict(names)))


def texts() -> dict[str, str]:
    """Each file that code writes into, by its name in docs/, as it should be."""
    of_editors = json.dumps(schema.deployment_schema(), indent=2, ensure_ascii=False)
    found = {schema.FILE: f"{of_editors}\n"}
    for part in _parts():
        text = found.get(part.file) or (DOCS / part.file).read_text(encoding="utf-8")
        found[part.file] = part.written(text)
    return found


if __name__ == "__main__":
    for name, text in texts().items():
        (DOCS / name).write_text(text, encoding="utf-8")
