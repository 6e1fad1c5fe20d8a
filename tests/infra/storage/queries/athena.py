# SPDX-License-Identifier: Apache-2.0
"""The answers of `kafka-lag query`, for tests of the saved queries."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from kafka_lag.snapshots.store import FolderStore
from kafka_lag_cli.query.engine import Engine
from kafka_lag_cli.query.parameters import as_of, bind
from kafka_lag_config.saved_queries import read_queries

__all__ = ["QUERIES", "TEXTS", "Athena", "Row"]

Row = dict[str, Any]

QUERIES = {query.key: query for query in read_queries()}
TEXTS = {key: query.text for key, query in QUERIES.items()}


class Athena:
    """Answers from the objects below a folder, as of `now` UTC.

    A file named `unreadable.parquet` holds no Parquet: whoever opens it fails.
    """

    def __init__(self, folder: Path, now: datetime) -> None:
        self._now = now
        self._engine = Engine(
            FolderStore(folder), lambda keys: [folder / key for key in keys], str(folder)
        )

    def ask(self, key: str, **parameters: str) -> list[Row]:
        """Rows of a saved query for values of its parameters."""
        assert set(parameters) <= set(QUERIES[key].parameters)
        return self._rows(bind(QUERIES[key], parameters, self._now))

    def rows(self, text: str) -> list[Row]:
        """Rows of a query in Athena's dialect."""
        return self._rows(as_of(text, self._now))

    def _rows(self, text: str) -> list[Row]:
        answer = self._engine.run(text)
        return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
