# SPDX-License-Identifier: Apache-2.0
"""Lags and ages out of Prometheus' text format."""

import math

import pytest

from dev.truth.exposition import Series, lags_and_ages

LAG = Series("lag", "group", "topic", "partition")
AGE = Series("age_ms", "group", "topic", None, scale=0.001)
TEXT = """\
# HELP lag Records behind.
# TYPE lag gauge
lag{group="g",topic="t",partition="0"} 5
lag{group="g",topic="t",partition="1"} -1
lag{group="odd \\"name\\" {y}=1, z",topic="t",partition="0"} 1.5e+3
# TYPE age_ms gauge
age_ms{group="g",topic="t"} 4000
# TYPE other gauge
other{group="g",topic="t",partition="0"} 7
"""


def test_lags_are_by_partition_ages_in_seconds_and_other_metrics_are_left_alone() -> None:
    odd = ('odd "name" {y}=1, z', "t", 0)
    lags = {("g", "t", 0): 5, ("g", "t", 1): -1, odd: 1500}
    assert lags_and_ages(TEXT, LAG, AGE) == (lags, {("g", "t"): 4})


def test_the_age_of_a_topic_is_its_worst_partitions() -> None:
    per_partition = Series("lag", "group", "topic", "partition")

    assert lags_and_ages(TEXT, LAG, per_partition)[1] == {}
    text = TEXT.replace("age_ms{", 'age_ms{partition="0",') + 'age_ms{group="g",topic="t"} 9000\n'
    assert lags_and_ages(text, LAG, AGE)[1] == {("g", "t"): 9}


@pytest.mark.parametrize("order", [1, -1])
def test_nan_is_not_lost_in_a_maximum(order: int) -> None:
    values = ["5", "NaN"][::order]
    text = "".join(f'age_ms{{group="g",topic="t",n="{n}"}} {v}\n' for n, v in enumerate(values))

    assert math.isnan(lags_and_ages(text, LAG, AGE)[1]["g", "t"])


def test_a_text_that_is_none_is_an_error() -> None:
    with pytest.raises(ValueError, match="html"):
        lags_and_ages("<html>not a metric</html>", LAG, AGE)
