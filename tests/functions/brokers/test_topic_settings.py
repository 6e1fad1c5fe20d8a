# SPDX-License-Identifier: Apache-2.0
"""Settings of topics over whole runs: when they are read again, and the problem if denied."""

from __future__ import annotations

import pytest

from kafka_lag import contract
from tests.functions.brokers.brokers import SETTINGS, Brokers, Runs, Topic

GROUP, CLUSTER = ("shop", "g"), ("shop",)
MINUTE_LONG = SETTINGS | {"retention.ms": "60000"}


def _runs(**topics: Topic) -> Runs:
    logs = topics or {"orders": Topic([(0, 10)])}
    return Runs(Brokers(logs, {"g": {name: [5] * len(t.logs) for name, t in logs.items()}}))


def _retention(runs: Runs) -> dict[str, int | None]:
    frame = runs.collector.memory.newest.topic_partitions
    names, values = frame.strings("topic").to_list(), frame.numbers("retention_ms").to_list()
    return dict(zip(names, values, strict=True))


def test_a_topic_recreated_with_one_minute_has_one_minute_in_the_same_run() -> None:
    runs = _runs()
    runs()
    by_size = MINUTE_LONG | {"retention.bytes": "1073741824"}
    runs.brokers.topics["orders"] = Topic([(0, 50)], topic_id=2, settings=by_size)
    runs()
    assert _retention(runs) == {"orders": 60_000}
    frame = runs.collector.memory.newest.topic_partitions
    assert frame.numbers("retention_bytes").to_list() == [2**30]
    assert runs()[GROUP, contract.TIME_TO_DATA_LOSS] == 0


def test_settings_of_a_living_topic_are_never_older_than_five_minutes() -> None:
    runs = _runs()
    runs()
    runs.brokers.topics["orders"].settings = MINUTE_LONG
    # Runs are a minute apart, and some begin a moment early.
    for seconds in (60.0, 60.0, 60.0, 60.0):
        runs(seconds)
        assert "DescribeConfigs" not in runs.brokers.kinds
    runs(59.9)
    assert _retention(runs) == {"orders": 60_000}


def test_settings_of_a_later_run_are_read_anew_by_one_that_is_repeated() -> None:
    """Else a scheduled time of the far future would keep them for ever."""
    runs = _runs()
    runs(3_600.0)
    runs(-3_000.0)
    assert "DescribeConfigs" in runs.brokers.kinds


@pytest.mark.parametrize(
    ("retention_hours", "read_every_run"), [(48, False), (25.5, False), (24.9, True), (2, True)]
)
def test_near_a_loss_settings_are_read_in_every_run(
    retention_hours: float, read_every_run: bool
) -> None:
    """A group that stands still has as many hours left as its topic keeps records."""
    settings = SETTINGS | {"retention.ms": str(int(retention_hours * 3_600_000))}
    runs = _runs(orders=Topic([(0, 0)], settings=settings))
    runs.brokers.groups["g"] = {"orders": [0]}
    runs()
    runs.brokers.topics["orders"].logs = [(0, 9)]
    for _ in range(12):
        runs()
    assert ("DescribeConfigs" in runs.brokers.kinds) == read_every_run


@pytest.mark.parametrize(
    ("code", "reason", "name"),
    [(29, "denied", "TOPIC_AUTHORIZATION_FAILED"), (7, "timeout", "REQUEST_TIMED_OUT")],
)
def test_settings_that_cannot_be_read_are_a_named_read_error(
    code: int, reason: str, name: str
) -> None:
    runs = _runs()
    runs.brokers.lasting["DescribeConfigs", "orders"] = code
    values = runs()
    assert values[CLUSTER, contract.READ_ERRORS] == 1
    assert runs.logger.warnings == [
        f"topic 'orders' not read ({reason}): settings not read (DescribeConfigs): {name}"
    ]
    assert _retention(runs) == {"orders": None}
    assert values[GROUP, contract.OFFSET_LAG] == 5


def test_a_missing_right_on_many_topics_is_one_read_error_that_counts_them() -> None:
    names = [f"t{number:03}" for number in range(300)]
    runs = _runs(**{name: Topic([(0, 10)]) for name in names})
    for name in names:
        runs.brokers.lasting["DescribeConfigs", name] = 29
    assert runs()[CLUSTER, contract.READ_ERRORS] == 1
    (line,) = runs.logger.warnings
    assert line == (
        "topic 't000' not read (denied): settings not read (DescribeConfigs): "
        "TOPIC_AUTHORIZATION_FAILED, nor those of 299 more topics"
    )


def test_settings_denied_later_serve_until_they_are_five_minutes_old() -> None:
    runs = _runs()
    runs()
    runs.brokers.lasting["DescribeConfigs", "orders"] = 29
    runs(280.0)
    assert _retention(runs) == {"orders": 604_800_000}
    assert runs.logger.warnings
    runs(20.0)
    assert _retention(runs) == {"orders": None}


def test_a_setting_that_is_no_number_costs_itself_is_named_and_read_again_in_the_next_run() -> None:
    odd = Topic([(0, 10)], settings=SETTINGS | {"retention.ms": "a week"})
    runs = _runs(odd=odd, orders=Topic([(0, 10)]))
    assert runs()[CLUSTER, contract.READ_ERRORS] == 1
    assert _retention(runs) == {"odd": None, "orders": 604_800_000}
    (line,) = runs.logger.warnings
    assert line.startswith("topic 'odd' not read (error): settings not read (DescribeConfigs): ")
    assert line.endswith("retention.ms is 'a week'")
    odd.settings = SETTINGS
    runs()
    assert _retention(runs) == {"odd": 604_800_000, "orders": 604_800_000}
