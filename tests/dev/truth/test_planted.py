# SPDX-License-Identifier: Apache-2.0
"""Which lags and ages are true of what was planted."""

import pytest

from dev.truth.planted import Change, Planted, PlantedLog, Range, expected_worst

AT = ("group", "topic", 0)
NOW = 1_000_000.0


def plant(
    *,
    end: int = 10,
    start: int = 0,
    commit: int | None = 4,
    unreadable: frozenset[int] = frozenset(),
) -> Planted:
    """Records 0 to `end`, each a minute older than the next, the last a minute old."""
    planted = Planted()
    long_ago = NOW - 10_000
    planted.logs["topic", 0] = PlantedLog(
        [Change(long_ago, long_ago, end)],
        [Change(long_ago, long_ago, start)],
        list(range(end)),
        [NOW - 60 * (end - offset) for offset in range(end)],
        set(unreadable),
    )
    planted.commits[AT] = [] if commit is None else [Change(long_ago, long_ago, commit)]
    return planted


def lags_of(planted: Planted, since: float = NOW, until: float = NOW) -> tuple[Range, ...]:
    return planted.expected_lag(AT, since, until).ranges


def test_lag_is_from_the_commit_to_the_end() -> None:
    assert lags_of(plant()) == (Range(6, 6),)


def test_age_is_that_of_the_record_at_the_commit() -> None:
    assert plant().expected_age(AT, NOW, NOW).ranges == (Range(360, 360),)


def test_a_group_that_has_read_all_has_neither_lag_nor_age() -> None:
    planted = plant(commit=10)

    assert lags_of(planted) == (Range(0, 0),)
    assert planted.expected_age(AT, NOW, NOW).ranges == (Range(0, 0),)


def test_a_partition_without_a_commit_has_no_value() -> None:
    assert plant(commit=None).expected_lag(AT, NOW, NOW).present is False


def test_deleted_records_count_by_one_reading_and_not_by_the_other() -> None:
    planted = plant(start=6)

    assert {(each.low, each.reading) for each in lags_of(planted)} == {
        (4, "what is left"),
        (6, "deleted records counted"),
    }
    assert {each.low for each in planted.expected_age(AT, NOW, NOW).ranges} == {240, 360}


def test_a_commit_beyond_the_end_leaves_nothing_unread() -> None:
    assert lags_of(plant(commit=50)) == (Range(0, 0),)


def test_records_that_nobody_is_given_have_no_age() -> None:
    planted = plant(unreadable=frozenset({4, 5}))

    assert planted.expected_age(AT, NOW, NOW).ranges == (Range(240, 240),)


def test_all_values_of_the_span_are_right() -> None:
    planted = plant()
    planted.commits[AT].append(Change(NOW - 6, NOW - 5, 9))

    assert lags_of(planted, NOW - 10, NOW) == (Range(1, 6),)
    assert lags_of(planted) == (Range(1, 1),)


def test_a_commit_under_way_may_be_seen_or_not() -> None:
    planted = plant()
    planted.commits[AT].append(Change(NOW - 1, NOW + 1, 9))

    assert lags_of(planted) == (Range(1, 6),)


def test_ends_may_be_read_seconds_after_commits() -> None:
    planted = plant()
    planted.logs["topic", 0].ends.append(Change(NOW + 2, NOW + 2, 12))

    assert lags_of(planted) == (Range(6, 8),)


def test_of_a_deleted_topic_there_is_nothing_to_show() -> None:
    planted = plant()
    planted.logs["topic", 0].gone(NOW - 6, NOW - 5)
    planted.commits[AT].append(Change(NOW - 6, NOW - 5, None))

    assert planted.expected_lag(AT, NOW, NOW).present is False
    assert planted.expected_lag(AT, NOW - 10, NOW).present is None


@pytest.mark.parametrize(("age", "low", "high"), [(10, 5, 15), (50, 45, 55), (1_000, 900, 1_100)])
def test_ages_are_allowed_the_larger_of_seconds_and_share(
    age: float, low: float, high: float
) -> None:
    assert Range(age, age).widened(5, 0.1) == Range(low, high)


def test_the_worst_partition_counts() -> None:
    planted = plant()
    caught_up = ("group", "topic", 1)
    planted.logs["topic", 1] = planted.logs["topic", 0]
    planted.commits[caught_up] = [Change(0, 0, 10)]

    both = [planted.expected_age(at, NOW, NOW) for at in (AT, caught_up)]

    assert expected_worst(both).ranges == (Range(360, 360),)
