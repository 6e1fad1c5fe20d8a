# SPDX-License-Identifier: Apache-2.0
"""What a group lost, topic by topic, beside how long these are kept and the rates."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag.views.losses import Loss, find_losses
from tests.functions.lag.builders import rows, topic_rows


def part(topic: str, number: int, lost: int | None, consumed: float | None = 1.0) -> dict[str, Any]:
    key = {"topic": topic, "partition_id": number}
    return {**key, "records_lost": lost, "consume_rate": consumed}


def log(topic: str, number: int, **more: Any) -> dict[str, Any]:
    usual = {"retention_ms": 60_000, "retention_bytes": -1, "produce_rate": 10.0}
    return {"topic": topic, "partition_id": number, **usual, **more}


def test_each_topic_has_its_own_partitions_that_lost_and_the_worst_comes_first() -> None:
    group = rows(
        part("b", 0, 3, 0.5),
        part("a", 0, 4, 2.0),
        part("b", 1, 5, 0.25),
        # Neither lost anything, so neither is in the rates.
        part("b", 2, 0, 100.0),
        part("a", 1, None, 100.0),
        part("safe", 0, 0),
    )
    logs = topic_rows(
        log("safe", 0, produce_rate=1_000.0),
        log("b", 1, produce_rate=7.0, retention_bytes=500),
        log("b", 2, produce_rate=1_000.0),
        log("a", 1, produce_rate=1_000.0),
        log("a", 0, produce_rate=3.0, retention_ms=-1),
        log("b", 0, produce_rate=8.0, retention_bytes=500),
    )

    assert find_losses(group, logs) == [
        Loss("b", 8, 60_000, 500, 15.0, 0.75),
        Loss("a", 4, -1, -1, 3.0, 2.0),
    ]


@pytest.mark.parametrize(
    ("logs", "expected"),
    [
        ([log("t", 0), log("t", 1)], (60_000, -1, 20.0)),
        ([log("t", 0, retention_ms=None), log("t", 1)], (60_000, -1, 20.0)),
        ([log("t", 0, produce_rate=None), log("t", 1)], (60_000, -1, None)),
        ([log("t", 1, retention_bytes=None)], (60_000, None, None)),
        ([], (None, None, None)),
    ],
    ids=["all", "one knows how long", "one rate is not known", "one is not there", "none"],
)
def test_what_is_not_known_of_a_partition_makes_the_rate_unknown_and_not_how_long_it_is_kept(
    logs: list[dict[str, Any]], expected: tuple[Any, ...]
) -> None:
    (loss,) = find_losses(rows(part("t", 0, 1), part("t", 1, 1)), topic_rows(*logs))
    assert (loss.retention_ms, loss.retention_bytes, loss.produce_rate) == expected


def test_an_unknown_consume_rate_makes_the_sum_unknown() -> None:
    (loss,) = find_losses(rows(part("t", 0, 1), part("t", 1, 1, None)), topic_rows())
    assert (loss.records, loss.consume_rate) == (2, None)


def test_a_group_that_lost_nothing_has_no_loss() -> None:
    assert find_losses(rows(part("t", 0, 0), part("t", 1, None)), topic_rows()) == []
