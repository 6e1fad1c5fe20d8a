# SPDX-License-Identifier: Apache-2.0
"""The ordered rules that find a group's cause: the first that fits is its cause.

Causes proven by statuses and readings come first, then those that a comparison of partitions and
members shows, then those that rates make likely.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kafka_lag import contract
from kafka_lag.lag.cause_case import BAD, Case, Cause, Finding, list_rates, trouble_since
from kafka_lag.lag.cause_peers import weigh_hot_partition, weigh_stuck_record
from kafka_lag.lag.cause_proofs import (
    weigh_open_transaction,
    weigh_rebalances,
    weigh_reset,
    weigh_retention_race,
    weigh_slow_broker,
    weigh_stopped,
    weigh_unavailable,
)
from kafka_lag.lag.cause_rates import weigh_rates, weigh_unusual

_RULES: tuple[Callable[[Case], Finding], ...] = (
    weigh_unavailable,
    weigh_reset,
    weigh_slow_broker,
    weigh_rebalances,
    weigh_open_transaction,
    weigh_stopped,
    weigh_retention_race,
    weigh_hot_partition,
    weigh_stuck_record,
)


def find_cause(case: Case) -> Cause:
    """Returns the first cause that fits; `unexplained` if none does."""
    for finding in weigh(case):
        if isinstance(finding, Cause):
            return finding
    return Cause(contract.UNEXPLAINED, trouble_since(case), list_rates(case))


def weigh(case: Case) -> Iterator[Finding]:
    """Yields the finding of each rule, in order; nothing if the group has no partition in this run.

    A cause may come more than once, from several rules.
    """
    if not len(case.rows):
        return
    for rule in _RULES:
        yield rule(case)
    yield from weigh_rates(case)
    if case.group["status"] not in BAD:
        yield weigh_unusual(case)
