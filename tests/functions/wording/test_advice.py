# SPDX-License-Identifier: Apache-2.0
"""The advice: it never contradicts what the group does, and never repeats itself."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from kafka_lag import contract
from kafka_lag.wording.advice import advise
from tests.golden import Golden

STATUSES = (None, *contract.CONSUMER_STATUS_SEVERITIES)
LOSSES: tuple[dict[str, Any], ...] = ({}, {"records_lost": 5}, {"seconds_until_loss": 60.0})


def a_row(**more: Any) -> dict[str, Any]:
    """A group of 12 partitions and 3 members, as its row of `groups` has them."""
    row = {"consumer_group": "billing", "topics": 1, "worst_topic": "orders", "partitions": 12}
    return {**row, "members": 3, "worst_member": "m-1", **more}


ROWS: dict[str, dict[str, Any]] = {
    "well": {},
    "nobody reads": {"members": 0, "worst_status": contract.STOPPED},
    "nobody reads one of its topics": {"worst_status": contract.STOPPED},
    "nobody reads, and it was slow before": {"members": 0, "cause": contract.CAPACITY_FELL},
    "no members, and a late SLA": {"members": 0, "held_sla_broken_since": 1},
    "a member stands, and more was written before": {
        "worst_status": contract.STALLED,
        "cause": contract.MORE_PRODUCED,
    },
    "falls behind": {"worst_status": contract.FALLING_BEHIND, "cause": contract.UNEXPLAINED},
    "falls behind, with all members that it can have": {
        "worst_status": contract.FALLING_BEHIND,
        "members": 12,
    },
    "falls behind, members unknown": {"worst_status": contract.SLOW, "members": None},
    "a flood": {
        "worst_status": contract.FALLING_BEHIND,
        "unusual": 1,
        "produce_rate": 90.0,
        "usual_produce_rate": 10.0,
    },
    "a race with retention": {"cause": contract.RETENTION_RACE, "records_lost": 9},
    "a slow broker, and losses near": {
        "cause": contract.SLOW_BROKER,
        "cause_evidence": '{"broker": 2}',
        "seconds_until_loss": 60.0,
    },
    "members come and go": {"rebalancing_share": 0.9, "worst_status": contract.SLOW},
    "held up": {"held_up_records": 4},
    "late, but it keeps pace": {
        "held_sla_broken_since": 1,
        "produce_rate": 10.0,
        "consume_rate": 10.1,
    },
    "late, and reads nothing": {
        "held_sla_broken_since": 1,
        "produce_rate": 10.0,
        "consume_rate": 0.1,
    },
    "late, and slow": {"held_sla_broken_since": 1, "produce_rate": 10.0, "consume_rate": 5.0},
}


def test_advice_by_what_a_group_does(golden: Golden) -> None:
    lines = [f"{name}: {advise(a_row(**more))}" for name, more in ROWS.items()]
    golden.holds("advice.txt", "\n".join(lines))


@pytest.mark.parametrize("members", [0, 3, 12, None])
def test_no_advice_contradicts_the_group_or_itself(members: int | None) -> None:
    for cause, worst, loss in product((None, *contract.CAUSES), STATUSES, LOSSES):
        row = a_row(members=members, cause=cause, worst_status=worst, **loss)
        advice = advise(row) or ""
        parts = advice.split("; then ")
        more = "add consumers" in advice or "add members" in advice

        assert len(set(parts)) == len(parts)
        assert advice.count("retention.ms") <= 1
        assert not (more and ("more consumers" in advice or "more members" in advice))
        if members == 0:
            assert not more
            assert "slow step" not in advice
        if worst in (contract.STALLED, contract.STOPPED):
            assert not more


def test_a_loss_near_is_not_put_down_to_the_topic_of_the_cause() -> None:
    stopped = {"cause": contract.STOPPED, "cause_evidence": '{"topic": "orders"}'}
    near = {"seconds_until_loss": 60.0, "worst_topic": "orders"}
    assert "of orders" in (advise(a_row(topics=1, **near, **stopped)) or "")
    assert "orders" not in (advise(a_row(topics=2, **near, **stopped)) or "")


def test_a_group_without_trouble_needs_nothing() -> None:
    assert advise({}) is None
    assert advise(a_row(members=0, lag=0)) is None
