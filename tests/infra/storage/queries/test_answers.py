# SPDX-License-Identifier: Apache-2.0
"""The answers of each saved query about mornings and reports that are fully known.

`tests/golden/saved-queries.txt` has the answers; `story.py` and `REPORTS` have the mornings and
reports.
"""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kafka_lag.contract import reports
from kafka_lag.contract.reports import REPORT_COLUMNS
from tests.golden import Golden
from tests.infra.storage.queries import story
from tests.infra.storage.queries.athena import TEXTS, Athena, Row
from tests.infra.storage.queries.reported import FRIDAY, SATURDAY, write_report
from tests.infra.storage.queries.story import MIDNIGHT, NOW, OTHER, SUNDAY

JUST_AFTER_MIDNIGHT = datetime(2026, 2, 1, 0, 1, tzinfo=UTC)
A_DAY_AGO = MIDNIGHT - 24 * 60 + 30
OF_NOW = ("group_wrong_now", "lag_by_broker", "lag_by_member")
OVER_REPORTS = {
    key for key, text in TEXTS.items() if any(f"FROM {name}\n" in text for name in REPORT_COLUMNS)
}
# So many rows of an answer are written: the first ones and the last.
MOST = 5
# Minutes between the runs of an incident that lasts for hours.
STEP = 60


def shown(rows: list[Row]) -> str:
    """The names of the columns, the first rows and the last one; a question mark is null."""
    if not rows:
        return "no row"
    lines = [" | ".join(map(cell, row.values())) for row in rows]
    left_out = len(lines) - MOST
    if left_out > 1:
        lines[MOST - 1 : -1] = [f"... {left_out} rows ..."]
    return "\n".join([" | ".join(rows[0]), *lines])


def cell(value: Any) -> str:
    if isinstance(value, datetime):
        return f"{value:%d %H:%M}"
    if isinstance(value, float):
        return f"{value:.3f}".rstrip("0").rstrip(".")
    return "?" if value is None else str(value)


def asked(about: str, athena: Athena, *keys: str, **narrowed: str) -> dict[str, str]:
    """The answer to each of these queries, by a title that says what it is about."""
    words = "".join(f" {name}={value}" for name, value in narrowed.items())
    return {f"{key}{words}: {about}": shown(athena.ask(key, **narrowed)) for key in keys}


def test_what_saved_queries_answer_of_two_mornings(
    athena: Athena, folder: Path, tmp_path: Path, golden: Golden
) -> None:
    # The folder has files of other dates that nobody can read.
    of_snapshots = [key for key in TEXTS if key not in OVER_REPORTS]
    mornings = "two mornings"
    cases = asked(mornings, athena, *of_snapshots)
    cases |= asked(mornings, athena, "lag_by_broker", group="slow")
    cases |= asked(mornings, athena, "coverage_by_day", "status_by_day", group="audit")
    cases |= asked(mornings, athena, "status_by_day", group="billing")
    cases |= asked(mornings, athena, "status_by_day", cluster=OTHER)

    def told(about: str, *keys: str) -> dict[str, str]:
        return asked(about, Athena(tmp_path / about, JUST_AFTER_MIDNIGHT), *keys)

    story.tell_one_trouble(tmp_path / "one trouble", MIDNIGHT - 1)
    cases |= told("one trouble", *OF_NOW)
    story.tell_a_long_loss(tmp_path / "a long loss", MIDNIGHT - 1)
    cases |= told("a long loss", "records_lost")
    story.tell_a_long_loss(tmp_path / "a loss in one run", MIDNIGHT - 1, runs=1)
    cases |= told("a loss in one run", "records_lost")
    story.tell_one_risk(tmp_path / "one risk", MIDNIGHT - 1)
    cases |= told("one risk", "group_wrong_now")
    story.tell_one_trouble(tmp_path / "a day ago", A_DAY_AGO)
    story.tell_one_run(tmp_path / "a day ago", MIDNIGHT - 1)
    cases |= told("a day ago", "lag_by_broker")
    story.tell_one_run(tmp_path / "watched since today", SUNDAY[0])
    since_today = Athena(tmp_path / "watched since today", NOW)
    cases |= asked("watched since today", since_today, "groups_new_and_gone")
    both = Path(shutil.copytree(folder, tmp_path / "both"))
    story.tell_one_trouble(both, SUNDAY[-1])
    cases |= asked("mornings and a trouble", Athena(both, NOW), "group_wrong_now")
    golden.holds_cases("saved-queries.txt", cases)


@pytest.mark.parametrize("minute", [MIDNIGHT - 61, A_DAY_AGO], ids=["an hour", "a day"])
def test_a_run_before_this_hour_and_the_last_does_not_pass_for_one_of_now(
    tmp_path: Path, minute: int
) -> None:
    story.tell_one_trouble(tmp_path, minute)
    athena = Athena(tmp_path, JUST_AFTER_MIDNIGHT)
    assert {key: athena.ask(key) for key in OF_NOW} == {key: [] for key in OF_NOW}


Days = dict[str, list[dict[str, Any]]]


def of_group(name: str | None, **more: Any) -> dict[str, Any]:
    return {"consumer_group": name, **more}


def with_sla(met: float, known: float, seconds: float = 330.0) -> dict[str, Any]:
    share = met / known if known else None
    minutes = {"sla_met_minutes": met, "sla_minutes": known, "sla_compliance": share}
    return of_group("billing", owner="payments", sla_seconds=seconds, **minutes)


def incident(group: str | None, level: str, **more: Any) -> dict[str, Any]:
    return of_group(group, level=level, **({"kind": "stalled", "text": ""} | more))


def objective(group: str, left: float, budget: float, broken: float) -> dict[str, Any]:
    minutes = {"budget_left_minutes": left, "budget_minutes": budget}
    return of_group(group, **minutes, broken_minutes=broken)


def retained(number: int, topic: str, needs: float, **more: Any) -> dict[str, Any]:
    key = {"topic": topic, "partition_id": number}
    return of_group("g", **key, retention_needed_seconds=needs, **more)


# A saved query, the report that it asks, and what that says of which days.
REPORTS: dict[str, tuple[str, str, Days]] = {
    "two weeks": (
        "sla_by_week",
        reports.LAG_SUMMARY,
        {
            SATURDAY: [with_sla(600, 1200), with_sla(1, 1) | {"topic": "t"}, of_group("other")],
            FRIDAY: [with_sla(1400, 1400)],
            "2026-01-20": [with_sla(5, 10)],
        },
    ),
    "nothing known of one": (
        "sla_by_week",
        reports.LAG_SUMMARY,
        {SATURDAY: [with_sla(0, 0)], FRIDAY: [with_sla(9, 10, seconds=60.0)]},
    ),
    "the newest and worst first": (
        "incidents_of_the_week",
        reports.INCIDENTS,
        {
            SATURDAY: [
                incident("warned", "warned"),
                incident("over", "serious", minutes=9.04),
                incident(None, "serious", kind="no_leader", minutes=60.0),
                incident("lost", "urgent", records_lost=5),
                incident("lost more", "urgent", records_lost=50),
            ],
            FRIDAY: [incident("before", "urgent")],
        },
    ),
    "the least budget first": (
        "objectives_now",
        reports.SLO,
        {
            FRIDAY: [objective("over", 90.0, 100.0, 1.0), objective("gone", 5.0, 100.0, 10.0)],
            SATURDAY: [
                objective("calm", 99.0, 100.0, 0.0),
                objective("over", -10.0, 100.0, 100.0),
                objective("half", 10.0, 20.0, 4.0),
            ],
        },
    ),
    "too short first": (
        "retention_enough",
        reports.RETENTION_RISK,
        {
            SATURDAY: [
                retained(0, "enough", 1800.0, retention_seconds=7200.0),
                retained(1, "short", 9000.0, retention_seconds=7200.0, records_lost=5),
                retained(2, "short", 8000.0, retention_seconds=7200.0, records_lost=50),
                retained(0, "endless", 99_999.0),
                retained(0, "read at once", 0.0, retention_seconds=7200.0),
            ],
            FRIDAY: [retained(0, "short", 3600.0, retention_seconds=7200.0, records_lost=54)],
        },
    ),
}


def test_what_saved_queries_answer_of_written_reports(tmp_path: Path, golden: Golden) -> None:
    cases: dict[str, str] = {}
    for about, (key, name, days) in REPORTS.items():
        for day, rows in days.items():
            write_report(tmp_path / about, name, rows, day=day)
        # Of another date: who opens it fails.
        story.lay_unreadable(tmp_path / about, [f"reports/{name}"])
        cases |= asked(about, Athena(tmp_path / about, NOW), key)
    golden.holds_cases("saved-queries-of-reports.txt", cases)
