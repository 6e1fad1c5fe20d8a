# SPDX-License-Identifier: Apache-2.0
"""The order of groups, the worst first: one row more urgent than the other, by each key alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kafka_lag import contract
from kafka_lag.views.urgency import ERR, OK, UNKNOWN, WARN, rank_severities, rank_urgency
from tests.functions.views.page.rows import frame_of


def a_group(**values: Any) -> dict[str, Any]:
    usual = {"status": "ERR", "seconds_until_loss": contract.NO_LOSS_SECONDS}
    return {**usual, "time_lag_seconds": 5, "lag": 5, **values}


def first_of(*groups: dict[str, Any]) -> int:
    rows = frame_of(contract.GROUPS, groups)
    keys = [key.fill(np.inf) for key in reversed(rank_urgency(rows))]
    return int(np.lexsort(keys)[0])


@pytest.mark.parametrize(
    ("urgent", "other"),
    [
        ({"status": "ERR"}, {"status": "WARN", "records_lost": 9}),
        ({"records_lost": 9}, {"seconds_until_loss": 0.0}),
        ({"seconds_until_loss": 60.0}, {"seconds_until_loss": 90.0, "time_lag_seconds": 99}),
        ({"seconds_until_loss": None, "time_lag_seconds": 9}, {"time_lag_seconds": 8}),
        ({"seconds_until_loss": 60.0}, {"seconds_until_loss": None, "time_lag_seconds": 99}),
        (
            {"status": "OK", "held_sla_broken_since": 1, "time_lag_seconds": 5},
            {"status": "OK", "time_lag_seconds": 99},
        ),
        ({"status": "ERR"}, {"status": "WARN", "held_sla_broken_since": 1, "time_lag_seconds": 99}),
        ({"time_lag_seconds": 9}, {"lag": 99}),
        ({"lag": 9}, {"lag": 8}),
    ],
    ids=[
        *("severity", "lost before about to lose", "time to a loss", "not known is not safer"),
        *("about to lose before not known", "broken SLA", "broken SLA is no ERR"),
        *("time lag", "lag"),
    ],
)
def test_the_more_urgent_group_comes_first(urgent: dict[str, Any], other: dict[str, Any]) -> None:
    assert first_of(a_group(**urgent), a_group(**other)) == 0
    assert first_of(a_group(**other), a_group(**urgent)) == 1


def test_what_was_not_read_is_as_bad_as_it_last_was_and_never_well() -> None:
    status = ["ERR", "STOP", "STALL", "REWIND", "WARN", "OK", None, None, None, None, None]
    last = ["OK", None, None, None, "ERR", "ERR", "ERR", "STOP", "WARN", "OK", None]
    groups = [a_group(status=now, last_status=then) for now, then in zip(status, last, strict=True)]
    rows = frame_of(contract.GROUPS, groups)

    assert rank_severities(rows).to_list() == [
        *(ERR, ERR, ERR, ERR, WARN, OK),
        *(ERR, ERR, WARN, UNKNOWN, UNKNOWN),
    ]
