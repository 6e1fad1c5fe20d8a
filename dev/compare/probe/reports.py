# SPDX-License-Identifier: Apache-2.0
"""The daily report's command over what the commit's own collector left behind."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq

from dev.compare.orders import Orders
from dev.compare.probe import aws
from dev.compare.probe.layout import find
from dev.compare.steps import MESSAGES, REPORTS, Step


def reports(orders: Orders, folder: Path, sent: aws.Sent, topic: str) -> Iterator[Step]:
    """A table a report, cluster and day; the pages; and the summary that was sent."""
    first, last = orders.reported
    place = str(folder)
    words = ["--input", place, "--output", place, "--date", first, "--until", last]
    code = find("report")([*words, "--topic-arn", topic, "--summary", "always", "--show", "0"])
    yield Step("report: exit code", {REPORTS: str(code).encode()})
    # Each commit has a folder of its own, which is no difference.
    summary = sent.taken().replace(place.encode(), b"(state)")
    yield Step("report: summary", {f"{REPORTS}/{MESSAGES}": summary})
    for path in sorted({path.parent for path in (folder / "reports").rglob("*.parquet")}):
        # One file at a time: the folder's names are no columns.
        tables = [pq.ParquetFile(file).read() for file in sorted(path.glob("*.parquet"))]
        sink = io.BytesIO()
        with pq.ParquetWriter(sink, tables[0].schema) as writer:
            for table in tables:
                writer.write_table(table)
        name = path.relative_to(folder / "reports")
        yield Step(f"report: {name}", {f"{REPORTS}/{name.parts[0]}": sink.getvalue()})
    for page in sorted((folder / "reports").rglob("*.html")):
        text = page.read_bytes().replace(place.encode(), b"(state)")
        yield Step(f"report: {page.relative_to(folder)}", {f"{REPORTS}/page": text})
