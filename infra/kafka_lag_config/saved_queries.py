# SPDX-License-Identifier: Apache-2.0
"""The saved queries: files of SQL in Athena's dialect, and what their comments say. No CDK needed.

A file's first comment line after the licence is its title, those after it are the description. The
last says what `kafka-lag query` takes as parameters:

    -- kafka-lag query takes cluster, group (required), day (today), days (8).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_QUERIES = Path(__file__).with_name("queries")
_COMMENT = "--"
_TAKES = "kafka-lag query takes "
_PARAMETER = re.compile(r"(\w+)(?: \(([^)]+)\))?")


@dataclass(frozen=True, slots=True)
class Query:
    """A saved query by its file's name, `key`.

    `parameters` have their defaults in words; one without any is all there are.
    """

    key: str
    title: str
    description: str
    text: str
    parameters: Mapping[str, str | None]


def read_queries() -> Iterator[Query]:
    """The saved queries, as people find them in Athena, by file name."""
    for path in sorted(_QUERIES.glob("*.sql")):
        # The licence line says nothing to who reads it in Athena.
        _, _, text = path.read_text("utf-8").partition("\n")
        title, *more, takes = _comment_lines(text)
        taken = _PARAMETER.findall(takes.removeprefix(_TAKES))
        parameters = {name: default or None for name, default in taken}
        yield Query(path.stem, title, " ".join(more), text.strip(), parameters)


def _comment_lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if not line.startswith(_COMMENT):
            return
        yield line.removeprefix(_COMMENT).strip()
