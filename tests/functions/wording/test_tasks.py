# SPDX-License-Identifier: Apache-2.0
"""The reason why a group needs a number of tasks, in words."""

from __future__ import annotations

from kafka_lag import contract
from kafka_lag.wording.tasks import explain_tasks_needed
from tests.golden import Golden

WRITTEN = {
    "tasks_needed_reason": contract.NEEDED_FOR_RATE,
    "rates_lately": (110.0, 130.0),
    "capacity": 30.0,
    "lag": 45_000,
    "hottest_topic": "orders",
    "hottest_partition": 3,
    "hottest_share": 0.61,
    "shared_limit_members": 3,
    "shared_limit_rate": 75.0,
}


def test_why_a_group_needs_so_many_tasks(golden: Golden) -> None:
    reasons = (
        *(contract.NEEDED_FOR_RATE, contract.NEEDED_FOR_RECENT_RATE, contract.NEEDED_FOR_BACKLOG),
        *(contract.NEEDED_FOR_HOT_PARTITION, contract.LIMITED_BY_PARTITIONS),
        *(contract.LIMITED_BY_SHARED, contract.NO_CAPACITY, contract.PARTITIONS_UNREAD),
        *(contract.NO_RATE, None),
    )
    golden.holds(
        "tasks-needed.txt",
        "\n".join(
            f"{reason}: {explain_tasks_needed({**WRITTEN, 'tasks_needed_reason': reason})}"
            for reason in reasons
        ),
    )
