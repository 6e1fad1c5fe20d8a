# SPDX-License-Identifier: Apache-2.0
"""Answers that cannot be right cost only their own item, which is named."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain, count, cycle
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.brokers.reading import ReadRequest
from kafka_lag.lag.group_settings import NameFilter
from tests.builders import table
from tests.functions.brokers.brokers import Brokers, Runs, Topic

Change = Callable[[Any], None]

_READ = ("topic", "partition_id", "start_offset", "end_offset", "unread_reason")


def _runs() -> Runs:
    topics = {"a": Topic([(0, 10), (2, 20)]), "b": Topic([(0, 30), (3, 40), (0, 50)])}
    return Runs(Brokers(topics, {"g": {"a": [10, 15]}, "h": {"b": [30, 35, 50]}}))


def _changed(kind: str, change: Change) -> Runs:
    """Runs whose first is over; in the next each answer of this kind is changed."""
    runs = _runs()
    runs()

    def changed(_: Any, answer: Any) -> Any:
        if runs.brokers.kinds[-1] == kind:
            change(answer)
        return answer

    runs.brokers.change = changed
    return runs


def _part(number: int, offset: int) -> Any:
    return SimpleNamespace(partition_index=number, error_code=0, offset=offset, timestamp=-1)


def _topics(runs: Runs) -> list[tuple[Any, ...]]:
    return table(runs.collector.memory.newest.topic_partitions, *_READ)


def _set(path: str, value: Any) -> Change:
    """Sets one field of an answer, as in topics.0.partitions.1.offset."""

    def change(answer: Any) -> None:
        *steps, last = path.split(".")
        for step in steps:
            if step.isdigit() and int(step) >= len(answer):
                return
            answer = answer[int(step)] if step.isdigit() else getattr(answer, step)
        if isinstance(answer, list):
            answer[int(last)] = value
        else:
            setattr(answer, last, value)

    return change


def _list_at(answer: Any, path: str) -> Any:
    for step in path.split("."):
        answer = answer[int(step)] if step.isdigit() else getattr(answer, step)
    return answer


def _without(path: str) -> Change:
    """Takes the first item out of one list of an answer."""
    return lambda answer: _list_at(answer, path).pop(0) if _list_at(answer, path) else None


def _more(path: str, item: Any) -> Change:
    return lambda answer: _list_at(answer, path).append(item)


# Kind of answer, what is wrong with it, the partitions it costs and what the log says.
_OFFSETS: list[tuple[str, Change, set[tuple[str, int]], str]] = [
    ("Ends", _set("topics.0.name", "x"), {("a", 0), ("a", 1)}, "answered ListOffsets for 'x'-0"),
    ("Starts", _set("topics.0.name", "x"), {("a", 0), ("a", 1)}, "left out of the answer"),
    (
        "Ends",
        _more("topics.0.partitions", _part(2, 7)),
        set(),
        "ListOffsets for 'a'-2, not requested",
    ),
    (
        "Ends",
        _more("topics.0.partitions", _part(-1, 7)),
        set(),
        "ListOffsets for 'a'--1, not requested",
    ),
    (
        "Ends",
        _set("topics.0.partitions.1.partition_index", 2),
        {("a", 1)},
        "left out of the answer",
    ),
    ("Ends", _more("topics.0.partitions", _part(1, 7)), {("a", 1)}, "answered twice"),
    ("Ends", _without("topics"), {("a", 0), ("a", 1)}, "left out of the answer to ListOffsets"),
    ("Ends", _without("topics.1.partitions"), {("b", 0)}, "left out of the answer to ListOffsets"),
    ("Ends", _set("topics.0.partitions.0.offset", -7), {("a", 0)}, "answered offset -7"),
    ("Ends", _set("topics.0.partitions.0.offset", -1), {("a", 0)}, "answered offset -1"),
    (
        "Starts",
        _set("topics.1.partitions.2.offset", 51),
        {("b", 2)},
        "log start 51 beyond log end 50",
    ),
    ("Ends", _set("topics.0.partitions.0.error_code", 9999), {("a", 0)}, "error code 9999"),
    ("Ends", _set("topics.0.partitions", None), {("a", 0), ("a", 1)}, "left out of the answer"),
]


@pytest.mark.parametrize(("kind", "change", "lost", "said"), _OFFSETS)
def test_an_odd_offset_costs_its_partition_and_is_named(
    kind: str, change: Change, lost: set[tuple[str, int]], said: str
) -> None:
    runs = _changed(kind, change)
    before = _topics(runs)
    runs()
    assert [row[:4] for row in _topics(runs)] == [row[:4] for row in before]
    assert {row[:2] for row in _topics(runs) if row[4] == "error"} == lost
    assert any(said in line for line in runs.logger.warnings), runs.logger.warnings


_SECOND = "topics.0.partitions.1.partition_index"


@pytest.mark.parametrize(
    ("change", "unread", "said"),
    [
        (_without("topics.0.partitions"), {"a"}, "names partition 1 where 0 should be"),
        (_set(_SECOND, 0), {"a"}, "partition 0 where 1 should"),
        (_set(_SECOND, -1), {"a"}, "names partition -1 where 0"),
        (_set(_SECOND, 2**31 - 1), {"a"}, "where 1 should be"),
        (_set("topics.0.partitions", []), {"a"}, "names none of its partitions"),
        (_set("topics.0.partitions", None), {"a"}, "names none of its partitions"),
        (_set("topics.1.name", "a"), {"a", "b"}, "the metadata names it twice"),
    ],
    ids=["a hole", "a duplicate", "negative", "beyond all", "no partition", "null", "twice"],
)
def test_a_topic_that_is_oddly_described_is_unread_as_a_whole(
    change: Change, unread: set[str], said: str
) -> None:
    runs = _changed("Metadata", change)
    before = _topics(runs)
    runs()
    rows = {(row[0], row[1]): row for row in _topics(runs)}
    assert {topic for (topic, _), row in rows.items() if row[4] is not None} <= unread
    assert {row[0] for row in rows.values() if row[4] == "error"} >= {"a"}
    assert sorted(row[:4] for row in rows.values()) == sorted(row[:4] for row in before)
    assert any(said in line for line in runs.logger.warnings), runs.logger.warnings


_COMMIT = "groups.0.topics.0.partitions.0."
# As above; what is said of a group or of the broker that answered.
_GROUPS: list[tuple[str, Change, str]] = [
    ("OffsetFetch", _set("groups.0.group_id", "x"), "commits: left out of the answer to OffsetF"),
    (
        "OffsetFetch",
        _set("groups.0.group_id", "x"),
        "answered OffsetFetch for group 'x', not requested",
    ),
    ("OffsetFetch", _set("groups", None), "commits: left out of the answer to OffsetFetch"),
    ("OffsetFetch", _set(_COMMIT + "partition_index", 1), "commit of a-1: answered twice"),
    ("OffsetFetch", _set(_COMMIT + "error_code", 88), "commit of a-0: UNSTABLE_OFFSET_COMMIT"),
    ("DescribeGroups", _set("groups.0.group_id", "x"), "members: left out of the answer to Desc"),
    (
        "DescribeGroups",
        _set("groups.0.group_id", "x"),
        "DescribeGroups for group 'x', not requested",
    ),
    ("DescribeGroups", _set("groups", None), "members: left out of the answer to DescribeGroups"),
]


@pytest.mark.parametrize(("kind", "change", "said"), _GROUPS)
def test_a_group_that_is_oddly_answered_is_named_and_keeps_its_rows(
    kind: str, change: Change, said: str
) -> None:
    runs = _changed(kind, change)
    before = _rows(runs)
    runs()
    assert any(said in line for line in runs.logger.warnings), runs.logger.warnings
    assert sorted(row[:3] for row in _rows(runs)) == [row[:3] for row in before]


@pytest.mark.parametrize("offset", [-2, -1001, -(2**63)])
def test_a_negative_offset_that_a_client_committed_is_no_commit(offset: int) -> None:
    topics = {"b": Topic([(0, 30), (3, 40), (0, 50)])}
    runs = Runs(Brokers(topics, {"g": {"b": [28, offset, offset]}, "h": {"b": [30, 40, -1]}}))
    for _ in range(2):
        published = runs()
        assert published[("shop", "g"), "OffsetLag"] == 2
        assert published[("shop",), "ReadErrors"] == 0
        assert published[("shop",), "PartitionsUncommitted"] == 3
        assert runs.logger.warnings == []
    assert runs.brokers.read().notes == (
        f"group 'g' committed offset {offset} on b-1, which is not a position to read from: the "
        "partition counts as uncommitted, like 1 other partition with such a commit",
    )


def test_a_group_that_a_listing_left_out_is_read_in_the_next_run_and_then_asked_for_by_name() -> (
    None
):
    """As brokers do while its coordinator moves, without an error."""
    runs = _runs()
    runs.brokers.coordinators["g"] = 9
    assert (("shop", "g"), "OffsetLag") not in runs()
    del runs.brokers.coordinators["g"]
    assert runs()[("shop", "g"), "OffsetLag"] == 5
    runs.brokers.change = lambda _, answer: _unlisting(runs, "g", answer)
    assert runs()[("shop", "g"), "OffsetLag"] == 5
    runs.brokers.lasting["FindCoordinator", "g"] = 15
    runs()
    groups = runs.collector.memory.newest.groups
    assert ("g", contract.NO_COORDINATOR) in table(groups, "consumer_group", "unread_reason")
    assert [line for line in runs.logger.warnings if line.startswith("group 'g' not read")]


def _unlisting(runs: Runs, name: str, answer: Any) -> Any:
    if runs.brokers.kinds[-1] == "ListGroups":
        answer.groups = [group for group in answer.groups if group.group_id != name]
    return answer


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("FindCoordinator", _set("coordinators.0.key", "x")),
        ("FindCoordinator", _set("coordinators", None)),
        ("FindCoordinator", _set("coordinators.0.node_id", -1)),
        ("DescribeGroups", _set("groups.0.group_id", "x")),
    ],
)
def test_a_search_for_a_group_that_is_oddly_answered_keeps_the_group_unread(
    kind: str, change: Change
) -> None:
    runs = _changed(kind, change)
    spoil = runs.brokers.change
    runs.brokers.change = lambda request, answer: _unlisting(runs, "g", spoil(request, answer))
    runs()
    groups = runs.collector.memory.newest.groups
    rows = dict(table(groups, "consumer_group", "unread_reason"))
    assert rows["g"] in {contract.ERROR, contract.NO_COORDINATOR}


def _rows(runs: Runs) -> list[tuple[Any, ...]]:
    rows = runs.collector.memory.newest.group_partitions
    return table(rows, "consumer_group", "topic", "partition_id", "unread_reason")


def _renaming(names: Iterator[str]) -> Change:
    """Puts the next of these in place of each group's first topic."""

    def change(answer: Any) -> None:
        for group in answer.groups:
            for topic in group.topics[:1]:
                topic.name = next(names)

    return change


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (map("damaged-{}".format, count()), "error"),
        (chain(["damaged", "other"], cycle("ab")), None),
    ],
    ids=["each time", "right when it comes again"],
)
def test_damaged_topic_names_of_commits_keep_every_row_and_are_requested_again(
    names: Iterator[str], reason: str | None
) -> None:
    runs = _changed("OffsetFetch", _renaming(names))
    before = _rows(runs)
    values = runs()
    assert _rows(runs) == [(*row[:3], reason) for row in before]
    assert values[("shop",), "ReadErrors"] == (2 if reason else 0)
    named = [line for line in runs.logger.warnings if "fit no topic of the metadata" in line]
    assert bool(named) is bool(reason)
    runs.brokers.change = lambda _, answer: answer
    assert runs()[("shop",), "ReadErrors"] == 0
    assert _rows(runs) == before


def test_commits_left_behind_on_a_topic_that_does_not_exist_are_no_error() -> None:
    runs = _runs()
    runs.brokers.groups["g"] = {"a": [10, 15], "deleted": [3]}
    values = runs()
    assert (values[("shop",), "ReadErrors"], values[("shop", "g"), "OffsetLag"]) == (0, 5)


def test_commits_on_topics_that_nobody_wants_leave_the_group_read_by_one_request() -> None:
    """A listing leaves out what this principal may not describe."""
    topics = {"a": Topic([(0, 10)]), "b": Topic([(0, 30)])}
    brokers = Brokers(topics, {"g": {"a": [10], "b": [20]}})
    runs = Runs(brokers, topics=NameFilter(allow=re.compile("a")))
    assert runs()[("shop", "g"), "OffsetLag"] == 0
    assert brokers.kinds.count("OffsetFetch") == 1
    brokers.lasting["Metadata", "b"] = 29
    brokers.change = lambda _, answer: _without_hidden(brokers, answer)
    runs = Runs(brokers, topics=NameFilter(allow=re.compile("a")))
    assert runs()[("shop", "g"), "OffsetLag"] == 0
    wanting = Runs(brokers)
    assert (("shop", "g"), "OffsetLag") not in wanting()


def _without_hidden(brokers: Brokers, answer: Any) -> Any:
    if brokers.kinds[-1] == "Metadata" and brokers.requests[-1].topics is None:
        answer.topics = [topic for topic in answer.topics if not topic.error_code]
    return answer


def test_a_first_listing_with_a_damaged_name_leaves_its_groups_unread_and_names_both() -> None:
    runs = _runs()
    damage = iter([_set("topics.0.name", "x")])

    def change(_: Any, answer: Any) -> Any:
        if runs.brokers.kinds[-1] == "Metadata":
            next(damage, lambda _: None)(answer)
        return answer

    runs.brokers.change = change
    values = runs()
    groups = runs.collector.memory.newest.groups
    assert table(groups, "consumer_group", "lag", "unread_reason") == [
        ("g", None, "error"),
        ("h", 5, None),
    ]
    assert (("shop", "g"), "OffsetLag") not in values
    named = sorted(line.partition(" not read")[0] for line in runs.logger.warnings)
    assert named == ["group 'g'", "topic 'a'"]
    assert runs()[("shop", "g"), "OffsetLag"] == 5


def test_a_known_topic_that_is_not_listed_is_hidden_or_gone_unless_nobody_wants_it() -> None:
    brokers = Brokers({"orders": Topic([(0, 10)]), "secret": Topic([(0, 30)])}, {})
    brokers.lasting["Metadata", "secret"] = 29
    brokers.change = lambda _, answer: _without_hidden(brokers, answer)
    known = frozenset({"orders", "secret", "deleted"})
    reading = brokers.read(ReadRequest(known_topics=known))
    assert dict(reading.hidden_topics) == {"secret": "denied"}
    assert reading.gone_topics == {"deleted"}
    assert table(reading.topic_partitions, "topic") == [("orders",)]
    brokers.kinds.clear()
    only = NameFilter(deny=re.compile("orders|secret|deleted"))
    assert len(brokers.read(ReadRequest(topics=only, known_topics=known)).topic_partitions) == 0
    assert brokers.kinds.count("Metadata") == 1
