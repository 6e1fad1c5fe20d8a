# SPDX-License-Identifier: Apache-2.0
"""The alarms as people read them."""

from __future__ import annotations

from pathlib import Path

from kafka_lag_cdk.alarm_rules import DROPPED, LOSS, RULES, SLA, markdown

MANUAL = Path(__file__).parents[3] / "docs" / "operations.md"


def test_a_row_says_all_that_decides() -> None:
    rows = markdown((LOSS, SLA, DROPPED)).splitlines()[2:5]
    assert rows == [
        "| data-loss | `TimeToDataLoss` | < 30 days (no risk) | 3 of 5 | missing |",
        "| sla | `EstimatedTimeLag` | > its `sla_seconds` "
        "| 3 of 5, or its `alarms.sla_runs` | missing |",
        "| collector-dropped | `AWS/Lambda AsyncEventsDropped` | >= 1 | 3 of 5 | notBreaching |",
    ]


def test_every_rule_has_its_row_and_its_heading() -> None:
    lines = markdown().splitlines()
    assert [line for line in lines if line.startswith("#### ")] == [
        f"#### {rule.name}" for rule in RULES
    ]
    assert sum(line.startswith("| ") for line in lines) == len(RULES) + 1


def test_the_manual_has_it_line_for_line() -> None:
    manual = MANUAL.read_text().splitlines()
    assert [line for line in markdown().splitlines() if line not in manual] == []


def test_it_ends_like_a_file() -> None:
    assert markdown().endswith(".\n")
