# SPDX-License-Identifier: Apache-2.0
"""Incidents of a day from its snapshots: one line for all troubles of a group at one time.

Each strip is a group or topic of one day, named by its event. The golden file has the report's line
for each: level, kind, times, minutes and the sentence, with the group's name as `g`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from kafka_lag.contract import (
    BEYOND_END,
    FALLING_BEHIND,
    NO_MEMBER,
    READ_OR_SKIPPED,
    REWOUND,
    SET_AHEAD,
    SLOW,
    STALLED,
    STOPPED,
)
from kafka_lag_report.daily_report import main
from kafka_lag_report.incident import from_table, to_table
from tests.glue_jobs.days import Row, report_rows
from tests.glue_jobs.strips import (
    EVERY,
    MIDNIGHT,
    Part,
    absent,
    at,
    gone,
    held,
    late,
    part,
    published,
    trouble,
    unread,
    worst,
    write_strips,
)
from tests.golden import Golden

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

DAY = range(0, 1440, EVERY)
# A collector that began at 03:00, saw nothing from 10:00 to 12:00 and died at 20:00.
HOLES = [n for n in range(0, 1440, 10) if 180 <= n < 600 or 720 <= n < 1200]
# One whose first run was five minutes late, in a day of which there are two hours.
EARLY = range(5, 125, EVERY)
AGED: dict[str, Any] = {"time_lag_error_seconds": 0.0}
SLA = Part("0-24", {"time_lag_seconds": 1.0, "sla_seconds": 60.0, **AGED})
NO_LEADER: Row = {
    "topic": "t",
    "partition": 1,
    "last_read_at": int(at("9:59").timestamp() * 1_000),
    "partitions_without_leader": 1,
    "partitions": 6,
}
RACE: Row = {"topic": "t", "partition": 0, "records_lost": 54}
AT_RISK: dict[str, Any] = {"incident_at_risk_since": at("8")}
BROKEN: dict[str, Any] = {"incident_sla_broken_since": at("9")}
OVER = {"incident_until": at("-0:05")}


def named(cause: str = "slow_member", **more: Any) -> Row:
    """The collector named a cause."""
    evidence = {"member": "m-1", "host": "/h", "consume_rate": 2.0, "produce_rate": 9.0, **more}
    return {
        "cause": cause,
        "cause_since": at("7:30"),
        "cause_evidence": json.dumps(evidence),
        "incident_cause": cause,
    }


def skips(clock: str, count: int, reason: str = SET_AHEAD) -> Row:
    """The run of this time sees that so many records were passed over."""
    return {"records_skipped": count, "skipped_at": at(clock), "skip_reason": reason}


def near(seconds: float) -> Row:
    """Unread records will be deleted in so many seconds."""
    return {"seconds_until_loss": seconds}


GROUPS: dict[str, Sequence[Part]] = {
    "well all day": [part("0-24"), Part("9-10", {"members": 0})],
    # when it began and ended, and what it was at its worst
    "no members": trouble(STOPPED, "9", "11:10", members=0, lag=4_000),
    "members that own nothing": trouble(STOPPED, "9", "11:10"),
    "one consumer stalls": trouble(STALLED, "9", "11:10"),
    "a backlog that takes hours": [
        published("9", "14:10", STALLED),
        worst("9-11", STALLED, lag=700_000),
        worst("11-14:10", FALLING_BEHIND, lag=732_509),
    ],
    "still stalled": trouble(STALLED, "22"),
    "stalls twice in a slow day": [
        *trouble(FALLING_BEHIND, "10"),
        *(worst(span, STALLED) for span in ("11-11:25", "22-23")),
        Part("11-24", {"incident_worst_status": STALLED, "incident_worst_status_since": at("11")}),
    ],
    "beyond the end": trouble(BEYOND_END, "6", "7"),
    "set back": [
        *trouble(REWOUND, "17:55", "18:30", records_rewound=5_000),
        Part("0-24", {"incident_worst_status_since": at("18")}),
    ],
    "set back, and not read again": trouble(REWOUND, "18", records_rewound=5_000),
    "since the day before": trouble(FALLING_BEHIND, "0", "1", incident_from=at("-2")),
    "over on the day before": [published("-2", "0"), Part("0-0:10", OVER)],
    "over in the day's first run": [published("-2", "0", FALLING_BEHIND)],
    "it began sooner than was published": [
        *trouble(FALLING_BEHIND, "6", "9"),
        Part("7-24", {"incident_from": at("5")}),
    ],
    "two incidents": [*trouble(STALLED, "2", "3"), *trouble(STALLED, "8", "9")],
    "an hour in WARN": trouble(FALLING_BEHIND, "6", "7"),
    "less than an hour in WARN": trouble(FALLING_BEHIND, "6", "6:55"),
    "too slow": trouble(SLOW, "6", "9"),
    "no member in WARN": trouble(NO_MEMBER, "6", "9", members=0),
    # the most of the day
    "an age for sure": trouble(FALLING_BEHIND, "9", "11", time_lag_seconds=5_400.0, **AGED),
    "an age at least": [
        *trouble(FALLING_BEHIND, "9", "11", time_lag_seconds=5_459.0),
        Part("10-11", {"time_lag_seconds": 90.0, **AGED}),
    ],
    "the most before it was published": trouble(
        FALLING_BEHIND, "9", "10", incident_peak_lag=900, incident_peak_lag_at=at("9")
    ),
    "the most on the day before": trouble(
        FALLING_BEHIND, "0", "1", incident_peak_lag=900, incident_peak_lag_at=at("-1")
    ),
    # causes
    "a cause that lasts": trouble(FALLING_BEHIND, "8", **named()),
    "a cause that is over": [
        *trouble(FALLING_BEHIND, "8", "10", **named()),
        Part("9-10", {"cause": "unexplained"}),
    ],
    "another cause later": [
        *trouble(FALLING_BEHIND, "8", "10", **named("too_few_members")),
        Part("9-10", named()),
        Part("9-24", {"incident_cause": "slow_member"}),
    ],
    "a cause of the day before": trouble(STALLED, "0", "3", incident_cause="stuck_record"),
    "a stall with a cause": trouble(STALLED, "8", "10", **named(topic="t", partition=7)),
    "a stop with its cause": trouble(STOPPED, "8", "10", members=0, **named("stopped")),
    "a leader that is back": [
        published("9:55", None, STALLED, incident_cause="unavailable"),
        worst("10-11", STALLED, **named("unavailable", **NO_LEADER)),
        worst("11-24", FALLING_BEHIND),
    ],
    "a cause of a later version": trouble(FALLING_BEHIND, "8", "10", **named("meteor")),
    # losses and skips
    "lost while it stood": [
        *trouble(STALLED, "8", "9", incident_lost=5_159, **named("retention_race", **RACE)),
        part("8-9", topic="short", records_lost=5_159, retention_risk="LOST"),
        part("0-24", topic="short"),
    ],
    "lost for a run": [
        Part("12-12:05", {"records_lost": 9}),
        part("12-12:05", records_lost=9, retention_risk="LOST"),
    ],
    "lost before it was published": [
        Part("12-13", {"records_lost": 9}),
        published("12", "13", incident_lost=9),
    ],
    "skipped after a stall": [
        *trouble(STALLED, "9", "11:10", incident_skipped=70_000),
        Part("11-11:10", skips("11", 70_000)),
    ],
    "read or skipped after a stall": [
        *trouble(STALLED, "9", "11:10"),
        Part("11-11:10", skips("11", 962, READ_OR_SKIPPED)),
    ],
    "set ahead": [Part("11-11:10", skips("11", 70_000))],
    "skipped over a truncated log": [Part("11-11:10", skips("11", 50, "truncated"))],
    "read or skipped": [Part("11-11:10", skips("11", 962, READ_OR_SKIPPED))],
    "a skip that is an incident": [
        Part("11-11:10", skips("11", 70_000)),
        published("11", "11:30", incident_skipped=70_000),
    ],
    # near to a loss
    "a risk amid a stall": trouble(STALLED, "8", "18", **AT_RISK, **near(7_199.0)),
    "a risk that stands": trouble(STALLED, "17", **AT_RISK, **near(17_999.0)),
    "ten minutes from deletion": [published("8", "10", **AT_RISK), Part("8-10", near(600.0))],
    "less than ten minutes from it": [published("8", "10", **AT_RISK), Part("8-10", near(599.0))],
    "a risk, and deleted": [
        *(published("8", **AT_RISK), Part("8-10", near(3_600.0))),
        *(gone("10"), absent("10:05-24")),
    ],
    # the SLA
    "only the SLA": [late("9-10"), published("8:55", "10", **BROKEN)],
    "the SLA of an incident": [SLA, late("9-10:05"), *trouble(STALLED, "9", "10:10")],
    "the SLA behind a transaction": [
        *(late("9-10"), held("9:10-10", since="8:30", partition=9)),
        published("9", "10", incident_cause="open_transaction", **BROKEN),
    ],
    # unread
    "denied to the end": [unread("22-24")],
    "denied all day": [unread("0-24")],
    "unread for five minutes": [unread("5-5:05")],
    "unread for ten": [unread("5-5:10", "no_coordinator")],
    "unread amid a stall": [*trouble(STALLED, "9", "12"), unread("10-11")],
    "denied after a stall": [*trouble(STALLED, "8"), unread("10-24")],
    "stalled on the day before, and denied": [
        *(published("-2", None, STALLED), unread("0-24"), Part("0-24", {"read_at": at("-1")})),
    ],
    # rebalances
    "rebalances": [Part("10-12", {"rebalances": 1})],
    "owners that change in every second run": [
        Part(f"{n // 60}:{n % 60}-{n // 60}:{n % 60 + 5}", {"owners_changed": 2})
        for n in range(600, 720, 10)
    ],
    "five rebalances in an hour": [Part("10-10:25", {"rebalances": 1})],
    "six rebalances in an hour": [Part("10-10:30", {"rebalances": 1})],
    "a short stop amid rebalances": [
        Part("10-12:30", {"rebalances": 2}),
        *trouble(STOPPED, "10:10", "10:45"),
    ],
    "a long stop amid rebalances": [
        Part("10-12:30", {"rebalances": 2}),
        *trouble(STOPPED, "10:10", "11:45"),
    ],
    # deleted
    "gone": [gone("15"), absent("15:05-24")],
    "gone, with records unread": [
        *(Part("9-12", {"members": 0, "lag": 40}), gone("12"), absent("12:05-24")),
    ],
    "gone, and back at once": [gone("15")],
    "gone in trouble": [*trouble(FALLING_BEHIND, "13"), gone("15"), absent("15:05-24")],
    "gone after trouble that was over": [
        *(*trouble(FALLING_BEHIND, "13", "14:55"), gone("15:05"), absent("15:10-24")),
    ],
    "gone, and in trouble when it is back": [
        *(gone("10"), absent("10:05-20"), *trouble(STALLED, "20")),
    ],
    "gone twice": [gone("10"), absent("10:05-12"), gone("14"), absent("14:05-24")],
    # transactions
    "open for less than a quarter of an hour": [held("7-7:15", since="7", partition=1)],
    "open for a quarter of an hour": [held("7-7:20", since="7", partition=2)],
    "the first reader": [held("9:10-10", since="8:50")],
    "the second reader": [held("9:10-9:55", since="8:50", records=9)],
    "a later transaction": [held("11-12", since="10:45")],
    "one that is still open": [held("22-24", since="21", partition=4)],
    "one that is all that is wrong with a group": [
        held("7:30-8:30", since="7:30", partition=5),
        published("7:30", "8:30", incident_cause="open_transaction"),
    ],
}
HIDDEN: dict[str, Any] = {"unread_reason": "denied"}
TOPICS: dict[str, Sequence[Part]] = {
    "t": [part("0-24", n) for n in range(6)],
    "short": [part("0-24", retention_ms=7_200_000)],
    "kept": [part("0-24", retention_ms=-1)],
    "a topic": [part("10-11", n, **HIDDEN) for n in range(3)],
    "a partition": [part("0-24", 0), part("10-11", 1, **HIDDEN)],
    "two partitions and a longer one": [
        part("10-11", 0, **HIDDEN),
        part("10-14", 1, **HIDDEN),
        part("10-11", 2, **HIDDEN),
        part("0-24", 3),
    ],
    "two reasons in turn": [
        *(part("10-10:10", n, unread_reason="error") for n in range(2)),
        *(part("10:10-10:25", n, unread_reason="timeout") for n in range(2)),
    ],
    "unread for one run": [part("10-10:05", 0, **HIDDEN), part("0-24", 1)],
    "commits": [part("0-24", n) for n in range(3)],
    # leaders: each topic has brokers of its own
    "led by another for a time": [
        part(span, n, leader=leader)
        for n in range(3)
        for span, leader in (("0-10", 11), ("10-13", 13), ("13-24", 11))
    ],
    "led by another for good": [part("0-16", leader=22), part("16-24", leader=23)],
    "led back one by one": [
        part(span, n, leader=leader)
        for n, end in enumerate(("11", "13", "24"))
        for span, leader in (("0-24", 31), (f"10-{end}", 33))
    ],
    "a rolling restart": [
        *(part("0-24", leader=41), part("8-8:10", leader=42), part("8:10-8:25", leader=43)),
    ],
    "moved twice": [*(part("0-24", leader=51), part("8-9", leader=52), part("18-19", leader=52))],
    "a leader that is not known meanwhile": [
        *(part("0-24", leader=61), part("8-12", leader=62), part("9-10", leader=None)),
    ],
    "recreated after a move": [
        *(part("0-24", leader=71), part("8-9", leader=72)),
        part("9-24", leader=73, topic_id="new"),
    ],
    "without a leader": [
        *(part("0-24", n, leader=82) for n in (1, 4)),
        *(part("10-10:20", n, leader=None, unread_reason="no_leader") for n in (1, 4)),
    ],
}
# Groups whose commits of a topic were not read.
READERS: dict[str, Sequence[Part]] = {
    "reader of a topic": [part("0-24", topic="a topic"), part("10-11", **HIDDEN)],
    "reader of a partition": [part("0-24", 1, topic="a partition"), part("10-11", 1, **HIDDEN)],
    "reader of no commits": [
        *(part("0-24", n, topic="commits") for n in range(3)),
        *(part("10-11", n, **HIDDEN) for n in range(3)),
        part("15-16", 0, **HIDDEN),
    ],
}
BLIND: dict[str, Sequence[Part]] = {
    "behind before the collector": trouble(FALLING_BEHIND, "3", "5"),
    "lost in the first run": [Part("3-3:05", {"records_lost": 3}), part("3-3:05", records_lost=3)],
    "unread in the first run": [unread("3-5")],
    "a stall that lasts through the gap": trouble(STALLED, "9", "13"),
    "over while nobody looked": trouble(STALLED, "9", "12"),
    "a stall in the last run": trouble(STALLED, "18:50"),
    "lost in the last run before the gap": [
        *(Part("9:50-10", {"records_lost": 9}), part("9:50-10", records_lost=9)),
    ],
    "read again before anything was deleted": [
        *(published("8", "12", **AT_RISK), Part("8-10", near(7_800.0))),
    ],
    "read again too late to know it": [
        *(published("8", "12", **AT_RISK), Part("8-10", near(7_799.0))),
    ],
    "an SLA that nobody saw kept": [late("9:30-10"), published("9:25", "12", **BROKEN)],
}


@dataclass(frozen=True, slots=True)
class Reported:
    """What the job wrote."""

    root: Path

    def rows(self, cluster: str = "strips") -> list[Row]:
        """Incidents in the order of the table, times as minutes of the day."""
        return report_rows(self.root, "incidents", cluster)

    def of(self, group: str, cluster: str = "strips") -> Row:
        """The group's only incident."""
        (row,) = [row for row in self.rows(cluster) if row["consumer_group"] == group]
        return row


@pytest.fixture(name="reported", scope="module")
def _reported(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Reported:
    assert spark
    root = tmp_path_factory.mktemp("strips")
    write_strips(root, "strips", DAY, {**GROUPS, **READERS}, TOPICS)
    write_strips(root, "holes", HOLES, BLIND, {})
    report(root, "holes")
    return Reported(root)


def report(root: Path, not_first: str) -> None:
    """Runs the job on all clusters; it is not the first day of one of them."""
    (root / f"snapshots/groups/cluster={not_first}/dt=2026-01-30").mkdir()
    place = ["--input", str(root), "--output", str(root), "--no-history"]
    assert main([*place, "--date", "2026-01-31"]) == 0


def line(row: Row) -> str:
    """An incident in short: level, kind, from when to when, minutes, sentence."""
    since, until = (
        f"{row[name]:%H:%M}" if row[name] and row[name] >= MIDNIGHT else row[name] and "before"
        for name in ("since", "until")
    )
    end = "still" if row["still"] else until or "?"
    minutes = "" if row["minutes"] is None else f" {row['minutes']:g} min"
    return f"{row['level']} {row['kind']} {since or '?'} to {end}{minutes} | {row['text']}"


def by_case(rows: Sequence[Row], cases: Sequence[str]) -> dict[str, str]:
    """The lines of each case, its name as `g`; those that name none stand below the last title."""
    found: dict[str, list[str]] = {case: [] for case in (*cases, "of the cluster")}
    longest = sorted(cases, key=len, reverse=True)
    for row in rows:
        named = [name for name in longest if name in row["text"] and name != "t"]
        case = next((n for n in (row["consumer_group"], row["topic"], *named) if n in found), None)
        text = row["text"].replace(case, "g", 1) if case else row["text"]
        found[case or "of the cluster"].append(line({**row, "text": text}))
    return {case: "\n".join(sorted(lines)) or "nothing" for case, lines in found.items()}


def test_each_strip_has_the_incidents_that_it_shows(reported: Reported, golden: Golden) -> None:
    found = by_case(reported.rows(), [*GROUPS, *TOPICS, *READERS])
    # leaders that moved are named by their brokers
    cases = {name: said for name, said in found.items() if name in GROUPS or said != "nothing"}
    in_holes = by_case(reported.rows("holes"), list(BLIND))
    cases |= {f"holes: {name}": said for name, said in in_holes.items()}

    golden.holds("incidents.txt", "\n".join(f"# {name}\n{said}" for name, said in cases.items()))


def test_what_is_broken_now_comes_first_and_what_was_lost_before_what_was_not(
    reported: Reported,
) -> None:
    groups = [row["consumer_group"] for row in reported.rows()]
    order = ["a risk that stands", "lost while it stood", "still stalled", "two incidents"]
    places = [groups.index(name) for name in [*order, "an hour in WARN", "gone"]]

    assert places == sorted(places)


# Columns that a dashboard or the message reads.
NUMBERS: dict[str, Row] = {
    "one consumer stalls": {"incident_id": "id-9", "partitions": [3], "member_id": "m"},
    "a backlog that takes hours": {"until": at("14:10"), "lag_max": 732_509, "minutes": 310.0},
    "since the day before": {"minutes": 60.0, "until": at("1")},
    "lost while it stood": {"records_lost": 5_159, "lost_of": "short", "retention_seconds": 7_200},
    "lost for a run": {"records_lost": 9, "incident_id": None, "until": at("12:05")},
    "an age at least": {"time_lag_max": 5_459.0, "time_lag_is_least": True, "lag_max": 5},
    "an age for sure": {"time_lag_max": 5_400.0, "time_lag_is_least": False},
    "the SLA of an incident": {"sla_seconds": 60.0, "sla_missed_minutes": 65.0},
    "set back": {"records_rewound": 5_000},
    "skipped after a stall": {"records_skipped": 70_000},
    "read or skipped": {"records_skipped": None},
    "gone, with records unread": {"lag_max": 40, "gone_at": at("12"), "until": at("12")},
    "a stall with a cause": {"cause": "slow_member", "member_id": "m-1", "partitions": [7]},
    "no members": {"cause": "no_member"},
    "rebalances": {"counted": 24},
    "one that is all that is wrong with a group": {"kind": "held_up", "incident_id": "id-7:30"},
}


@pytest.mark.parametrize("group", NUMBERS)
def test_an_incident_has_its_numbers_in_the_table(reported: Reported, group: str) -> None:
    row = reported.of(group)

    assert {name: row[name] for name in NUMBERS[group]} == NUMBERS[group]


def test_an_sla_is_missed_for_no_long_time_without_runs(reported: Reported) -> None:
    row = reported.of("an SLA that nobody saw kept", "holes")

    assert (row["sla_missed_minutes"], row["minutes"]) == (40.0, 155.0)


def test_the_table_gives_back_all_but_kinds_of_a_later_version(reported: Reported) -> None:
    place = reported.root / "reports/incidents/cluster=strips/dt=2026-01-31"
    (file,) = place.iterdir()
    table = pq.ParquetFile(file).read()
    later = table.set_column(
        table.schema.get_field_index("kind"), "kind", pa.array(["another"] * len(table))
    )

    assert to_table(from_table(table)).to_pylist() == table.to_pylist()
    assert from_table(later) == ()


@pytest.mark.thorough
def test_a_group_unread_from_a_late_first_run_on_was_unread_before(
    spark: SparkSession, tmp_path: Path
) -> None:
    assert spark
    write_strips(tmp_path, "early", EARLY, {"late": [unread("0-24")]}, {})
    report(tmp_path, "early")

    row = Reported(tmp_path).of("late", "early")
    assert (row["since"], row["minutes"], row["still"]) == (None, 125.0, True)
