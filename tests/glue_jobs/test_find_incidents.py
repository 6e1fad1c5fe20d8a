# SPDX-License-Identifier: Apache-2.0
"""One line for all that was wrong with somebody at one time, and no line of what was not."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from kafka_lag_report.evidence import Evidence, GroupSpell, PartitionSpell, Stint, UnreadSpell
from kafka_lag_report.find_incidents import find_incidents
from kafka_lag_report.findings import (
    Coverage,
    Findings,
    GroupDay,
    Listed,
    TopicRisk,
    TopicSkew,
)
from kafka_lag_report.incident import Incident, Kind, from_table, to_table

DAY = date(2026, 1, 31)
MIDNIGHT = datetime(2026, 1, 31, tzinfo=UTC)


def at(hour: float) -> datetime:
    return MIDNIGHT + timedelta(hours=hour)


def runs(*gaps: tuple[float, float]) -> tuple[datetime, ...]:
    """A run a minute, but for these hours."""
    hours = [number / 60 for number in range(1440)]
    return tuple(at(h) for h in hours if not any(a <= h < b for a, b in gaps))


RUNS = runs()
LAST = 24 - 1 / 60


def day(**more: Any) -> Findings:
    seen = Coverage("groups", 1440, 1440, interval=60.0, last_run=RUNS[-1], first_run=RUNS[0])
    return Findings(**{"cluster": "c", "day": DAY, "coverage": (seen,), **more})


def bad(begin: float, end: float, status: str = "ERR", **more: Any) -> GroupSpell:
    """A group in a status from an hour to another."""
    last = end - 1 / 60
    return GroupSpell(group="g", first=at(begin), last=at(last), status=status, **more)


def held(begin: float, end: float, group: str = "g", **more: Any) -> GroupSpell:
    """A group that an open transaction holds up, from ten minutes before nine on."""
    where = {"held_topic": "t", "held_partition": 3, "held_since": at(9 - 1 / 6)}
    spell = bad(begin, end, "OK", **{**where, "held_records": 7, **more})
    return replace(spell, group=group)


def nobody(begin: float, end: float) -> GroupSpell:
    return bad(begin, end, status="OK", nobody=True)


def unread(begin: float, end: float, reason: str = "denied") -> GroupSpell:
    spell = bad(begin, end, unread=reason)
    return replace(spell, status=None)


def restless(begin: float, end: float, count: int) -> GroupSpell:
    """Runs that saw so many rebalances from ten to twelve o'clock."""
    times = {"restless_since": at(10), "restless_until": at(12)}
    return bad(begin, end, "OK", restless=True, rebalances=count, **times)


def gone(hour: float) -> GroupSpell:
    """The row that says that a group was deleted."""
    return GroupSpell(group="g", first=at(hour), last=at(hour), gone=True)


def part(begin: float, end: float, partition: int = 0, **more: Any) -> PartitionSpell:
    """A partition with which something was wrong."""
    times = {"first": at(begin), "last": at(end - 1 / 60)}
    return PartitionSpell(**{"group": "g", "topic": "t", "partition": partition, **times, **more})


def stands(begin: float, end: float, partition: int = 0, **more: Any) -> PartitionSpell:
    """One that stands since ten minutes before it is said."""
    since = at(begin) - timedelta(minutes=10)
    return part(begin, end, partition, **{"standing": "STALL", "stands_since": since, **more})


def found(evidence: Evidence, findings: Findings | None = None) -> tuple[Incident, ...]:
    evidence = evidence if evidence.runs else replace(evidence, runs=RUNS)
    return find_incidents(evidence, findings or day())


def texts(evidence: Evidence, findings: Findings | None = None) -> list[str]:
    return [one.text for one in found(evidence, findings)]


def of(*spells: GroupSpell | PartitionSpell) -> Evidence:
    groups = tuple(one for one in spells if isinstance(one, GroupSpell))
    return Evidence(
        groups=groups, partitions=tuple(o for o in spells if isinstance(o, PartitionSpell))
    )


CASES: dict[str, tuple[Evidence, list[str]]] = {
    "no members": (
        of(
            nobody(9, 9.17),
            bad(9.17, 11, nobody=True, lag=4_000),
            stands(9.17, 11, standing="STOP"),
        ),
        ["g had no members from 09:00 to 11:00. Up to 4,000 records were unread."],
    ),
    "members that own nothing": (
        of(bad(9.5, 11), stands(9.5, 11, standing="STOP")),
        ["g stopped from 09:20 to 11:00: nobody owned partition 0 of t."],
    ),
    "one consumer stalls": (
        of(bad(9.5, 11), *(stands(9.5, 11, n, client="x", host="/1") for n in (3, 4))),
        [
            "g stalled from 09:20 to 11:00: consumer x on /1 owns partitions 3, 4 "
            "of t and did not move."
        ],
    ),
    "several consumers stall": (
        of(bad(9.5, 11), stands(9.5, 11, 3, client="x"), stands(9.5, 11, 4, client="y")),
        ["g stalled from 09:20 to 11:00: the owners of partitions 3, 4 of t did not move."],
    ),
    "since the day before": (
        of(bad(0, 2), stands(0, 2, stands_since=at(-2.5))),
        [
            "g stalled from 21:30 the day before until 02:00: the owners of "
            "partition 0 of t did not move."
        ],
    ),
    "still so": (
        of(bad(22, 24), stands(22, 24)),
        ["g stalled from 21:50, still at midnight: the owners of partition 0 of t did not move."],
    ),
    "a partition that stalls for a while of a bad day": (
        of(bad(6, 24, reason="falling_behind"), stands(10, 10.4, 3)),
        ["g fell behind from 06:00, still at midnight; it stalled from 09:50 to 10:24."],
    ),
    "a stall that leaves the group behind to the day's end": (
        of(bad(8, 20), stands(8, 20), bad(20, 24, reason="slow")),
        [
            "g stalled from 07:50 to 20:00: the owners of partition 0 of t did not move. "
            "It was still behind at midnight."
        ],
    ),
    "two stalls of minutes in a slow day": (
        of(bad(10, 24, reason="slow"), stands(10, 10.4, 3), stands(22, 24, 5)),
        ["g caught up too slowly from 10:00, still at midnight; it stalled from 21:50 on."],
    ),
    "two stalls with little between them": (
        of(bad(10, 20), stands(10, 14, 3), stands(15, 20, 5)),
        ["g stalled from 09:50 to 20:00: the owners of partitions 3, 5 of t did not move."],
    ),
    "half of the bad time is a stall": (
        of(bad(10, 20 + 10 / 60), stands(10, 15)),
        ["g stalled from 09:50 to 15:00: the owners of partition 0 of t did not move."],
    ),
    "less than half is none": (
        of(bad(10, 20 + 12 / 60), stands(10, 15)),
        ["g fell behind from 10:00 to 20:12; it stalled from 09:50 to 15:00."],
    ),
    "two incidents are two": (
        of(bad(2, 3), stands(2, 3), bad(8, 9), stands(8, 9)),
        [
            "g stalled from 01:50 to 03:00: the owners of partition 0 of t did not move.",
            "g stalled from 07:50 to 09:00: the owners of partition 0 of t did not move.",
        ],
    ),
    "ten minutes of calm are one incident": (
        of(bad(2, 3, lag=7), bad(3 + 10 / 60, 4, lag=9)),
        ["g fell behind from 02:00 to 04:00. Up to 9 records were unread."],
    ),
    "eleven are two": (
        of(bad(2, 3), bad(3 + 11 / 60, 4)),
        ["g fell behind from 02:00 to 03:00.", "g fell behind from 03:11 to 04:00."],
    ),
    "behind since it was last as near as usual": (
        of(bad(6.5, 9, "WARN", calm_at=at(6), reason="falling_behind")),
        ["g fell behind from 06:00 to 09:00."],
    ),
    "too slow": (
        of(bad(6.5, 9, "WARN", reason="slow")),
        ["g caught up too slowly from 06:30 to 09:00."],
    ),
    "a peak in WARN is none": (of(bad(6, 6.99, "WARN")), []),
    "an hour in WARN is one": (of(bad(6, 7, "WARN")), ["g fell behind from 06:00 to 07:00."]),
    "beyond the end": (
        of(bad(6, 7, reason="beyond_end")),
        ["g had commits beyond the end of their log from 06:00 to 07:00."],
    ),
    "set back": (
        of(bad(18, 18.2), part(18, 18.5, rewound=5_000, going_back=True)),
        ["g was set back by 5,000 records of t at 18:00 and had read them again at 18:30."],
    ),
    "only the SLA": (
        of(bad(9, 9.1, "OK", over_sla=True, sla=60.0)),
        ["g missed its SLA of 1 min from 09:00 to 09:06. It was missed for 6 min."],
    ),
    "the SLA, behind an open transaction": (
        of(
            bad(9, 9.1, "OK", over_sla=True, sla=60.0),
            held(9.1, 10, over_sla=True, sla=60.0),
        ),
        [
            "g missed its SLA of 1 min from 09:00 to 10:00: it waited for an open transaction. "
            "It was missed for 1 h.",
            "A transaction on partition 3 of t held up g from 08:50 to 10:00. "
            "Up to 7 records waited for its end.",
        ],
    ),
    "the SLA of an incident is its cost": (
        of(
            bad(9, 10, over_sla=True, sla=60.0),
            stands(9, 10),
            bad(10, 10.1, "OK", over_sla=True, sla=60.0),
        ),
        [
            "g stalled from 08:50 to 10:00: the owners of partition 0 of t did not "
            "move. The SLA of "
            "1 min was missed for 1 h 6 min."
        ],
    ),
    "denied to the end of the day": (
        of(unread(22, 24)),
        ["g could not be read from 22:00, still at midnight: denied. Its lag is unknown."],
    ),
    "denied all day": (
        of(unread(0, 24)),
        ["g could not be read all day, and still at midnight: denied. Its lag is unknown."],
    ),
    "unread for nine minutes": (of(unread(5, 5.15)), []),
    "unread for ten": (
        of(unread(5, 5 + 10 / 60, "no_coordinator")),
        ["g could not be read from 05:00 to 05:10: no coordinator. Its lag is unknown."],
    ),
    "unread amid a stall": (
        of(bad(9, 10), stands(9, 10), unread(10, 10.1), bad(10.1, 11), stands(10.1, 11)),
        ["g stalled from 08:50 to 11:00: the owners of partition 0 of t did not move."],
    ),
    "denied for an hour amid a stall": (
        of(bad(8, 10), stands(8, 10), unread(10, 11), bad(11, 12), stands(11, 12)),
        ["g stalled from 07:50 to 12:00: the owners of partition 0 of t did not move."],
    ),
    "denied after a stall": (
        of(bad(8, 10), stands(8, 10), unread(10, 24)),
        [
            "g could not be read from 10:00, still at midnight: denied. Its lag is unknown.",
            "g stalled from 07:50, last seen so at 09:59: the owners of partition 0 of t did "
            "not move.",
        ],
    ),
    "a risk, and denied from then on": (
        of(part(8, 10, at_risk=True, seconds_left=3_600.0), unread(10, 24)),
        [
            "g could not be read from 10:00, still at midnight: denied. Its lag is unknown.",
            "g came near to losing records from 08:00, last seen so at 09:59. The first unread "
            "record was 1 h from deletion; whether any was deleted no run saw.",
        ],
    ),
    "set back, and denied from then on": (
        of(bad(8, 9), part(8, 9, rewound=7, going_back=True), unread(9, 24)),
        [
            "g could not be read from 09:00, still at midnight: denied. Its lag is unknown.",
            "g was set back by 7 records of t at 08:00 and had not read them again when last "
            "seen, at 08:59.",
        ],
    ),
    "set back, and deleted": (
        of(bad(8, 9), part(8, 9, rewound=7, going_back=True), gone(9)),
        [
            "g was set back by 7 records of t at 08:00 and had not read them again. The group "
            "is gone since 09:00."
        ],
    ),
    "a risk, and deleted": (
        of(part(8, 10, at_risk=True, seconds_left=3_600.0), gone(10)),
        [
            "g came near to losing records from 08:00 to 10:00. The first unread record was 1 h "
            "from deletion; whether any was deleted no run saw. The group is gone since 10:00."
        ],
    ),
    "rebalances": (
        of(restless(10.5, 13, count=30)),
        ["g rebalanced 30 times from 10:00 to 12:01."],
    ),
    "a short stop amid rebalances came of them": (
        of(
            stands(10.4, 10.6, standing="STOP", lag=400),
            bad(10.4, 10.6, lag=500, time_lag=300.0, dated=300.0),
            restless(10.6, 13, count=30),
        ),
        [
            "g rebalanced 30 times from 10:00 to 12:01. Up to 500 records were unread, the oldest "
            "5 min old."
        ],
    ),
    "a long one is told, and not the rebalances": (
        of(stands(10.4, 11.7, standing="STOP"), bad(10.4, 11.7), restless(11.7, 13, count=30)),
        ["g stopped from 10:14 to 11:42: nobody owned partition 0 of t."],
    ),
    "rebalances amid too little WARN to be told": (
        of(bad(10.4, 10.6, "WARN"), restless(10.6, 13, count=30)),
        ["g rebalanced 30 times from 10:00 to 12:01."],
    ),
    "gone": (
        of(gone(15)),
        ["g is gone since 15:00: the cluster no longer has this group."],
    ),
    "gone in trouble is one incident": (
        of(bad(13, 15), gone(15)),
        ["g fell behind from 13:00 to 15:00. The group is gone since 15:00."],
    ),
    "gone after trouble that a run saw over is one incident, with its own end": (
        of(bad(13, 15), gone(15.1)),
        ["g fell behind from 13:00 to 15:00. The group is gone since 15:06."],
    ),
    "gone, and in trouble when it is back": (
        of(gone(10), bad(20, 24), stands(20, 24)),
        [
            "g stalled from 19:50, still at midnight: the owners of partition 0 of t did not move.",
            "g was deleted at 10:00, and was seen again later.",
        ],
    ),
    "gone in trouble, and back in the same": (
        of(bad(8, 10), gone(10), bad(10.1, 12)),
        [
            "g fell behind from 08:00 to 12:00. The group was deleted at 10:00, and was seen "
            "again later."
        ],
    ),
    "gone twice": (
        of(gone(10), bad(12, 14), gone(14)),
        [
            "g fell behind from 12:00 to 14:00. The group is gone since 14:00.",
            "g was deleted at 10:00, and was seen again later.",
        ],
    ),
    "skipped": (
        of(bad(9, 11), stands(9, 11), part(11, 11 + 1 / 60, skipped=70_000)),
        [
            "g stalled from 08:50 to 11:00: the owners of partition 0 of t did not "
            "move. 70,000 records "
            "were skipped unread."
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_line_says_who_when_and_why(case: str) -> None:
    evidence, expected = CASES[case]

    assert texts(evidence) == expected


def test_what_is_lost_in_one_incident_is_added_over_its_partitions_and_returns() -> None:
    spells = [
        *(stands(8, 9, n, lost=1_000) for n in (0, 1)),
        part(9, 9 + 1 / 60, 0, passed_over=1_100),
        stands(9.05, 9.5, 0, lost=300),
    ]
    (one,) = found(of(bad(8, 9.5), *spells))

    # partition 0 came back once and is behind the start again; 1 never came back
    assert one.records_lost == 1_100 + 300 + 1_000
    assert "It lost at least 2,400 records of t." in one.text


def test_who_comes_back_behind_the_new_log_start_has_lost_what_lies_between_as_well() -> None:
    """It read on at the start that the run before saw, while more was deleted."""
    (one,) = found(of(bad(8, 9), stands(8, 9, passed_over=1_000, lost=300)))

    assert one.records_lost == 1_300


def test_a_loss_that_a_late_run_sees_end_is_one() -> None:
    """As where partitions are read more seldom than groups."""
    end = part(12.5, 12.5 + 1 / 60, passed_over=9)

    assert [one.records_lost for one in found(of(part(12, 12.02, lost=9), end))] == [9]
    # what was lost of another partition is another matter
    assert len(found(of(part(12, 12.02, 1, lost=9), end))) == 2


def test_of_two_incidents_each_has_its_own_loss() -> None:
    spells: list[GroupSpell | PartitionSpell] = [
        *(bad(2, 3), stands(2, 3, lost=1_000), part(3, 3 + 1 / 60, passed_over=1_000)),
        *(bad(14, 15), stands(14, 15, lost=2_000), part(15, 15 + 1 / 60, passed_over=2_000)),
    ]

    assert [one.records_lost for one in found(of(*spells))] == [2_000, 1_000]


KEPT_SHORT: dict[str, Any] = {
    "retention": 7_200.0,
    "retention_needed": 99_999.0,
    "unlimited": False,
}


@pytest.mark.parametrize(
    ("risk", "needed", "words"),
    [
        # with the minute to the run that may have read again
        (KEPT_SHORT, 31_980.0, "of t (kept for 2 h; 8 h 54 min would have been enough)."),
        # size or a request deleted it
        (KEPT_SHORT, 60.0, "of t."),
        # of a least age nobody knows what had been enough
        (KEPT_SHORT, None, "of t."),
        ({"unlimited": True}, 60.0, "of t (no retention by age is set)."),
    ],
)
def test_a_loss_says_what_retention_would_have_been_enough(
    risk: Any, needed: float | None, words: str
) -> None:
    risks = Listed((TopicRisk("g", "t", 1, **risk),), 1)
    (one,) = found(of(bad(8, 9), stands(8, 9, lost=5, needed=needed)), day(risks=risks))

    assert f"It lost at least 5 records {words}" in one.text


def test_of_two_losses_each_says_what_had_been_enough_for_it() -> None:
    risks = Listed((TopicRisk("g", "t", 1, **KEPT_SHORT),), 1)
    spells: list[GroupSpell | PartitionSpell] = [
        *(bad(2, 3), stands(2, 3, lost=1, needed=10_740.0)),
        *(bad(14, 15), stands(14, 15, lost=2, needed=14_340.0)),
    ]
    later, sooner = found(of(*spells), day(risks=risks))

    assert "; 4 h would have been enough" in later.text
    assert "; 3 h would have been enough" in sooner.text


def test_what_had_been_enough_for_one_of_two_partitions_is_said_of_neither() -> None:
    risks = Listed((TopicRisk("g", "t", 1, **KEPT_SHORT),), 1)
    known, unknown = stands(8, 9, 0, lost=5, needed=9_000.0), stands(8, 9, 1, lost=5)

    assert "would have been enough" not in texts(of(bad(8, 9), known, unknown), day(risks=risks))[0]


def test_what_had_been_enough_for_a_topic_that_has_lost_nothing_any_more_is_not_said() -> None:
    risks = Listed((TopicRisk("g", "t", 1, **KEPT_SHORT),), 1)
    other = stands(8, 9, topic="u", lost=3, needed=99_000.0), stands(9, 10, topic="u")
    own = stands(8, 10, lost=5, needed=31_980.0)
    (one,) = found(of(bad(8, 10), *other, own), day(risks=risks))

    assert "of t (kept for 2 h; 8 h 54 min would have been enough)." in one.text


def test_of_a_backlog_that_went_at_once_nobody_knows_whether_it_was_read() -> None:
    leap = part(11, 11 + 1 / 60, leapt=1_620_000, leapt_seconds=60)
    (one,) = found(of(bad(9, 11, lag=1_620_000), stands(9, 11), leap))

    assert one.text == (
        "g stalled from 08:50 to 11:00: the owners of partition 0 of t did not move."
        " Up to 1,620,000 records were unread. Then 1,620,000 records were done within 1 min:"
        " all were read, or records were skipped unread."
    )


def test_records_that_a_truncated_log_let_it_skip_are_said_to_be_so() -> None:
    (one,) = found(of(part(11, 11, skipped=50, skip_reason="truncated")))

    assert one.text.startswith(
        "g skipped records at 11:00. 50 records were skipped for ever, as the log was truncated: "
    )


def test_a_group_that_was_well_may_have_skipped_what_it_passed() -> None:
    (one,) = found(of(part(11, 11, leapt=962, leapt_seconds=60)))

    assert (one.kind, one.records_skipped) == (Kind.SKIPPED, None)
    assert one.text == (
        "g passed all that was unread at 11:00. Read or skipped: not known of 962 records."
    )


@pytest.mark.parametrize(
    ("ages", "said"),
    [
        ({"time_lag": 5_400.0, "dated": 5_400.0}, "the oldest 1 h 30 min old"),
        ({"time_lag": 5_400.0}, "the oldest at least 1 h 30 min old"),
        # what may be any more is not rounded up
        ({"time_lag": 5_459.0, "dated": 90.0}, "the oldest at least 1 h 30 min old"),
    ],
)
def test_an_age_without_an_upper_bound_is_said_to_be_a_least_one(ages: Any, said: str) -> None:
    (one,) = found(of(bad(9, 11, lag=7, **ages), stands(9, 11)))

    assert f"Up to 7 records were unread, {said}." in one.text
    assert one.is_least is ("at least" in said)
    assert from_table(to_table([one]))[0].is_least is one.is_least


def test_who_stood_before_all_that_is_known_has_no_beginning() -> None:
    spell = stands(0, 24, standing="STOP", stands_since=None)
    (one,) = found(of(bad(0, 24), spell))

    assert one.since is None
    assert one.text.startswith("g stopped all day, and still at midnight: nobody owned")


@pytest.mark.parametrize(
    ("first_read", "since"),
    [(-4, None), (0, None), (3, 3)],
    ids=["deployed the day before", "deployed at midnight", "a group that is new"],
)
def test_a_commit_that_never_moved_stands_since_its_first_run_only_where_others_were_before(
    first_read: float, since: float | None
) -> None:
    (one,) = found(of(bad(6, 24), stands(6, 24, stands_since=at(first_read), begin_seen=False)))

    assert one.since == (since if since is None else at(since))


def test_a_commit_that_never_moved_stands_since_the_first_run_of_a_day_that_began_late() -> None:
    runs = tuple(run for run in RUNS if run >= at(8))
    evidence = of(bad(9, 24), stands(9, 24, stands_since=at(8), begin_seen=False))

    assert at(8) in {one.since for one in found(replace(evidence, runs=runs)) if one.group == "g"}


def test_who_was_empty_before_all_that_is_known_has_no_beginning() -> None:
    spell = stands(0, 24, standing="STOP", stands_since=None)
    (one,) = found(of(bad(0, 24, nobody=True), spell))

    assert one.text.startswith("g had no members all day, and still at midnight.")


NEAR: dict[str, Any] = {"at_risk": True, "seconds_left": 7_199.0, "seconds_left_at": at(17.9833)}


def test_a_risk_that_is_over_is_told_in_the_past_and_nothing_was_lost() -> None:
    (one,) = found(of(bad(8.5, 18), stands(8.5, 18, **NEAR), part(18, 18.6, at_risk=True)))

    end = "The first unread record was 1 h 59 min from deletion at 17:58; nothing was lost."
    assert one.text.endswith(end)
    assert one.text.startswith("g stalled from 08:20 to 18:00: ")
    assert (one.still, one.level) == (False, "serious")


def test_a_risk_that_stands_is_urgent_and_says_when() -> None:
    left = {"seconds_left": 17_999.0, "seconds_left_at": at(LAST)}
    (one,) = found(of(bad(17, 24), stands(17, 24, **{**NEAR, **left})))

    assert (
        "Unread records are deleted in 4 h 59 min (as of 23:59) unless they are read." in one.text
    )
    assert (one.still, one.level) == (True, "urgent")


@pytest.mark.parametrize(("left", "said"), [(599.0, False), (600.0, True)])
def test_so_near_to_deletion_no_run_can_say_that_nothing_was_lost(left: float, said: bool) -> None:
    (one,) = found(of(bad(8, 10), stands(8, 10, **{**NEAR, "seconds_left": left})))

    assert ("nothing was lost" in one.text) == said
    assert ("whether any was deleted no run saw" in one.text) == (not said)


def test_a_risk_that_outlives_its_stall_has_no_end() -> None:
    left = {"seconds_left": 17_999.0, "seconds_left_at": at(LAST)}
    (one,) = found(of(bad(8, 12), stands(8, 12), part(12, 24, **{**NEAR, **left})))

    assert one.text.startswith("g stalled from 07:50 to 12:00: ")
    assert (one.still, one.until, one.level) == (True, None, "urgent")


def test_an_incident_that_outlives_its_stall_is_still_so() -> None:
    (one,) = found(of(bad(8, 20), stands(8, 20), bad(20, 24, reason="slow")))

    assert (one.still, one.until, one.minutes) == (True, None, 970)


@pytest.mark.parametrize(("left", "said"), [(28_859.0, False), (28_860.0, True)])
def test_nothing_was_lost_if_it_was_read_again_before_anything_is_deleted(
    left: float, said: bool
) -> None:
    risk = part(8, 10, at_risk=True, seconds_left=left)
    (one,) = [
        one for one in found(replace(of(risk), runs=runs((10, 18)))) if one.kind == Kind.AT_RISK
    ]

    assert ("nothing was lost" in one.text) == said
    assert one.text.startswith("g came near to losing records from 08:00, last seen so at 09:59.")
    assert (one.still, one.until, one.minutes) == (False, at(18), 120)


@pytest.mark.parametrize(("left", "said"), [(3_599.0, False), (3_600.0, True)])
def test_of_hourly_runs_the_next_has_to_come_soon_enough(left: float, said: bool) -> None:
    hourly = tuple(at(hour) for hour in range(24))
    risk = replace(part(8, 10, at_risk=True, seconds_left=left), last=at(9))
    (one,) = found(replace(of(risk), runs=hourly))

    assert ("nothing was lost" in one.text) == said
    assert (one.until, one.minutes) == (at(10), 120)


def test_what_nobody_saw_end_is_not_still_so() -> None:
    (stall,) = [
        one
        for one in found(of(bad(8, 10), stands(8, 10), unread(10, 24)))
        if one.kind == Kind.STALLED
    ]

    assert (stall.still, stall.until, stall.minutes) == (False, None, 130)


FIRST_SEEN: dict[str, GroupSpell | PartitionSpell] = {
    "at_risk": part(0, 5, at_risk=True),
    "sla_missed": bad(0, 5, "OK", over_sla=True),
    "lost": part(0, 5, lost=3),
    "behind": bad(0, 5),
    "unknown": unread(0, 5),
}


@pytest.mark.parametrize("kind", FIRST_SEEN)
def test_what_the_first_run_sees_began_nobody_knows_when(kind: str) -> None:
    (one,) = found(of(FIRST_SEEN[kind]))

    assert (one.kind, one.since, one.minutes) == (kind, None, 300)
    assert "since before midnight, until 05:00" in one.text


@pytest.mark.parametrize("kind", FIRST_SEEN)
def test_of_a_first_run_that_is_late_it_is_said_that_it_was_the_first(kind: str) -> None:
    late = replace(FIRST_SEEN[kind], first=at(3))
    evidence = replace(of(late), runs=runs((0, 3)))
    (one,) = [one for one in found(evidence) if one.kind != Kind.NO_RUNS]

    assert (one.kind, one.since, one.minutes) == (kind, at(3), 120)
    assert "from 03:00, the first run, to 05:00" in one.text


@pytest.mark.parametrize(("minute", "late"), [(1, False), (2, True)])
def test_a_first_run_within_an_interval_of_midnight_is_the_days_beginning(
    minute: int, late: bool
) -> None:
    first = minute / 60
    (one,) = found(replace(of(unread(first, 24)), runs=runs((0, first))))

    assert (one.since == at(first)) == late
    assert ("the first run, still at midnight" in one.text) == late


def test_what_began_after_a_late_first_run_has_its_time() -> None:
    lines = texts(replace(of(bad(3 + 1 / 60, 5)), runs=runs((0, 3))))

    assert "g fell behind from 03:01 to 05:00." in lines


def test_whom_the_skew_names_is_the_cause_of_the_one_incident() -> None:
    named = TopicSkew(
        "g",
        "t",
        True,
        False,
        12,
        900.0,
        3.0,
        cause="broker",
        cause_leader=2,
        cause_partitions=(1, 4),
    )
    skews = Listed((named,), 1)

    one = texts(of(bad(8, 10)), day(skews=skews))
    several = texts(of(bad(2, 4), bad(8, 10)), day(skews=skews))

    assert one == ["g fell behind from 08:00 to 10:00: broker 2 leads partitions 1, 4 of t."]
    assert not any("broker" in text for text in several)


def explained(begin: float, end: float, cause: str = "slow_member", **more: Any) -> GroupSpell:
    """A group whose cause the collector named."""
    evidence = {"member": "m-1", "host": "/h", "consume_rate": 2.0, "produce_rate": 9.0}
    return bad(begin, end, cause=cause, cause_evidence=json.dumps(evidence), **more)


def test_the_cause_that_runs_named_says_why_in_their_words() -> None:
    (one,) = found(of(explained(8, 10, cause_since=at(7.5))))

    assert (one.cause, one.member, one.host) == ("slow_member", "m-1", "/h")
    assert one.text.startswith("g fell behind from 08:00 to 10:00. One member is slow: m-1")
    assert "(since 2026-01-31 07:30 UTC)." in one.text


def test_the_cause_of_runs_goes_before_whom_the_days_skew_names() -> None:
    skew = TopicSkew("g", "t", True, False, cause="broker", cause_leader=2, cause_partitions=(1,))
    skews = Listed((skew,), 1)

    (named,) = found(of(explained(8, 10)), day(skews=skews))
    (unnamed,) = found(of(bad(8, 10)), day(skews=skews))

    assert (named.cause, named.leader) == ("slow_member", None)
    assert (unnamed.cause, unnamed.leader) == ("broker", 2)


def test_of_causes_that_change_the_last_is_said() -> None:
    spells = explained(8, 9, "capacity_fell"), explained(9, 10), bad(10, 11)

    assert [one.cause for one in found(of(*spells))] == ["slow_member"]


def test_who_stalled_is_said_with_the_cause_that_runs_named() -> None:
    (one,) = found(of(explained(8, 10, "stuck_record"), stands(8, 10, member="m-1")))

    assert (one.kind, one.cause) == (Kind.STALLED, "stuck_record")
    assert "m-1 owns partition 0 of t and did not move. " in one.text


def test_a_cause_of_a_later_version_is_named_without_a_sentence() -> None:
    (one,) = found(of(explained(8, 10, "meteor")))

    assert (one.cause, one.text) == ("meteor", "g fell behind from 08:00 to 10:00.")


def test_a_skew_without_an_incident_is_no_line() -> None:
    skew = TopicSkew("g", "t", True, False, cause="broker", cause_leader=2, cause_partitions=(1,))

    assert texts(Evidence(), day(skews=Listed((skew,), 1))) == []


def test_uneven_keys_are_a_line_a_topic() -> None:
    skews = tuple(
        TopicSkew(
            group, "t", False, True, made_top_partition=1, made_top_share=0.5, made_even_share=0.25
        )
        for group in "ab"
    )

    assert texts(Evidence(), day(skews=Listed(skews, 2))) == [
        "t is produced unevenly: partition 1 gets 50% (even: 25%)."
    ]


def test_a_stop_that_a_gap_cuts_in_two_is_one_incident() -> None:
    evidence = Evidence(
        runs=runs((10, 12)),
        groups=(bad(9, 10), bad(12, 13)),
        partitions=(stands(9, 10), stands(12, 13)),
    )

    assert [one.kind for one in found(evidence)] == [Kind.STALLED, Kind.NO_RUNS]
    assert "g stalled from 08:50 to 13:00" in texts(evidence)[0]
    assert "There were no runs from 10:00 to 12:00 (2 h)" in texts(evidence)[1]


def test_a_collector_that_died_is_told_to_the_days_end() -> None:
    seen = runs((20, 24))
    coverage = (
        Coverage("groups", 1200, 1440, interval=60.0, first_run=seen[0], last_run=seen[-1]),
    )
    spells = of(bad(19, 20), stands(19, 20))

    lines = texts(replace(spells, runs=seen), day(coverage=coverage))

    assert lines == [
        "There were no runs from 20:00 to midnight (4 h): nothing was seen.",
        "g stalled from 18:50, still in the last run, at 19:59: the owners of partition 0 of t did "
        "not move.",
    ]


@pytest.mark.parametrize(("first_day", "lines"), [(True, 0), (False, 1)])
def test_before_the_first_run_ever_nothing_was_missed(first_day: bool, lines: int) -> None:
    evidence = Evidence(runs=runs((0, 17)))

    assert len(find_incidents(evidence, day(), first_day=first_day)) == lines


def test_partitions_without_a_leader_are_one_line_a_broker() -> None:
    spells = tuple(
        UnreadSpell(
            topic="t", reason="no_leader", partition=n, leader=2, first=at(10), last=at(10.3)
        )
        for n in (1, 4)
    )
    group = UnreadSpell(topic="t", reason="no_leader", group="g", first=at(10), last=at(10.3))

    assert texts(Evidence(unread=(*spells, group))) == [
        "2 partitions of t that broker 2 led had no leader from 10:00 to 10:19."
    ]


TRANSACTIONS: dict[str, tuple[list[GroupSpell], list[str]]] = {
    "of several readers": (
        [
            held(9.1, 10),
            held(9.1, 9.9, "a", held_records=9),
            held(9.2, 10, "b", held_records=8),
            held(9.2, 10, "c", held_records=1),
        ],
        [
            "A transaction on partition 3 of t held up a, b, g and 1 more group from 08:50 to "
            "10:00. Up to 9 records waited for its end."
        ],
    ),
    "still open": (
        [held(9.1, 24)],
        [
            "A transaction on partition 3 of t held up g from 08:50, still at midnight. "
            "Up to 7 records waited for its end."
        ],
    ),
    "begun the day before": (
        [held(0, 2, held_since=at(-1))],
        [
            "A transaction on partition 3 of t held up g from 23:00 the day before until 02:00. "
            "Up to 7 records waited for its end."
        ],
    ),
    "one after the other": (
        [held(9.1, 10), held(11, 12, held_since=at(10.75))],
        [
            "A transaction on partition 3 of t held up g from 08:50 to 10:00. "
            "Up to 7 records waited for its end.",
            "A transaction on partition 3 of t held up g from 10:45 to 12:00. "
            "Up to 7 records waited for its end.",
        ],
    ),
    "of another partition": (
        [held(9.1, 10), held(9.1, 10, held_partition=4)],
        [
            "A transaction on partition 3 of t held up g from 08:50 to 10:00. "
            "Up to 7 records waited for its end.",
            "A transaction on partition 4 of t held up g from 08:50 to 10:00. "
            "Up to 7 records waited for its end.",
        ],
    ),
}


@pytest.mark.parametrize("case", TRANSACTIONS)
def test_a_transaction_left_open_is_one_line_with_all_that_it_holds_up(case: str) -> None:
    spells, expected = TRANSACTIONS[case]

    assert sorted(texts(of(*spells))) == sorted(expected)


def hidden(begin: float = 10, end: float = 11, **more: Any) -> UnreadSpell:
    """A topic's partition, or a group's commits of the topic, that was not read."""
    times = {"first": at(begin), "last": at(end - 1 / 60)}
    return UnreadSpell(**{"topic": "t", "reason": "denied", **times, **more})


UNREAD: dict[str, tuple[tuple[UnreadSpell, ...], list[str]]] = {
    "a topic, with its groups": (
        (*(hidden(partition=n) for n in range(3)), hidden(group="a"), hidden(group="b")),
        [
            "Topic t could not be read from 10:00 to 11:00: denied. The lag of a, b on it is "
            "unknown."
        ],
    ),
    "a partition": (
        (hidden(partition=1), hidden(group="a")),
        [
            "Partition 1 of t could not be read from 10:00 to 11:00: denied. The lag of a on it "
            "is unknown."
        ],
    ),
    "two partitions that nobody reads": (
        (hidden(partition=0), hidden(partition=2)),
        ["Partitions 0, 2 of t could not be read from 10:00 to 11:00: denied."],
    ),
    "partitions at different times": (
        (hidden(partition=0), hidden(10, 14, partition=1), hidden(10.02, 11, partition=2)),
        [
            "Partition 1 of t could not be read from 10:00 to 14:00: denied.",
            "Partitions 0, 2 of t could not be read from 10:00 to 11:00: denied.",
        ],
    ),
    "a topic for another reason every five minutes": (
        tuple(
            hidden(10 + n / 12, 10 + (n + 1) / 12, partition=p, reason=reason)
            for n, reason in enumerate(("error", "timeout", "timeout", "error", "timeout"))
            for p in range(3)
        ),
        ["Topic t could not be read from 10:00 to 10:25: no answer in time."],
    ),
    "a group's commits": (
        (hidden(group="a", partitions=3),),
        ["Commits of a on t could not be read from 10:00 to 11:00: denied."],
    ),
    "a group's commits of one partition": (
        (hidden(group="a", partitions=1),),
        ["Commits of a on 1 partition of t could not be read from 10:00 to 11:00: denied."],
    ),
    "commits of several groups": (
        (hidden(group="a", partitions=3), hidden(group="b", partitions=3)),
        ["Commits of a, b on t could not be read from 10:00 to 11:00: denied."],
    ),
    "a partition for nine minutes": ((hidden(10, 10.15, partition=1),), []),
}


@pytest.mark.parametrize("case", UNREAD)
def test_of_a_topic_what_could_not_be_read_is_told(case: str) -> None:
    spells, expected = UNREAD[case]

    assert texts(Evidence(unread=spells, sizes={"t": 3})) == expected


def stint(leader: int | None, begin: float, end: float, **more: Any) -> Stint:
    own = {"topic": "t", "topic_id": "1", "partition": 0, **more}
    return Stint(leader=leader, first=at(begin), last=at(end - 1 / 60), **own)


def test_leaders_that_moved_for_a_time_and_for_good() -> None:
    moved = [
        one
        for n in range(3)
        for one in (
            stint(1, 0, 10, partition=n),
            stint(3, 10, 13, partition=n),
            stint(1, 13, 24, partition=n),
        )
    ]
    stayed = [stint(2, 0, 16, topic="u"), stint(3, 16, 24, topic="u")]

    assert texts(Evidence(stints=(*moved, *stayed))) == [
        "1 partition of broker 2 was led by broker 3 from 16:00, still at midnight.",
        "3 partitions of broker 1 were led by broker 3 from 10:00 to 13:00.",
    ]


ENDS: dict[str, tuple[list[float], str]] = {
    "all at once": ([13, 13, 13], "from 10:00 to 13:00."),
    "one after the other": ([13, 13.05, 13.1], "from 10:00 to 13:06."),
    "some later": ([13, 13.02, 20], "from 10:00 to 20:00 (2 of them to 13:01 at the latest)."),
    "some still": (
        [13, 24, 24],
        "from 10:00, still at midnight (1 of them to 13:00 at the latest).",
    ),
    "some at several times": (
        [11, 13, 24],
        "from 10:00, still at midnight (2 of them to 13:00 at the latest).",
    ),
}


@pytest.mark.parametrize("case", ENDS)
def test_leaders_that_went_together_may_come_back_apart(case: str) -> None:
    ends, when = ENDS[case]
    led = [
        one
        for n, end in enumerate(ends)
        for one in (stint(1, 0, 10, partition=n), stint(3, 10, end, partition=n))
    ]
    led += [stint(1, end, 24, partition=n) for n, end in enumerate(ends) if end < 24]

    (one,) = found(Evidence(stints=tuple(led)))
    assert one.text == f"3 partitions of broker 1 were led by broker 3 {when}"
    assert one.still == (max(ends) == 24)


def test_a_rolling_restart_leaves_no_leader_moved() -> None:
    led = (stint(1, 0, 8), stint(2, 8, 8.2), stint(3, 8.2, 8.4), stint(1, 8.4, 24))

    assert texts(Evidence(stints=led)) == [
        "1 partition of broker 1 was led by broker 2 from 08:00 to 08:12.",
        "1 partition of broker 2 was led by broker 3 from 08:12 to 08:24.",
    ]


def test_leaders_that_moved_twice_are_two_incidents() -> None:
    led = (stint(1, 0, 8), stint(2, 8, 9), stint(1, 9, 18), stint(2, 18, 19), stint(1, 19, 24))

    assert texts(Evidence(stints=led)) == [
        "1 partition of broker 1 was led by broker 2 from 08:00 to 09:00.",
        "1 partition of broker 1 was led by broker 2 from 18:00 to 19:00.",
    ]


def test_a_leader_that_is_not_known_for_a_time_has_not_moved() -> None:
    led = (stint(1, 0, 8), stint(2, 8, 9), stint(None, 9, 10), stint(2, 10, 12), stint(1, 12, 24))

    assert texts(Evidence(stints=led)) == [
        "1 partition of broker 1 was led by broker 2 from 08:00 to 12:00."
    ]


def test_a_leader_that_moved_back_and_forth_is_one_partition() -> None:
    bounds = (0, 8, 8 + 1 / 60, 8 + 2 / 60, 8 + 3 / 60, 24)
    led = [
        stint(1 + number % 2, begin, end) for number, (begin, end) in enumerate(pairwise(bounds))
    ]

    assert texts(Evidence(stints=tuple(led))) == [
        "1 partition of broker 1 was led by broker 2 from 08:00 to 08:03."
    ]


def test_a_move_ends_where_the_topic_is_recreated() -> None:
    led = (stint(1, 0, 8), stint(2, 8, 9), stint(3, 9, 24, topic_id="2"))

    assert texts(Evidence(stints=led)) == [
        "1 partition of broker 1 was led by broker 2 from 08:00 to 09:00.",
        "Topic t was recreated at 09:00.",
    ]


def test_a_topic_with_another_id_was_recreated() -> None:
    stints = (stint(1, 0, 12), stint(1, 12, 24, topic_id="2"))

    assert texts(Evidence(stints=stints)) == ["Topic t was recreated at 12:00."]


def test_what_is_broken_now_comes_first_and_what_was_lost_before_what_was_not() -> None:
    def group(name: str, *spells: Any) -> list[Any]:
        return [replace(one, group=name) for one in spells]

    parts = [
        *group("over", bad(8, 12), stands(8, 12)),
        *group("now", bad(20, 24), stands(20, 24)),
        *group("lost", bad(8, 9), stands(8, 9, lost=5)),
        *group("warned", bad(1, 24, "WARN")),
    ]

    assert [one.group for one in found(of(*parts))] == ["lost", "now", "over", "warned"]


def test_eighteen_incidents_have_eighteen_lines() -> None:
    parts = [
        replace(one, group=f"g{number}")
        for number in range(18)
        for one in (bad(number, number + 1), stands(number, number + 1))
    ]

    assert len(found(of(*parts))) == 18


def test_a_group_that_is_gone_has_an_end() -> None:
    (one,) = found(of(gone(15)))

    assert (one.still, one.until, one.gone_at) == (False, at(15), at(15))


def test_a_group_that_is_gone_leaves_what_its_last_run_had_not_read() -> None:
    left = replace(nobody(9, 12), lag=900, last_lag=40)
    (one,) = found(of(left, gone(12)))

    assert (one.kind, one.lag) == (Kind.GONE, 40)


def test_an_sla_is_missed_for_no_time_without_runs() -> None:
    gap = runs((9.5, 14))
    spell = bad(9, 9.5, "OK", over_sla=True, sla=60.0)
    (missed,) = [one for one in found(replace(of(spell), runs=gap)) if one.kind == Kind.SLA_MISSED]

    assert missed.sla_missed_minutes == 30


def test_an_sla_is_missed_for_no_longer_than_it_is_known() -> None:
    groups = Listed((GroupDay("g", sla_minutes=29.0),), 1)
    (missed,) = found(of(bad(9, 9.5, "OK", over_sla=True, sla=60.0)), day(groups=groups))

    assert missed.sla_missed_minutes == 29


def test_an_incident_is_the_same_out_of_the_table() -> None:
    evidence = of(
        *(bad(9.5, 11, owner="o", lag=3), stands(9.5, 11, 3, client="x", host="/1", lost=9)),
        *(replace(one, group="h") for one in (bad(0, 24), part(0, 24, **NEAR))),
    )
    groups = Listed((GroupDay("g", owner="o", sla_minutes=4.0), GroupDay("h")), 2)
    made = found(
        replace(evidence, stints=(stint(1, 0, 3), stint(3, 3, 4), stint(1, 4, 24))),
        day(groups=groups),
    )

    assert len(made) == 3
    assert from_table(to_table(made)) == made


def test_a_list_of_nothing_is_null_in_the_table() -> None:
    table = to_table(found(of(bad(8, 10))))

    assert table.select(["partitions", "moved_to"]).to_pylist() == [
        {"partitions": None, "moved_to": None}
    ]


def test_a_kind_that_a_later_version_wrote_is_passed_over() -> None:
    (one,) = found(of(bad(8, 10)))
    table = to_table([one])
    later = table.set_column(0, "kind", [["another"]])

    assert from_table(later) == ()


@pytest.mark.parametrize(
    ("known", "words"),
    [
        (1_435.0, "was missed for 1 h of the day."),
        (120.0, "was missed for 1 h, of 2 h that are known."),
    ],
)
def test_of_how_much_of_the_day_it_is_known_whether_an_sla_was_met(
    known: float, words: str
) -> None:
    groups = Listed((GroupDay("g", sla_minutes=known),), 1)
    (one,) = found(of(bad(9, 10, over_sla=True, sla=60.0), stands(9, 10)), day(groups=groups))

    assert one.text.endswith(words)
