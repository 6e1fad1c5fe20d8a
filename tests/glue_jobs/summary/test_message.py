# SPDX-License-Identifier: Apache-2.0
"""The summary's subject and its at most 20 lines."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_lag_report.summary.changes import Change, Kind, changes
from kafka_lag_report.summary.findings import Coverage, Findings, Group, GroupDay, Risk, Topic
from kafka_lag_report.summary.message import Message, message

_DAY = date(2026, 1, 31)
_SEEN = {"groups": Coverage(1440, 0, 60.0, 60.0)}
# What SNS takes as a message, and wants of a subject: less than 100 letters.
_MOST_BYTES, _MOST_LETTERS = 262_144, 99


def _clusters(*names: str, **found: Any) -> Findings:
    return Findings(coverage=dict.fromkeys(names, _SEEN), **found)


def _links(findings: Findings) -> dict[str, str]:
    return {name: f"https://page/{name}" for name in findings.clusters}


def _sent(
    told: list[Change], today: Findings, before: Findings | None, *, always: bool = False
) -> Message | None:
    return message(told, day=_DAY, today=today, before=before, links=_links(today), always=always)


def _worded(told: list[Change], today: Findings, before: Findings | None = None) -> Message:
    found = _sent(told, today, before or today)
    assert found is not None
    return found


def _change(cluster: str = "prod", kind: Kind = Kind.LOST, text: str = "g on t: lost") -> Change:
    return Change(kind, cluster, text)


def test_nothing_happened_is_no_message() -> None:
    assert _sent([], _clusters("prod"), _clusters("prod")) is None
    assert _sent([], _clusters("prod"), None) is None


def test_nothing_happened_is_said_calmly_where_configured() -> None:
    risks = {Topic("prod", "g", "t"): Risk(at_risk=1)}
    today = _clusters("prod", risks=risks)

    assert _sent([], today, today, always=True) == Message(
        subject="Kafka lag of prod 2026-01-31: nothing changed",
        body="Kafka lag of prod on 2026-01-31 against 2026-01-30: nothing changed.\n"
        "All of that day, new or not: 1 at risk.\n"
        "prod: https://page/prod",
    )


def test_a_single_cluster_is_named_at_the_top_only() -> None:
    told = [_change(), _change(kind=Kind.SLA_MET, text="h: SLA met all day")]

    assert _worded(told, _clusters("prod")) == Message(
        subject="Kafka lag of prod 2026-01-31: 1 with records lost, 1 SLA met again",
        body="Kafka lag of prod on 2026-01-31 against 2026-01-30: 1 with records lost, "
        "1 SLA met again.\n"
        "All of that day, new or not: nothing to attend to.\n"
        "- g on t: lost\n"
        "- h: SLA met all day\n"
        "prod: https://page/prod",
    )


def test_few_clusters_have_a_line_a_change_and_one_for_the_link() -> None:
    told = [_change("b"), _change("a", Kind.ERR, "g: in ERR"), _change("b", Kind.NEW, "new: x")]

    lines = _worded(told, _clusters("a", "b", "c", "d")).body.splitlines()

    assert lines[2:] == [
        "- b: g on t: lost",
        "- a: g: in ERR",
        "- b: new: x",
        "b: https://page/b",
        "a: https://page/a",
        "and 2 more clusters without change",
    ]


def test_many_clusters_have_a_line_each_with_the_worst_of_it() -> None:
    names = [f"c{number:02}" for number in range(18)]
    told = [_change(name) for name in names[:6]]
    told += [Change(Kind.NEW, "c00", "new groups: a, b", count=2)]

    lines = _worded(told, _clusters(*names)).body.splitlines()

    assert lines[2:] == [
        "- c00: 1 with records lost, 2 new; g on t: lost https://page/c00",
        *(
            f"- {name}: 1 with records lost; g on t: lost https://page/{name}"
            for name in names[1:6]
        ),
        "and 12 more clusters without change",
    ]


@pytest.mark.parametrize("clusters", [1, 3, 5, 6, 17, 40])
@pytest.mark.parametrize("each", [1, 4, 30])
@pytest.mark.parametrize("calm", [0, 9])
def test_a_message_has_twenty_lines_at_most_and_tells_how_much_is_missing(
    clusters: int, each: int, calm: int
) -> None:
    names = [f"c{number}" for number in range(clusters)]
    told = [_change(name, text=f"finding {n}") for name in names for n in range(each)]
    cut = frozenset({"anomalies"})
    ongoing = {"groups": Coverage(700, in_progress=True)}
    others = [f"calm{number}" for number in range(calm)]
    today = Findings(coverage=dict.fromkeys([*names, *others], ongoing), cut=cut)

    lines = _worded(told, today).body.splitlines()

    assert len(lines) <= 20
    shown = sum(line.startswith("- ") for line in lines)
    of, what = (len(told), "changes") if clusters <= 5 else (clusters, "clusters with changes")
    more = [line for line in lines if line.endswith(f"more {what}")]
    assert more == ([f"and {of - shown} more {what}"] if of > shown else [])
    assert len(lines) == 20 or not more


def test_a_day_in_progress_says_so() -> None:
    ongoing = Findings(coverage={"prod": {"groups": Coverage(700, in_progress=True)}})

    assert (
        "The day is not over: this is what was seen so far."
        in _worded([_change()], ongoing).body.splitlines()
    )


def test_a_first_report_says_so_and_compares_with_no_day() -> None:
    found = _sent([_change()], _clusters("prod"), None)

    assert found is not None
    assert found.body.splitlines()[:2] == [
        "Kafka lag of prod on 2026-01-31: 1 with records lost.",
        "First report: there is none of the day before to compare with.",
    ]


@pytest.mark.parametrize("day", ["today", "before"])
def test_what_was_cut_on_either_day_is_named(day: str) -> None:
    cut = _clusters("prod", cut=frozenset({"retention_risk", "anomalies"}))
    days = {"today": _clusters("prod"), "before": _clusters("prod"), day: cut}

    found = _worded([_change()], days["today"], days["before"])

    assert (
        "Too many to tell of all, so only of the worst: anomalies, retention_risk."
        in found.body.splitlines()
    )


def test_a_cluster_without_a_page_has_no_link() -> None:
    lines = _worded([_change("gone", Kind.UNSEEN, "no snapshots")], _clusters("a")).body

    assert lines.splitlines()[2:] == ["- gone: no snapshots", "and 1 more cluster without change"]


_NAMES = st.text(min_size=1, max_size=249)


@given(clusters=st.lists(_NAMES, min_size=1, max_size=8, unique=True), group=_NAMES, topic=_NAMES)
def test_strangers_names_never_break_what_sns_takes(
    clusters: list[str], group: str, topic: str
) -> None:
    risks = {Topic(name, group, topic): Risk(lost=1, records_lost=3) for name in clusters}
    days = {Group(name, group): GroupDay(0.5, 1.0) for name in clusters}
    today = _clusters(*clusters, risks=risks, groups=days)

    found = message(changes(today, None), day=_DAY, today=today, before=None, links={})

    assert found is not None
    assert found.subject.isascii()
    assert found.subject.isprintable()
    assert len(found.subject) <= _MOST_LETTERS
    lines = found.body.split("\n")
    assert len(lines) <= 20
    assert all(line.isprintable() for line in lines)
    assert len(found.body.encode()) < _MOST_BYTES


def test_long_names_on_all_lines_stay_within_what_sns_takes() -> None:
    wide = "\U0001f980" * 249
    names = [f"{number}{wide}" for number in range(30)]
    risks = {Topic(name, wide, wide): Risk(lost=1, records_lost=3) for name in names}
    today = _clusters(*names, risks=risks)
    links = dict.fromkeys(names, "https://page/" + "%F0%9F%A6%80" * 249)

    found = message(changes(today, None), day=_DAY, today=today, before=None, links=links)

    assert found is not None
    assert len(found.body.encode()) < _MOST_BYTES


def test_a_subject_of_all_kinds_is_cut() -> None:
    found = _worded([_change(kind=kind) for kind in Kind], _clusters("prod"))

    assert len(found.subject) == _MOST_LETTERS
    assert found.subject.startswith(
        "Kafka lag of prod 2026-01-31: 1 with records lost, 1 at risk, "
    )
    assert found.subject.endswith("...")
