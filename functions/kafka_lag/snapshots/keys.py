# SPDX-License-Identifier: Apache-2.0
"""Keys of snapshot objects, made from dataset, cluster and scheduled time, and parsed."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from kafka_lag import contract

_STAMP = "%Y%m%dT%H%M%SZ"
_NAME = re.compile(r"/(\d{8}T\d{6}Z)-\d+of\d+\.parquet$")

# Names that a cluster may have: the name is a folder, a partition value and a dimension.
CLUSTER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")

# Clocks differ, so a run may be dated ahead of ours. One dated further ahead, by a wrong clock or
# by hand, would hide or suppress all others until then.
AHEAD_MS = 10 * 60_000


def object_key(dataset: str, cluster: str, taken_at: int) -> str:
    """Returns the key of one dataset of the run scheduled at `taken_at`, ms UTC."""
    time = datetime.fromtimestamp(taken_at / 1000, UTC)
    day = day_prefix(dataset, cluster, taken_at)
    return f"{day}hour={time:%H}/{time.strftime(_STAMP)}-0of1.parquet"


def first_key(dataset: str, cluster: str, since: int) -> str:
    """Returns a lower bound of the keys of runs scheduled at `since`, ms UTC, or later."""
    return object_key(dataset, cluster, since).partition("Z-")[0]


def day_prefix(dataset: str, cluster: str, at: int) -> str:
    """Returns the prefix of all keys of the UTC day of `at`, ms."""
    day = datetime.fromtimestamp(at / 1000, UTC).date().isoformat()
    return f"{contract.SNAPSHOT_PREFIX}/{dataset}/cluster={cluster}/dt={day}/"


def hour_prefix(dataset: str, cluster: str, at: int) -> str:
    """Returns the prefix of all keys of the UTC hour of `at`, ms."""
    return f"{day_prefix(dataset, cluster, at)}hour={datetime.fromtimestamp(at / 1000, UTC):%H}/"


def taken_at_of(key: str) -> int | None:
    """Returns the scheduled time, ms UTC, in a key; None if it is not the key of a snapshot."""
    match = _NAME.search(key)
    if match is None:
        return None
    try:
        time = datetime.fromisoformat(match.group(1))
    except ValueError:
        return None
    return int(time.timestamp() * 1000)
