# SPDX-License-Identifier: Apache-2.0
"""The alarms as the documentation shows them: a table, and what to do under a heading each."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_lag import contract
from kafka_lag_cdk.alarms.rules import ANOMALY, RULES, SLA, Rule

_DAYS = {contract.NO_LOSS_SECONDS: "30 days (no risk)"}
_OWN = {SLA.name: "its `sla_seconds`", ANOMALY.name: "the band CloudWatch has learnt"}


def markdown(rules: tuple[Rule, ...] = RULES) -> str:
    """A table of all rules and a section on each; the same for the same rules."""
    return "\n".join([*_table(rules), "", *_sections(rules)]).rstrip() + "\n"


def _table(rules: tuple[Rule, ...]) -> Iterator[str]:
    yield "| alarm | metric | when Maximum is | runs | missing data |"
    yield "|---|---|---|---|---|"
    for rule in rules:
        metric = f"`{rule.namespace} {rule.metric}`" if rule.namespace else f"`{rule.metric}`"
        runs = f"{rule.datapoints} of {rule.periods}"
        yield f"| {rule.name} | {metric} | {_when(rule)} | {runs} | {rule.missing.value} |"


def _when(rule: Rule) -> str:
    if rule.threshold is None:
        return f"{rule.operator.value} {_OWN[rule.name]}"
    return f"{rule.operator.value} {_DAYS.get(int(rule.threshold), f'{rule.threshold:g}')}"


def _sections(rules: tuple[Rule, ...]) -> Iterator[str]:
    for rule in rules:
        yield f"#### {rule.name}"
        yield ""
        yield f"{rule.meaning} {rule.to_do}"
        yield ""
