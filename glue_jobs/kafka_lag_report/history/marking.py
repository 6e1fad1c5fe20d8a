# SPDX-License-Identifier: Apache-2.0
"""The day's raw objects marked as compacted, once the history holds their rows for certain."""

from collections.abc import Callable
from itertools import product
from typing import Any

from kafka_lag_report.history.tagging import tag_compacted
from kafka_lag_report.schemas import SNAPSHOTS
from kafka_lag_report.storage.objects import s3_client, s3_place
from kafka_lag_report.storage.snapshots import Day
from kafka_lag_report.storage.snapshots.day import FROM_SNAPSHOTS


def mark_compacted(day: Day, client: Callable[[], Any] = s3_client) -> None:
    """Tag every object that was read into the history; DataError if S3 refuses one.

    Objects that were left out stay without the tag, and so never expire; so do those of a cluster
    that is read from its history alone, as nothing of them was looked at. A folder on a disk has no
    tags. A day that was not compacted by this run, as one in progress, has nothing to mark.
    """
    place = s3_place(day.root)
    if not day.compacted or place is None:
        return
    found = [c for c, source in day.sources.items() if source == FROM_SNAPSHOTS]
    places = product(SNAPSHOTS, found)
    paths = [run.path for name, cluster in places for run in day.usable(name, cluster)]
    keys = [at[1] for path in paths if (at := s3_place(path))]
    if keys:
        tag_compacted(place[0], keys, client())
