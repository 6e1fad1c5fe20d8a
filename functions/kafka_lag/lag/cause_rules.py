# SPDX-License-Identifier: Apache-2.0
"""The rules by which a group's cause is found, in their order: the first that fits is its cause.

What statuses and readings prove comes first, then what partitions and members show beside each
other, then what rates make likely.
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
    """The first that fits; `unexplained` where none does."""
    for finding in weigh(case):
        if isinstance(finding, Cause):
            return finding
    return Cause(contract.UNEXPLAINED, trouble_since(case), list_rates(case))


def weigh(case: Case) -> Iterator[Finding]:
    """What each rule finds, in their order: what statuses and readings prove, then what figures
    beside each other show. A cause may come more than once, by several rules. Nothing, of a group
    that has no partition in this run.
    """
    if not len(case.rows):
        return
    for rule in _RULES:
        yield rule(case)
    yield from weigh_rates(case)
    if case.group["status"] not in BAD:
        yield weigh_unusual(case)
