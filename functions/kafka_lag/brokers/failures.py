# SPDX-License-Identifier: Apache-2.0
"""Why something was not read, and how often asking for it again within the run may help."""

from __future__ import annotations

from dataclasses import dataclass

from kafka import errors

from kafka_lag import contract
from kafka_lag.brokers.wire.refusals import UnansweredError, name_of_code, reason_of_code

# Kafka's own word for an error that passes: an election, a coordinator that still loads.
_RETRIES = 3


@dataclass(frozen=True, slots=True)
class Failure:
    """`reason` is an unread reason of the contract, `detail` for the log: Kafka's own name of the
    error where a broker gave one, whose `code` it is (else 0). `retries` may help within this run.
    """

    reason: str
    detail: str
    retries: int = 0
    code: int = 0


NO_LEADER = Failure(contract.NO_LEADER, "LEADER_NOT_AVAILABLE", _RETRIES)


def failure_of_code(code: int) -> Failure | None:
    """What a broker's error code stands for, None for success."""
    reason = reason_of_code(code)
    if reason is None:
        return None
    retries = _RETRIES if errors.for_code(code).retriable else 0
    return Failure(reason, name_of_code(code), retries, code)


def failure_of(error: UnansweredError) -> Failure:
    """A broker that did not answer; another may lead or coordinate by now, so one retry helps."""
    return Failure(error.reason, error.detail, int(error.reason != contract.DENIED))


def malformed(detail: str) -> Failure:
    """An answer that cannot be right, for the item it is about."""
    return Failure(contract.ERROR, detail)


def left_out(request: str) -> Failure:
    """An item that was asked for and that the answer does not hold."""
    return malformed(f"left out of the answer to {request}")
