# SPDX-License-Identifier: Apache-2.0
"""The cause that a group's trouble has by how it was planted, and what decides it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from dev.causes.cases import Case, Draw, at_begin
from dev.causes.cluster import BEGIN, MINUTE, Cluster, Group, Topic, run_minutes
from kafka_lag import contract
from kafka_lag.cause_texts import describe_ruled_out
from kafka_lag.lag.cause_case import Cause, RuledOut
from kafka_lag.lag.causes import weigh_causes, write_evidence
from kafka_lag.lag.columns import Column
from kafka_lag.lag.group_settings import Rules
from kafka_lag.lag.model import Snapshot

# The minute in which the trouble begins.
TROUBLE = 6
MINUTES = 32


def run(cluster: Cluster, act: Callable[[], None], minutes: int = MINUTES) -> list[Snapshot]:
    """All runs of a cluster to which something happens once."""

    def change(_: Cluster, minute: int) -> None:
        if minute == TROUBLE:
            act()

    return list(run_minutes(cluster, minutes, change))


def two_members(partitions: int = 6, **more: Any) -> Cluster:
    """A topic with 10 records/s a partition, and two members that could read 45 each."""
    topic = Topic("orders", np.full(partitions, 10.0), noise=0.0)
    group = Group("billing", topic, {"m-0": 45.0, "m-1": 45.0}, **more)
    return Cluster([topic], [group], np.random.default_rng(7))


def row(snapshot: Snapshot, group: str = "billing") -> Mapping[str, Any]:
    """The columns of the group's cause."""
    groups = snapshot.groups
    at = groups.strings("consumer_group").to_list().index(group)
    of_cause = ("cause", "cause_since", "cause_evidence")
    names = (*of_cause, "status", "taken_at", "worst_status", "worst_status_since")
    return {name: groups.columns[name].to_list()[at] for name in names}


def evidence(snapshot: Snapshot) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(row(snapshot)["cause_evidence"])
    return found


def first_named(snapshots: list[Snapshot]) -> Snapshot:
    return next(each for each in snapshots if row(each)["cause"] is not None)


def test_a_group_that_keeps_up_has_no_cause() -> None:
    runs = run(two_members(), lambda: None)

    assert {row(each)["cause"] for each in runs} == {None}


def test_more_records_than_before_are_the_cause_where_as_much_is_read_as_before() -> None:
    cluster = two_members()

    def act() -> None:
        cluster.topics[0].rates[:] = 60.0

    runs = run(cluster, act)
    found = evidence(first_named(runs))

    assert row(runs[-1])["cause"] == contract.MORE_PRODUCED
    assert found["produce_rate_before"] == pytest.approx(60, rel=0.1)
    assert found["produce_rate"] == pytest.approx(360, rel=0.25)
    assert row(runs[-1])["cause_since"] == pytest.approx(BEGIN + TROUBLE * MINUTE, abs=3 * MINUTE)


@pytest.mark.parametrize(
    ("rate", "named"),
    [pytest.param(19.0, True, id="above"), pytest.param(14.5, False, id="within-what-it-can")],
)
def test_more_records_are_no_cause_as_long_as_they_are_read(rate: float, named: bool) -> None:
    cluster = two_members()

    def act() -> None:
        cluster.topics[0].rates[:] = rate

    runs = run(cluster, act, 75 if named else 40)

    assert (row(runs[-1])["cause"] == contract.MORE_PRODUCED) is named


def test_members_that_all_read_less_are_the_cause_where_no_more_is_written() -> None:
    cluster = two_members()

    def act() -> None:
        cluster.groups[0].speed = {"m-0": 12.0, "m-1": 12.0}

    runs = run(cluster, act)

    assert row(runs[-1])["cause"] == contract.CAPACITY_FELL
    assert evidence(runs[-1])["consume_rate"] < evidence(runs[-1])["consume_rate_before"] / 2


def test_members_that_left_are_the_cause_where_those_that_stay_read_as_before() -> None:
    cluster = two_members()
    cluster.groups[0].speed = {"m-0": 33.0, "m-1": 33.0}

    def act() -> None:
        del cluster.groups[0].speed["m-1"]

    runs = run(cluster, act)

    assert row(runs[-1])["cause"] == contract.TOO_FEW_MEMBERS
    assert evidence(runs[-1])["members"] == 1
    assert evidence(runs[-1])["members_before"] == pytest.approx(2, abs=0.4)


def test_a_partition_to_which_most_keys_go_is_named_with_its_rate() -> None:
    cluster = two_members()

    def act() -> None:
        cluster.topics[0].rates[:] = [4, 4, 4, 80, 4, 4]

    found = evidence(run(cluster, act)[-1])

    assert (found["topic"], found["partition"], found["member"]) == ("orders", 3, "m-1")
    assert found["key_skew"] is True
    assert found["produce_rate"] > 10 * found["produce_rate_of_others"]


def test_a_partition_is_not_hot_beside_one_that_gets_more_and_is_read_in_time() -> None:
    cluster = two_members()
    cluster.topics[0].rates[:] = [30, 4, 4, 20, 4, 4]

    def act() -> None:
        cluster.groups[0].slow[3] = 3.0

    found = evidence(run(cluster, act)[-1])

    assert found["partition"] == 3
    assert found["key_skew"] is False


def test_a_partition_that_alone_is_read_slowly_is_named_without_key_skew() -> None:
    cluster = two_members()

    def act() -> None:
        cluster.groups[0].slow[2] = 3.0

    runs = run(cluster, act)

    assert row(runs[-1])["cause"] == contract.HOT_PARTITION
    assert evidence(runs[-1])["key_skew"] is False
    assert evidence(runs[-1])["partition"] == 2


@pytest.mark.parametrize("speed", [10.0, 0.0], ids=["slow", "hung"])
def test_a_member_that_alone_is_behind_is_named(speed: float) -> None:
    cluster = two_members()

    def act() -> None:
        cluster.groups[0].speed["m-1"] = speed

    runs = run(cluster, act)

    assert row(runs[-1])["cause"] == contract.SLOW_MEMBER
    assert evidence(runs[-1])["member"] == "m-1"
    assert evidence(runs[-1])["partitions"] == 3


def test_a_record_that_is_not_processed_is_named_by_its_offset() -> None:
    cluster = two_members()
    topic, group = cluster.topics[0], cluster.groups[0]

    def act() -> None:
        group.stuck[4] = float(topic.end[4])

    runs = run(cluster, act)
    found = evidence(runs[-1])

    assert row(runs[-1])["cause"] == contract.STUCK_RECORD
    assert (found["topic"], found["partition"]) == ("orders", 4)
    assert found["offset"] == group.stuck[4]
    assert found["partitions_moving"] == 5
    assert row(runs[-1])["cause_since"] == BEGIN + (TROUBLE - 1) * MINUTE


def test_a_group_without_members_is_stopped_until_it_has_worked_off_its_backlog() -> None:
    cluster = two_members()
    group, speed = cluster.groups[0], dict(cluster.groups[0].speed)

    def change(_: Cluster, minute: int) -> None:
        if minute == TROUBLE:
            group.speed = {}
        if minute == TROUBLE + 14:
            group.speed = {name: each * 3 for name, each in speed.items()}

    runs = list(run_minutes(cluster, 40, change))
    named = [row(each)["cause"] for each in runs]

    assert set(named) == {None, contract.STOPPED}
    assert named[-1] is None


def test_a_group_that_hangs_reads_nothing_whatever_its_averages_say() -> None:
    cluster = two_members()

    def change(_: Cluster, minute: int) -> None:
        if minute == TROUBLE:
            cluster.groups[0].speed = {"m-0": 0.0, "m-1": 0.0}

    last = list(run_minutes(cluster, 30, change))[-1]

    assert row(last)["worst_status"] == contract.STALLED
    assert evidence(last)["consume_rate"] == 0.0


def test_who_reads_again_and_too_slowly_is_not_said_to_have_stopped() -> None:
    cluster = two_members()
    group, speed = cluster.groups[0], dict(cluster.groups[0].speed)

    def change(_: Cluster, minute: int) -> None:
        if minute == TROUBLE:
            group.speed = {}
        if minute == TROUBLE + 14:
            group.speed = dict.fromkeys(speed, 5.0)

    runs = [row(each) for each in run_minutes(cluster, 40, change)]
    stopped = [run for run in runs if run["worst_status"] == contract.STOPPED]
    slow = [run for run in runs[TROUBLE + 14 :] if run["status"] == contract.WARN]

    assert {run["cause"] for run in stopped} == {contract.STOPPED}
    assert contract.STOPPED not in {run["cause"] for run in slow}
    # Nor to have been slow before it stopped.
    assert {run["worst_status_since"] for run in slow} == {slow[0]["taken_at"]}


def run_rebalancing(reads: bool) -> list[Snapshot]:
    """A group that rebalances in each minute from TROUBLE on, and `reads` in half of each."""
    cluster = two_members()
    group = cluster.groups[0]

    def change(_: Cluster, minute: int) -> Callable[[int], None] | None:
        if minute < TROUBLE:
            return None
        group.generation += 1

        def step(number: int) -> None:
            group.rebalancing = number < 5 or not reads

        return step

    return list(run_minutes(cluster, MINUTES, change))


def test_rebalances_without_end_are_the_cause_of_a_group_that_reads_between_them() -> None:
    assert row(run_rebalancing(reads=True)[-1])["cause"] == contract.REBALANCES


@pytest.mark.parametrize(
    ("minutes", "cause"),
    [
        pytest.param(2, contract.REBALANCES, id="in-every-second-reading"),
        pytest.param(3, contract.UNEXPLAINED, id="in-every-third"),
        pytest.param(4, contract.CAPACITY_FELL, id="in-every-fourth"),
    ],
)
def test_rebalances_are_a_cause_or_hide_one_by_how_many_readings_see_them(
    minutes: int, cause: str
) -> None:
    cluster = two_members()

    def change(_: Cluster, minute: int) -> None:
        if minute == TROUBLE:
            _slow_down(cluster)
        cluster.groups[0].generation += minute >= TROUBLE and minute % minutes == 0

    last = list(run_minutes(cluster, 60, change))[-1]

    assert row(last)["cause"] == cause


@pytest.mark.parametrize("reads", [True, False])
def test_what_is_read_between_rebalances_is_nothing_once_no_commit_moves(reads: bool) -> None:
    last = run_rebalancing(reads)[-1]

    assert row(last)["cause"] == contract.REBALANCES
    assert (evidence(last)["consume_rate"] > 0) is reads


def test_a_group_that_has_read_nothing_since_it_was_first_seen_did_not_read_more_before() -> None:
    topic = Topic("orders", np.full(1, 0.2), noise=0.0)
    group = Group("billing", topic, {"m-0": 60.0})

    def change(_: Cluster, minute: int) -> None:
        if minute == 1:
            group.speed = {"m-0": 0.0}

    runs = list(run_minutes(Cluster([topic], [group], np.random.default_rng(7)), MINUTES, change))

    assert row(runs[-1])["status"] == contract.ERR
    assert {row(each)["cause"] for each in runs} <= {None, contract.UNEXPLAINED}


@pytest.mark.parametrize(("first", "second"), [(0, 4), (4, 0)])
def test_of_partitions_without_a_leader_the_first_to_lose_it_is_named(
    first: int, second: int
) -> None:
    cluster = two_members()

    def change(_: Cluster, minute: int) -> None:
        lost = {TROUBLE: first, TROUBLE + 4: second}.get(minute)
        if lost is not None:
            cluster.topics[0].has_leader[lost] = False

    last = list(run_minutes(cluster, TROUBLE + 10, change))[-1]

    (found,) = [each for each in weigh_causes(last, "billing", Rules()) if isinstance(each, Cause)]
    assert found.name == contract.UNAVAILABLE
    assert found.evidence["partitions_without_leader"] == 2
    assert found.evidence["partition"] == first
    assert found.since == pytest.approx(BEGIN + TROUBLE * MINUTE, abs=2 * MINUTE)


def several_groups(count: int, partitions: int = 6) -> Cluster:
    """Groups with topics of their own, whose partitions lie under three brokers in turn."""
    topics = [Topic(f"t-{each}", np.full(partitions, 10.0), noise=0.0) for each in range(count)]
    groups = [
        Group(f"g-{number}", topic, {f"{number}-{each}": 60.0 for each in range(2)})
        for number, topic in enumerate(topics)
    ]
    return Cluster(topics, groups, np.random.default_rng(3))


@pytest.mark.parametrize(
    ("groups", "partitions", "named"),
    [(2, 6, True), (1, 6, False), (3, 3, True), (2, 3, False)],
    ids=["two", "one", "on-three-partitions", "on-two-partitions"],
)
def test_a_broker_is_blamed_by_two_groups_on_three_partitions(
    groups: int, partitions: int, named: bool
) -> None:
    cluster = several_groups(groups, partitions)

    def act() -> None:
        cluster.broker_limit[2] = 2.0

    runs = run(cluster, act)

    causes = {row(runs[-1], f"g-{each}")["cause"] for each in range(groups)}
    assert (causes == {contract.SLOW_BROKER}) is named


def test_partitions_without_a_leader_are_named_from_the_second_run_on() -> None:
    cluster = two_members()

    def act() -> None:
        cluster.topics[0].has_leader[1] = False

    runs = run(cluster, act, TROUBLE + 3)

    assert row(runs[TROUBLE])["cause"] is None
    assert row(runs[TROUBLE + 1])["cause"] == contract.UNAVAILABLE
    assert evidence(runs[TROUBLE + 1])["partition"] == 1


@pytest.mark.parametrize(
    ("healthy_in_sync", "named"),
    [pytest.param(3, True, id="only-those-behind"), pytest.param(1, False, id="others-too")],
)
def test_partitions_out_of_step_are_blamed_where_the_others_are_in_step(
    healthy_in_sync: int, named: bool
) -> None:
    cluster = two_members()

    def act() -> None:
        cluster.topics[0].in_sync[:] = healthy_in_sync
        cluster.topics[0].in_sync[[0, 3]] = 1
        cluster.groups[0].slow |= {0: 3.0, 3: 3.0}

    runs = run(cluster, act)

    assert (row(runs[-1])["cause"] == contract.UNAVAILABLE) is named


def test_what_is_deleted_of_a_group_that_commits_nothing_is_no_race() -> None:
    cluster = two_members(commit_every=100_000)
    cluster.topics[0].kept_seconds = 90.0

    runs = run(cluster, lambda: None, 8)

    assert [row(each)["status"] for each in runs[1:]] == [contract.ERR] * 7
    assert contract.RETENTION_RACE not in {row(each)["cause"] for each in runs}


def test_retention_that_deletes_what_is_read_a_little_later_is_the_cause() -> None:
    cluster = two_members(commit_every=24)

    def act() -> None:
        cluster.topics[0].kept_seconds = 90.0

    runs = run(cluster, act)

    assert row(first_named(runs))["cause"] == contract.RETENTION_RACE
    assert evidence(first_named(runs))["records_lost"] > 0


def test_an_open_transaction_is_the_cause_of_a_group_that_it_holds_up() -> None:
    cluster = two_members()
    topic = cluster.topics[0]

    def act() -> None:
        topic.stable[2] = float(topic.end[2])

    runs = run(cluster, act, TROUBLE + 5)

    assert row(runs[-1])["cause"] == contract.OPEN_TRANSACTION
    assert (evidence(runs[-1])["topic"], evidence(runs[-1])["partition"]) == ("orders", 2)


def test_offsets_that_were_set_back_are_the_cause_while_they_are_read_again() -> None:
    cluster = two_members()
    group = cluster.groups[0]

    def act() -> None:
        group.position -= 10_000
        group.committed -= 10_000

    runs = run(cluster, act, TROUBLE + 5)

    assert row(runs[-1])["cause"] == contract.OFFSETS_RESET
    assert evidence(runs[-1])["rewound_from"] > evidence(runs[-1])["committed_offset"]


def test_a_topic_made_anew_is_named_beside_a_commit_beyond_its_end() -> None:
    cluster = two_members()

    runs = run(cluster, cluster.topics[0].recreate, TROUBLE + 3)

    assert row(runs[-1])["cause"] == contract.OFFSETS_RESET
    assert evidence(runs[-1])["committed_offset"] > evidence(runs[-1])["end_offset"]
    assert evidence(runs[-1])["topic_was"] == contract.MADE_ANEW


def test_a_topic_whose_end_went_back_under_its_id_was_cut() -> None:
    cluster = two_members()

    def act() -> None:
        cluster.topics[0].end[:] = 0.0

    found = evidence(run(cluster, act, TROUBLE + 3)[-1])

    assert found["topic_was"] == contract.CUT


def test_a_commit_that_went_beyond_the_end_says_nothing_of_the_topic() -> None:
    cluster = two_members()
    group = cluster.groups[0]

    def act() -> None:
        group.position += 10_000
        group.committed += 10_000

    found = evidence(run(cluster, act, TROUBLE + 4)[-1])

    assert found["committed_offset"] > found["end_offset"]
    assert "topic_was" not in found


def test_a_cause_by_rates_stays_while_the_backlog_is_worked_off() -> None:
    cluster = two_members()

    def change(_: Cluster, minute: int) -> None:
        if minute == TROUBLE:
            cluster.groups[0].speed = {"m-0": 5.0, "m-1": 5.0}
        if minute == TROUBLE + 20:
            cluster.groups[0].speed = {"m-0": 36.0, "m-1": 36.0}

    runs = list(run_minutes(cluster, 75, change))
    named = [row(each)["cause"] for each in runs if row(each)["status"] != contract.OK]

    assert set(named[3:]) == {contract.CAPACITY_FELL}


def test_a_cause_by_rates_gives_way_to_one_that_is_proven_later() -> None:
    cluster = two_members()

    def change(_: Cluster, minute: int) -> None:
        if minute == TROUBLE:
            cluster.groups[0].speed = {"m-0": 12.0, "m-1": 12.0}
        if minute == TROUBLE + 20:
            cluster.groups[0].speed = {}

    runs = list(run_minutes(cluster, 45, change))

    assert row(runs[TROUBLE + 19])["cause"] == contract.CAPACITY_FELL
    assert row(runs[-1])["cause"] == contract.STOPPED
    assert evidence(runs[-1])["members"] == 0


def test_what_is_too_little_to_tell_is_unexplained() -> None:
    """A group seen behind from its first run on, of which no capacity is known."""
    cluster = two_members(partitions=1)
    cluster.groups[0].speed = {"m-0": 9.0}
    cluster.topics[0].end += 50_000

    runs = run(cluster, lambda: None)

    assert {row(each)["cause"] for each in runs[-5:]} == {contract.UNEXPLAINED}


def test_what_a_group_is_compared_with_is_not_learnt_while_it_is_behind() -> None:
    cluster = two_members()

    def act() -> None:
        cluster.topics[0].rates[:] = 40.0

    runs = run(cluster, act)
    kept_up = [each.groups.numbers("kept_up_produce_rate").to_list()[0] for each in runs]

    assert kept_up[-1] == pytest.approx(60, rel=0.15)
    assert runs[-1].groups.numbers("kept_up_at").to_list()[0] < BEGIN + (TROUBLE + 4) * MINUTE


def idle_and_behind() -> Snapshot:
    """To two partitions nothing is written; both are set back, and not read again."""
    cluster = two_members()
    cluster.topics[0].rates[4:] = 0.0

    def act() -> None:
        cluster.groups[0].position[4:] = 100.0
        cluster.groups[0].stuck.update({4: 100.0, 5: 100.0})

    return run(cluster, act)[-1]


def test_a_backlog_to_which_nothing_is_written_is_explained_by_no_rate() -> None:
    last = idle_and_behind()
    rates = {contract.TOO_FEW_MEMBERS, contract.MORE_PRODUCED, contract.CAPACITY_FELL}
    out = {
        each.name: each.compute()
        for each in weigh_causes(last, "billing", Rules())
        if isinstance(each, RuledOut) and each.name in rates
    }

    assert row(last)["cause"] == contract.OFFSETS_RESET
    assert row(last)["worst_status"] == contract.STALLED
    nothing = {"partitions_behind": 2, "partitions_read": 6, "produce_rate": 0.0}
    assert out == dict.fromkeys(rates, nothing)


@pytest.mark.parametrize(
    ("records", "compared"),
    [pytest.param(0.98, False, id="less"), pytest.param(1.02, True, id="more")],
)
def test_a_record_in_ten_minutes_is_the_least_that_rates_are_compared_by(
    records: float, compared: bool
) -> None:
    last = idle_and_behind()
    topics = last.topic_partitions
    idle = Column.of(topics.numbers("partition_id").values >= 4)
    few = Column.of(np.full(len(topics), records / 600 / 2))
    rates = few.where(idle.values, topics.numbers("produce_rate"))
    last = replace(last, topic_partitions=topics.with_columns(produce_rate=rates))
    findings = weigh_causes(last, "billing", Rules())
    out = {each.name: each.compute() for each in findings if isinstance(each, RuledOut)}

    assert ("partitions_behind" not in out.get(contract.CAPACITY_FELL, {})) is compared


def test_names_in_the_evidence_are_cut() -> None:
    cluster = two_members()
    long = "m-1" + "x" * 1_000
    cluster.groups[0].speed = {"m-0": 45.0, long: 45.0}

    def act() -> None:
        cluster.groups[0].speed[long] = 8.0

    assert len(evidence(run(cluster, act)[-1])["member"]) == 200


def test_cases_are_drawn_alike_each_time() -> None:
    def draw() -> Case:
        made = Draw(np.random.default_rng(5), "small")
        made.group(made.topic())
        return made.case("x", at_begin(lambda: None), {})

    one, other = draw(), draw()

    assert one.cluster.topics[0].rates.tolist() == other.cluster.topics[0].rates.tolist()
    assert one.cluster.groups[0].speed == other.cluster.groups[0].speed


def _crowd(cluster: Cluster) -> None:
    cluster.topics[0].rates[:] = 60.0


def _slow_down(cluster: Cluster) -> None:
    cluster.groups[0].speed = {"m-0": 12.0, "m-1": 12.0}


def _leave(cluster: Cluster) -> None:
    cluster.groups[0].speed = {}


def _stick(cluster: Cluster) -> None:
    cluster.groups[0].stuck[2] = float(cluster.topics[0].end[2])


def _skew(cluster: Cluster) -> None:
    cluster.topics[0].rates[:] = [4, 4, 4, 80, 4, 4]


def _slow_one(cluster: Cluster) -> None:
    cluster.groups[0].speed["m-1"] = 12.0


PLANTED = {
    contract.MORE_PRODUCED: _crowd,
    contract.CAPACITY_FELL: _slow_down,
    contract.STOPPED: _leave,
    contract.STUCK_RECORD: _stick,
    contract.HOT_PARTITION: _skew,
    contract.SLOW_MEMBER: _slow_one,
}


@pytest.fixture(name="named", scope="module")
def _named() -> dict[str, Snapshot]:
    """The run that names each of these causes."""
    found = {}
    for cause, act in PLANTED.items():
        cluster = two_members()
        found[cause] = first_named(run(cluster, partial(act, cluster)))
    return found


@pytest.mark.parametrize("cause", PLANTED)
def test_rules_find_in_a_snapshot_what_its_run_named_with_the_same_evidence(
    named: dict[str, Snapshot], cause: str
) -> None:
    snapshot = named[cause]
    first = next(
        each for each in weigh_causes(snapshot, "billing", Rules()) if isinstance(each, Cause)
    )

    assert (first.name, first.since) == (cause, row(snapshot)["cause_since"])
    assert write_evidence(first.evidence) == row(snapshot)["cause_evidence"]


@pytest.mark.parametrize("cause", PLANTED)
def test_each_cause_is_weighed_and_what_is_ruled_out_has_a_sentence_with_its_numbers(
    named: dict[str, Snapshot], cause: str
) -> None:
    findings = weigh_causes(named[cause], "billing", Rules())
    out = [each for each in findings if isinstance(each, RuledOut)]
    sentences = {each.name: describe_ruled_out(each.name, each.compute()) for each in out}

    assert {each.name for each in findings} == {*contract.CAUSES} - {contract.UNEXPLAINED}
    assert cause not in sentences or cause == contract.HOT_PARTITION
    assert [each for each in sentences.values() if "{" in each or "never seen" in each] == []


def test_a_number_that_rules_a_cause_out_stands_beside_its_limit(
    named: dict[str, Snapshot],
) -> None:
    findings = weigh_causes(named[contract.CAPACITY_FELL], "billing", Rules())
    out = {each.name: each.compute() for each in findings if isinstance(each, RuledOut)}
    more = out[contract.MORE_PRODUCED]

    assert more["produce_rate"] < more["produce_rate_from"]
    assert more["produce_rate_from"] == pytest.approx(1.1 * more["produce_rate_before"], rel=0.05)
    assert out[contract.SLOW_MEMBER] == {"members_behind": 2, "members_read": 2}


def test_a_group_that_a_run_does_not_have_is_not_weighed(named: dict[str, Snapshot]) -> None:
    assert weigh_causes(named[contract.STOPPED], "nobody", Rules()) == ()


def test_a_cause_that_rates_made_likely_gives_way_to_one_that_is_proven() -> None:
    cluster = two_members()

    def change(_: Cluster, minute: int) -> None:
        if minute == TROUBLE:
            _slow_down(cluster)
        if minute == MINUTES:
            _leave(cluster)

    named = [row(each)["cause"] for each in run_minutes(cluster, MINUTES + 14, change)]

    assert named[MINUTES - 1] == contract.CAPACITY_FELL
    assert named[-1] == contract.STOPPED


def test_a_partition_that_waits_for_a_hot_one_of_its_member_hides_no_cause() -> None:
    cluster = two_members()

    def act() -> None:
        cluster.topics[0].rates[:] = [4, 4, 4, 80, 4, 4]
        cluster.groups[0].slow[1] = 2.0

    last = run(cluster, act)[-1]

    assert row(last)["cause"] == contract.HOT_PARTITION
    assert evidence(last)["partition"] == 3


def test_a_member_is_slow_that_cannot_read_what_another_one_can_though_more_is_written() -> None:
    cluster = two_members()

    def act() -> None:
        cluster.topics[0].rates[:] = 15.0
        cluster.groups[0].speed = {"m-0": 60.0, "m-1": 32.0}

    last = run(cluster, act, 60)[-1]

    assert row(last)["cause"] == contract.SLOW_MEMBER
    assert evidence(last)["member"] == "m-1"


@pytest.mark.parametrize(
    ("speed", "cause"),
    [
        pytest.param(42.0, contract.TOO_FEW_MEMBERS, id="as-many-as-before-would-do"),
        pytest.param(33.0, contract.MORE_PRODUCED, id="as-many-as-before-would-not"),
    ],
)
def test_members_are_missing_though_more_is_written_where_as_many_as_before_would_do(
    speed: float, cause: str
) -> None:
    cluster = two_members()
    cluster.groups[0].speed = {"m-0": speed, "m-1": speed}

    def act() -> None:
        cluster.topics[0].rates[:] = 11.8
        del cluster.groups[0].speed["m-1"]

    named = {row(each)["cause"] for each in run(cluster, act, 60)} - {None}

    assert (contract.TOO_FEW_MEMBERS in named) is (cause == contract.TOO_FEW_MEMBERS)


def test_the_first_rate_that_is_seen_of_a_group_does_not_count_for_hours() -> None:
    cluster = two_members()
    cluster.groups[0].speed = {"m-0": 900.0, "m-1": 900.0}

    def change(_: Cluster, minute: int) -> None:
        cluster.topics[0].rates[:] = 100.0 if minute <= 1 else 10.0

    last = list(run_minutes(cluster, 40, change))[-1]

    assert last.groups.numbers("kept_up_produce_rate").to_list()[0] < 400


def test_a_partition_whose_age_may_be_next_to_nothing_is_not_behind() -> None:
    cluster = two_members()

    def act() -> None:
        cluster.topics[0].rates[:] = [4, 4, 4, 80, 4, 4]

    last = run(cluster, act)[-1]
    rows = last.group_partitions
    is_first = rows.numbers("partition_id") == 0
    unsure = Column.of(np.full(len(rows), 500.0))
    rows = rows.with_columns(
        lag=Column.of(np.full(len(rows), 3)).where(is_first, rows.numbers("lag")),
        time_lag_seconds=unsure.where(is_first, rows.numbers("time_lag_seconds")),
        time_lag_error_seconds=unsure.where(is_first, rows.numbers("time_lag_error_seconds")),
    )
    (found, *_) = [
        each
        for each in weigh_causes(replace(last, group_partitions=rows), "billing", Rules())
        if isinstance(each, Cause)
    ]

    assert (found.name, found.evidence["partition"]) == (contract.HOT_PARTITION, 3)


def test_a_member_that_commits_nothing_reads_nothing_since_then() -> None:
    cluster = two_members()

    def act() -> None:
        cluster.groups[0].speed["m-1"] = 0.0

    found = evidence(run(cluster, act)[-1])

    assert found["consume_rate"] == 0.0
    assert found["stands_since"] == BEGIN + (TROUBLE - 1) * MINUTE


@pytest.mark.parametrize(
    ("epoch", "back", "named"),
    [
        pytest.param(0, 1_500, False, id="read-again"),
        pytest.param(None, 1_500, True, id="set-without-an-epoch"),
        pytest.param(0, 9_000, True, id="far"),
    ],
)
def test_what_new_owners_read_again_after_a_rebalance_was_set_back_by_nobody(
    epoch: int | None, back: int, named: bool
) -> None:
    cluster = two_members()
    group = cluster.groups[0]
    group.commit_epoch = 0

    def act() -> None:
        group.generation += 1
        group.position -= back
        group.committed -= back
        group.commit_epoch = epoch

    causes = {row(each)["cause"] for each in run(cluster, act, TROUBLE + 6)}

    assert (contract.OFFSETS_RESET in causes) is named


def test_what_is_read_says_nothing_of_capacity_while_members_come_and_go() -> None:
    cluster = two_members()

    def change(_: Cluster, minute: int) -> None:
        if minute == TROUBLE:
            _slow_down(cluster)
        cluster.groups[0].generation += minute >= TROUBLE and minute % 3 == 0

    named = {row(each)["cause"] for each in run_minutes(cluster, MINUTES, change)}

    assert named == {None, contract.UNEXPLAINED}


@pytest.mark.parametrize(
    ("epochs", "named"), [(1, True), (0, False)], ids=["again-and-again", "one-that-goes-on"]
)
def test_a_rebalance_that_members_read_on_in_is_not_one_after_another(
    epochs: int, named: bool
) -> None:
    cluster = two_members()
    group = cluster.groups[0]
    group.epoch = 3

    def change(_: Cluster, minute: int) -> None:
        if minute >= TROUBLE:
            group.state = "Reconciling"
            group.epoch = (group.epoch or 0) + epochs
            group.speed = dict.fromkeys(group.speed, 12.0)

    last = list(run_minutes(cluster, MINUTES, change))[-1]

    assert row(last)["status"] == contract.WARN
    assert (row(last)["cause"] == contract.REBALANCES) is named


@pytest.mark.parametrize(
    ("minute", "named"),
    [pytest.param(TROUBLE + 6, True, id="later"), pytest.param(TROUBLE, False, id="at-once")],
)
def test_a_group_that_hangs_after_it_was_behind_under_a_slow_broker_owes_it_to_that(
    minute: int, named: bool
) -> None:
    cluster = several_groups(3)

    def change(_: Cluster, now: int) -> None:
        if now == TROUBLE:
            cluster.broker_limit[2] = 2.0
        if now == minute:
            cluster.groups[0].speed = dict.fromkeys(cluster.groups[0].speed, 0.0)

    last = list(run_minutes(cluster, MINUTES, change))[-1]

    assert row(last, "g-1")["cause"] == contract.SLOW_BROKER
    assert (row(last, "g-0")["cause"] == contract.SLOW_BROKER) is named


def test_what_changed_while_nobody_looked_is_not_known_by_rates() -> None:
    cluster = two_members()

    def change(_: Cluster, minute: int) -> None:
        if minute == TROUBLE:
            _slow_down(cluster)

    away = range(TROUBLE, TROUBLE + 6)
    runs = list(run_minutes(cluster, MINUTES, change, unseen=away))

    assert row(runs[-1])["status"] == contract.WARN
    assert {row(each)["cause"] for each in runs} == {None, contract.UNEXPLAINED}


def test_nothing_is_named_in_the_first_run_after_a_long_time_without_one() -> None:
    cluster = two_members()
    cluster.topics[0].end += 100_000
    cluster.groups[0].position += 100_000

    def change(_: Cluster, minute: int) -> None:
        if minute == TROUBLE:
            cluster.groups[0].position -= 50_000

    away = range(TROUBLE, TROUBLE + 20)
    first, second, *_ = list(run_minutes(cluster, MINUTES, change, unseen=away))[TROUBLE:]

    assert (row(first)["status"], row(first)["cause"]) == (contract.ERR, None)
    assert row(second)["cause"] == contract.OFFSETS_RESET


def test_a_group_that_kept_up_with_many_times_as_much_is_compared_with_that() -> None:
    cluster = two_members()
    cluster.groups[0].speed = {"m-0": 200.0, "m-1": 200.0}

    def change(_: Cluster, minute: int) -> None:
        if minute == TROUBLE:
            cluster.topics[0].rates[:] = 50.0
        if minute == TROUBLE + 14:
            cluster.groups[0].speed = {"m-0": 60.0, "m-1": 60.0}

    last = list(run_minutes(cluster, MINUTES + 14, change))[-1]

    assert row(last)["cause"] == contract.CAPACITY_FELL
