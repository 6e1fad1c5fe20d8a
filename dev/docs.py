# SPDX-License-Identifier: Apache-2.0
"""What code knows of the reference tables in docs/, written into them in place.

    python -m dev.docs

Tables of which code has no more than the names are by hand, and tests/test_docs.py holds their
names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kafka_lag_config import alarm_rules, schema

DOCS = Path(__file__).parents[1] / "docs"


@dataclass(frozen=True, slots=True)
class Part:
    """The first table behind a line of a file, or from there to the line `until`: its `lines`."""

    file: str
    behind: str
    lines: Iterable[str]
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
        lines[first:last] = self.lines
        return "\n".join(lines) + "\n"


def _parts() -> Iterator[Part]:
    for table in schema.TABLES:
        yield Part(table.file, table.behind, table.rows())
    alarms = [*alarm_rules.markdown().splitlines(), ""]
    yield Part("alarms.md", "## All alarms", alarms, until="#### job failure")


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
