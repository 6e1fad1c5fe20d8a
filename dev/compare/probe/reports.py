# SPDX-License-Identifier: Apache-2.0
"""The daily report's command over what the commit's own collector left behind."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dev.compare.orders import Orders
from dev.compare.probe import aws
from dev.compare.probe.layout import find
from dev.compare.steps import HISTORY, MESSAGES, REPORTS, Step


def reports(orders: Orders, folder: Path, sent: aws.Sent, topic: str) -> Iterator[Step]:
    """The command's code, the summary that was sent, and a step a day with all that is of it."""
    first, last = orders.reported
    place = str(folder)
    words = ["--input", place, "--output", place, "--date", first, "--until", last]
    code = find("report")([*words, "--topic-arn", topic, "--summary", "always", "--show", "0"])
    yield Step("report: exit code", {REPORTS: str(code).encode()})
    # Each commit has a folder of its own, which is no difference.
    summary = sent.taken().replace(place.encode(), b"(state)")
    yield Step("report: summary", {f"{REPORTS}/{MESSAGES}": summary})
    yield from written(folder, orders.reported)


def written(folder: Path, days: Sequence[str]) -> Iterator[Step]:
    """What a report left below `folder`: a step a day, and one for what is of no such day.

    Parts are tables, pages and the history, by name and cluster: which there are is the commit's.
    """
    parts: dict[str, dict[str, bytes]] = {day: {} for day in (*days, "")}
    for root, prefix in ((folder / "reports", ""), (folder / "history", HISTORY)):
        for path in sorted({path.parent for path in root.rglob("*") if path.is_file()}):
            name = f"{REPORTS}/{prefix}{path.relative_to(root)}"
            day = next((day for day in days if f"dt={day}" in path.parts), "")
            parts[day] |= _parts(name, path, str(folder))
    for day, found in parts.items():
        yield Step(f"report: {day or 'no day of it'}", found)


def _parts(name: str, folder: Path, state: str) -> dict[str, bytes]:
    """The table that lies in a folder, and whatever else does, each file by its name."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    # Spark's marks and checksums say nothing of the rows.
    files = [path for path in files if not path.name.startswith((".", "_"))]
    found = {
        f"{name}/{path.name}": path.read_bytes().replace(state.encode(), b"(state)")
        for path in files
        if path.suffix != ".parquet"
    }
    # One file at a time: the folder's names are no columns.
    tables = [pq.ParquetFile(path).read() for path in files if path.suffix == ".parquet"]
    if tables:
        sink = io.BytesIO()
        pq.write_table(pa.concat_tables(tables, promote_options="permissive"), sink)
        found[name] = sink.getvalue()
    return found
