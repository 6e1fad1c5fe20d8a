# SPDX-License-Identifier: Apache-2.0
"""Fixtures that several rings share."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from glue_jobs.storage.session import open_session
from tests.local.cluster_fixture import shared_cluster

__all__ = ["shared_cluster"]


@pytest.fixture(name="spark", scope="session")
def _spark() -> Iterator[SparkSession]:
    """One Spark session for all, opened the way the job opens its own."""
    session = open_session({})
    yield session
    session.stop()
