# SPDX-License-Identifier: Apache-2.0
"""Incidents out of a day's snapshots: one line for all that was wrong with somebody at one time.

Each strip is a group or topic of one day, named by what happens to it. The golden file has what the
report says of each: level, kind, times, minutes and the sentence, with the group's name as `g`.
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

from kafka_lag.contract import BEYOND_END, FALLING_BEHIND, READ_OR_SKIPPED, SLOW
from kafka_lag_report.daily_report import main
from kafka_lag_report.evidence import restless_runs
from kafka_lag_report.incident import from_table, to_table
from tests.glue_jobs.days import Row, report_rows
from tests.glue_jobs.strips import (
    EVERY,
    MIDNIGHT,
    Part,
    absent,
    at,
    bad,
    gone,
    held,
    late,
    lost,
    part,
    skips,
    stands,
    stops,
    unread,
    write_strips,
)
from tests.golden import Golden

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]

DAY = range(0, 1440, EVERY)
# A collector that began at 03:00, saw nothing from 10:00 to 12:00 and died at 20:00.
HOLES = [n for n in DAY if 180 <= n < 600 or 720 <= n < 1200]
# One whose first run was five minutes late, in a day of which there are two hours.
EARLY = range(5, 125, EVERY)
RISK = {"retention_risk": "AT_RISK", "status": "OK"}
AGED: dict[str, Any] = {"time_lag_error_seconds": 0.0}
SLA = Part("0-24", {"time_lag_seconds": 1.0, "sla_seconds": 60.0, **AGED})
BIG = 4_000_000


def named(cause: str = "slow_member") -> Row:
    """The collector named a cause."""
    evidence = {"member": "m-1", "host": "/h", "consume_rate": 2.0, "produce_rate": 9.0}
    return {
        "cause": cause,
        "cause_since": at("7:30"),
        "cause_evidence": json.dumps(evidence),
    }


def near(seconds: float, **more: Any) -> Row:
    """Unread records will be deleted in so many seconds."""
    return {**RISK, "seconds_until_loss": seconds, **more}


GROUPS: dict[str, Sequence[Part]] = {
    "well all day": [part("0-24"), Part("9-10", {"members": 0})],
    # who stood, and for how long
    "no members": [
        Part("9-11", {"members": 0}),
        bad("9:10-11", lag=4_000),
        stops("9:10-11"),
    ],
    "members that own nothing": [bad("9:30-11"), stops("9:30-11")],
    "one consumer stalls": [
        bad("9:30-11"),
        *(stands("9:30-11", n, client_id="x", client_host="/1") for n in (3, 4)),
    ],
    "several consumers stall": [
        bad("9:30-11"),
        stands("9:30-11", 3, member_id="x"),
        stands("9:30-11", 4, member_id="y"),
    ],
    "a stall that was seen to begin at 9": [bad("9:30-11"), stands("9:30-11", since="9")],
    "a stall that is still so": [bad("22-24"), stands("22-24")],
    "stopped all day, and nobody knows since when": [
        bad("0-24"),
        stops("0-24", commit_changed_at=None, commit_gap_seconds=None),
    ],
    "empty all day, and nobody knows since when": [
        bad("0-24", members=0),
        stops("0-24", commit_changed_at=None, commit_gap_seconds=None),
    ],
    "a commit that never moved, of a group that is new": [
        absent("0-3"),
        bad("6-24"),
        stands("6-24", since="3", commit_gap_seconds=None),
    ],
    "a commit that never moved since midnight": [
        bad("6-24"),
        stands("6-24", since="0", commit_gap_seconds=None),
    ],
    "a record that came after the last commit": [
        bad("9:30-11"),
        stands("9:30-11", since="8", time_lag_seconds=300.0, **AGED),
    ],
    "stalls amid a longer trouble": [bad("6-24", status_reason=FALLING_BEHIND), stands("10-10:25")],
    "a stall that leaves it behind to the end": [bad("8-24"), stands("8-20")],
    "two stalls in a slow day": [
        bad("10-24", status_reason=SLOW),
        stands("10-10:25", 3),
        stands("22-24", 5),
    ],
    "two stalls with little between": [bad("10-20"), stands("10-14", 3), stands("15-20", 5)],
    "half of the bad time is a stall": [bad("10-20:10"), stands("10-15")],
    "less than half is none": [bad("10-20:15"), stands("10-15")],
    "two incidents": [bad("2-3"), stands("2-3"), bad("8-9"), stands("8-9")],
    "ten minutes of calm": [bad("2-3", lag=7), bad("3:10-4", lag=9)],
    "fifteen minutes of calm": [bad("2-3"), bad("3:15-4")],
    # behind
    "behind since it was last as near as usual": [
        Part("0-24", {"time_lag_seconds": 400.0, **AGED}),
        Part("6-6:30", {"time_lag_seconds": 801.0}),
        bad("6:30-9", "WARN", status_reason=FALLING_BEHIND, time_lag_seconds=900.0),
    ],
    "too slow": [bad("6:30-9", "WARN", status_reason=SLOW)],
    "a peak in WARN is none": [bad("6-6:55", "WARN")],
    "an hour in WARN is one": [bad("6-7", "WARN")],
    "an incident of the day before": [bad("0-1", incident_since=at("0").replace(day=30, hour=22))],
    "beyond the end": [bad("6-7", status_reason=BEYOND_END)],
    "an age for sure": [bad("9-11", time_lag_seconds=5_400.0, lag=7, **AGED)],
    "an age at least": [
        bad("9-10", time_lag_seconds=5_459.0, lag=7),
        bad("10-11", time_lag_seconds=90.0, lag=7, **AGED),
    ],
    # causes
    "a cause": [bad("8-10", **named()), bad("9-10", **named("capacity_fell"))],
    "a cause and an unexplained run": [bad("8-10", **named()), bad("9-10", cause="unexplained")],
    "a stall with a cause": [bad("8-10", **named("stuck_record")), stands("8-10")],
    "a cause of a later version": [bad("8-10", **named("meteor"))],
    "skewed on one member, once behind": [
        bad("8-10"),
        *(part("0-24", n, member_id=f"m{n}", lag=900 * (n == 0)) for n in range(3)),
        part("0-24", 3, member_id="m1"),
    ],
    "skewed on one member, twice behind": [
        *(bad("8-10"), bad("12-13")),
        *(part("0-24", n, member_id=f"m{n}", lag=900 * (n == 0)) for n in range(3)),
        part("0-24", 3, member_id="m1"),
    ],
    # offsets that went back, or ahead
    "set back": [
        bad("18-18:30"),
        part("18-18:30", rewound_from=6_000, rewound_at=at("18"), committed_offset=1_000),
    ],
    "set back, and deleted": [
        bad("8-9"),
        part("8-9", rewound_from=1_007, rewound_at=at("8"), committed_offset=1_000),
        gone("9"),
        absent("9:05-24"),
    ],
    "skipped after a stall": [bad("9-11"), stands("9-11"), part("11-24", **skips("11", 70_000))],
    "skipped over a truncated log": [
        part("11-24", **skips("11", 50, skip_reason="truncated")),
    ],
    "read or skipped": [
        part("11-24", **skips("11", 962, skip_reason=READ_OR_SKIPPED)),
    ],
    "gone at once, as fast as nobody reads": [
        bad("7-15", lag=BIG),
        stands("7-15", since="5", end_offset=BIG, lag=BIG),
        part("15-24", end_offset=BIG),
    ],
    "gone at once, as fast as many read": [
        bad("7-15", lag=3_000_000),
        stands("7-15", since="5", end_offset=BIG, lag=3_000_000),
        part("15-24", end_offset=BIG),
    ],
    "gone at once, at its usual rate": [
        bad("12-15", lag=BIG),
        stands("12-15", since="8", end_offset=BIG, lag=BIG),
        part("15-24", end_offset=BIG),
    ],
    # losses
    "lost while it stood, and came back": [bad("8-9"), stands("8-9", **lost(1_000))],
    "lost by a group that was well": [part("12-12:10", **lost(9))],
    "lost of two partitions and once more": [
        bad("8-9:30"),
        stands("8-9", 0, **lost(1_000)),
        stands("9:05-9:30", 0, **lost(300)),
        stands("8-9:30", 1, **lost(1_000)),
    ],
    "came back, and is behind the start again": [
        bad("8-9:30"),
        stands("8-9", **lost(1_000)),
        stands("9-9:30", **lost(300, committed=1_500)),
    ],
    "lost twice": [
        bad("2-3"),
        stands("2-3", **lost(1_000)),
        bad("14-15"),
        stands("14-15", **lost(2_000)),
    ],
    "read on behind the start": [
        part("12-12:05", **lost(9)),
        part("12:05-12:15", **lost(11, committed=505)),
    ],
    "two hours of retention were too few": [
        bad("8-9"),
        stands("8-9", topic="short", time_lag_seconds=28_000.0, **AGED, **lost(5)),
        part("0-24", topic="short"),
    ],
    "nobody knows what had been enough": [
        bad("8-9"),
        stands("8-9", topic="short", time_lag_seconds=28_000.0, **lost(5)),
        part("0-24", topic="short"),
    ],
    "lost of what is kept for ever": [
        bad("8-9"),
        stands("8-9", topic="kept", **lost(5)),
        part("0-24", topic="kept"),
    ],
    # near to a loss
    "a risk amid a stall": [
        bad("8:30-18"),
        stands("8:30-18", **near(7_199.0, status="STALL")),
        part("18-18:35", **near(9_000.0)),
    ],
    "a risk that stands": [bad("17-24"), stands("17-24", **near(17_999.0, status="STALL"))],
    "a risk that outlives its stall": [
        bad("8-12"),
        stands("8-12", **near(9_999.0, status="STALL")),
        part("12-24", **near(17_999.0)),
    ],
    "ten minutes from deletion": [part("8-10", **near(600.0))],
    "less than ten minutes from it": [part("8-10", **near(599.0))],
    "a risk, and unread from then on": [part("8-10", **near(3_600.0)), unread("10-24")],
    "a risk, and deleted": [part("8-10", **near(3_600.0)), gone("10"), absent("10:05-24")],
    # the SLA
    "only the SLA": [late("9-9:10")],
    "an SLA that is met to the second": [late("9-9:10", time_lag_seconds=60.0)],
    "the SLA of an incident": [SLA, late("9-10:05"), bad("9-10"), stands("9-10")],
    "the SLA behind a transaction": [
        late("9-9:10"),
        late("9:10-10"),
        held("9:10-10", since="8:30", partition=9),
    ],
    # unread
    "denied to the end": [unread("22-24")],
    "denied all day": [unread("0-24")],
    "behind a loss for ten minutes": [part("12-12:10", commit_changed_at=at("11:50"), **lost(9))],
    "behind a loss for less": [part("12-12:05", commit_changed_at=at("11:55"), **lost(9))],
    "behind a loss, and nobody owns it": [
        part("12-12:10", commit_changed_at=at("11:50"), member_id=None, **lost(9)),
    ],
    "unread for five minutes": [unread("5-5:05")],
    "unread for ten": [unread("5-5:10", "no_coordinator")],
    "unread amid a stall": [
        *(bad("9-10"), stands("9-10"), unread("10-11")),
        *(bad("11-12"), stands("11-12")),
    ],
    "denied after a stall": [bad("8-10"), stands("8-10"), unread("10-24")],
    "set back, and denied from then on": [
        bad("8-9"),
        part("8-9", rewound_from=1_007, rewound_at=at("8"), committed_offset=1_000),
        unread("9-24"),
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
        bad("10:25-10:35", time_lag_seconds=300.0, lag=500, **AGED),
        stops("10:25-10:35", lag=400),
    ],
    "a long stop amid rebalances": [
        Part("10-12:30", {"rebalances": 2}),
        bad("10:25-11:45"),
        stops("10:25-11:45"),
    ],
    # deleted
    "gone": [gone("15"), absent("15:05-24")],
    "gone, with records unread": [
        Part("9-12", {"members": 0, "lag": 40}),
        gone("12"),
        absent("12:05-24"),
    ],
    "gone in trouble": [bad("13-15"), gone("15"), absent("15:05-24")],
    "gone after trouble that was over": [bad("13-15"), gone("15:05"), absent("15:10-24")],
    "gone, and in trouble when it is back": [
        gone("10"),
        absent("10:05-20"),
        bad("20-24"),
        stands("20-24"),
    ],
    "gone in trouble, and back in the same": [bad("8-10"), gone("10"), bad("10:05-12")],
    "gone twice": [gone("10"), bad("12-14"), gone("14"), absent("14:05-24")],
    # transactions
    "open for less than a quarter of an hour": [held("7-7:15", since="7", partition=1)],
    "open for a quarter of an hour": [held("7-7:20", since="7", partition=2)],
    "the first reader": [held("9:10-10", since="8:50")],
    "the second reader": [held("9:10-9:55", since="8:50", records=9)],
    "a later transaction": [held("11-12", since="10:45")],
    "one that is still open": [held("22-24", since="21", partition=4)],
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
    "at risk in the first run": [part("3-5", **near(9_000.0))],
    "the SLA missed in the first run": [late("3-5")],
    "lost in the first run": [part("3-5", **lost(3))],
    "behind in the first run": [bad("3-5")],
    "behind after the first run": [bad("3:05-5")],
    "unread in the first run": [unread("3-5")],
    "stands since the first run": [bad("4-20"), stands("4-20", since="3", commit_gap_seconds=None)],
    "a stall that the gap cuts in two": [bad("9-13"), stands("9-10"), stands("12-13")],
    "a stall in the last run": [bad("19-20"), stands("19-20", since="18:50")],
    "read again before anything was deleted": [part("8-10", **near(7_500.0))],
    "read again too late to know it": [part("8-10", **near(7_499.0))],
    "an SLA that nobody saw kept": [late("9:30-10")],
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
    order = ["a risk that stands", "lost twice", "a stall that is still so", "two incidents"]
    places = [groups.index(name) for name in [*order, "an hour in WARN is one", "gone"]]

    assert places == sorted(places)


# Columns that a dashboard or the message reads.
NUMBERS: dict[str, Row] = {
    "one consumer stalls": {"partitions": [3, 4], "client_id": "x", "client_host": "/1"},
    "lost of two partitions and once more": {"records_lost": 2_300, "lost_of": "t"},
    "came back, and is behind the start again": {"records_lost": 1_300},
    "lost by a group that was well": {"records_lost": 9, "until": at("12:10"), "still": False},
    # 28,000 s, and 5 records of 300 s each, and the run that may have read again
    "two hours of retention were too few": {
        "retention_seconds": 7_200.0,
        "retention_enough_seconds": 28_000.0 + 5 * 300 + 300,
    },
    "an age at least": {"time_lag_max": 5_459.0, "time_lag_is_least": True, "lag_max": 7},
    "an age for sure": {"time_lag_max": 5_400.0, "time_lag_is_least": False},
    "the SLA of an incident": {"sla_seconds": 60.0, "sla_missed_minutes": 65.0},
    "set back": {"records_rewound": 5_000},
    "skipped after a stall": {"records_skipped": 70_000},
    "read or skipped": {"records_skipped": None},
    "gone, with records unread": {"lag_max": 40, "gone_at": at("12"), "until": at("12")},
    "a cause": {"cause": "capacity_fell", "member_id": "m-1"},
    "skewed on one member, once behind": {"cause": "consumer", "member_id": "m0"},
    "an hour in WARN is one": {"partitions": None, "moved_to": None, "minutes": 60.0},
    "rebalances": {"counted": 24},
    "a risk that outlives its stall": {"still": True, "until": None, "level": "urgent"},
}


@pytest.mark.parametrize("group", NUMBERS)
def test_an_incident_has_its_numbers_in_the_table(reported: Reported, group: str) -> None:
    row = reported.of(group)

    assert {name: row[name] for name in NUMBERS[group]} == NUMBERS[group]


def test_an_sla_is_missed_for_no_time_without_runs(reported: Reported) -> None:
    row = reported.of("an SLA that nobody saw kept", "holes")

    assert (row["sla_missed_minutes"], row["still"]) == (30.0, False)


def test_the_table_gives_back_all_but_kinds_of_a_later_version(reported: Reported) -> None:
    place = reported.root / "reports/incidents/cluster=strips/dt=2026-01-31"
    (file,) = place.iterdir()
    table = pq.ParquetFile(file).read()
    later = table.set_column(
        table.schema.get_field_index("kind"), "kind", pa.array(["another"] * len(table))
    )

    assert to_table(from_table(table)).to_pylist() == table.to_pylist()
    assert from_table(later) == ()


@pytest.mark.parametrize(
    ("interval", "runs"), [(20, 10), (60, 10), (180, 10), (300, 6), (600, 3), (3_600, 3)]
)
def test_ten_runs_of_an_hour_are_too_many_or_half_of_fewer(interval: float, runs: float) -> None:
    assert restless_runs(interval) == runs


@pytest.mark.thorough
def test_a_group_unread_from_a_late_first_run_on_was_unread_before(
    spark: SparkSession, tmp_path: Path
) -> None:
    assert spark
    write_strips(tmp_path, "early", EARLY, {"late": [unread("0-24")]}, {})
    report(tmp_path, "early")

    row = Reported(tmp_path).of("late", "early")
    assert (row["since"], row["minutes"], row["still"]) == (None, 125.0, True)
