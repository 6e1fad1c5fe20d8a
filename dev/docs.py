# SPDX-License-Identifier: Apache-2.0
"""Writes the reference tables in docs/ from the code, in place.

    python -m dev.docs

Tables are written by hand if code knows only their names; tests/test_docs.py checks these names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dev import schema
from kafka_lag import contract
from kafka_lag_config import alarm_rules

DOCS = Path(__file__).parents[1] / "docs"

# Words of the table of alarms.
_DAYS = {contract.NO_LOSS_SECONDS: "30 days (no risk)"}
_OWN = {
    alarm_rules.SLA.name: "its `sla_seconds`",
    alarm_rules.OFFSET_LAG.name: "its `alarms.offset_lag`",
    alarm_rules.SLO_FAST.name: "the age of its [`slo`](configuration.md#slo)",
    alarm_rules.SLO_SLOW.name: "the age of its [`slo`](configuration.md#slo)",
    alarm_rules.ANOMALY.name: "the band CloudWatch has learnt",
}
_BY_TARGET = (alarm_rules.SLO_FAST, alarm_rules.SLO_SLOW)
_UNITS = {None: "", 1: " minutes", 15: " (15 minutes)", 60: " hours"}


@dataclass(frozen=True, slots=True)
class Part:
    """The first table behind a line of a file, or from there to the line `until`: its `lines`."""

    file: str
    behind: str
    lines: Iterable[str]
    until: str | None = None

    def written(self, text: str) -> str:
        """Returns the file's text with this part replaced."""
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
    alarms = _list_alarms((*alarm_rules.RULES, *alarm_rules.OF_MESSAGES))
    yield Part("alarms.md", "## All alarms", alarms, until="#### job failure")


def _list_alarms(rules: tuple[alarm_rules.Rule, ...]) -> list[str]:
    """Returns the alarms as the manual shows them: a table, and a heading each with what to do."""
    return [*_alarm_table(rules), "", *_alarm_sections(rules)]


def _alarm_table(rules: tuple[alarm_rules.Rule, ...]) -> Iterator[str]:
    yield "| alarm | severity | metric | fires when it is | in runs | missing data |"
    yield "|---|---|---|---|---|---|"
    for rule in rules:
        metric = f"`{rule.namespace} {rule.metric}`" if rule.namespace else f"`{rule.metric}`"
        runs = f"{rule.datapoints} of {rule.periods}{_UNITS[rule.minutes]}"
        if rule is alarm_rules.SLA:
            runs += ", or its `alarms.sla_runs`"
        if rule in _BY_TARGET:
            runs = f"N of {rule.periods}: N by the SLO's target, at least {rule.datapoints}"
        heard = f"| {rule.name} | {rule.severity} | {metric} |"
        yield f"{heard} {_when(rule)} | {runs} | {rule.missing.value} |"


def _when(rule: alarm_rules.Rule) -> str:
    if rule.threshold is None:
        return f"{rule.operator.sign} {_OWN[rule.name]}"
    return f"{rule.operator.sign} {_DAYS.get(int(rule.threshold), f'{rule.threshold:g}')}"


def _alarm_sections(rules: tuple[alarm_rules.Rule, ...]) -> Iterator[str]:
    for rule in rules:
        yield f"#### {rule.name}"
        yield ""
        yield f"{rule.meaning} {rule.to_do}"
        yield ""


def texts() -> dict[str, str]:
    """Returns the right text of each file with generated tables, by its name in docs/."""
    of_editors = json.dumps(schema.deployment_schema(), indent=2, ensure_ascii=False)
    found = {schema.FILE: f"{of_editors}\n"}
    for part in _parts():
        text = found.get(part.file) or (DOCS / part.file).read_text(encoding="utf-8")
        found[part.file] = part.written(text)
    return found


if __name__ == "__main__":
    for name, text in texts().items():
        (DOCS / name).write_text(text, encoding="utf-8")
