# SPDX-License-Identifier: Apache-2.0
"""What is said of a configuration that is refused."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag_cdk.config.document import normalised
from kafka_lag_cdk.config.faults import ConfigurationError
from tests.documents import GOOD
from tests.infra.configured import cluster_json, deployment, one_cluster


def refused(*clusters: Any, **more: Any) -> tuple[str, ...]:
    """The faults of a configuration with these clusters."""
    with pytest.raises(ConfigurationError) as caught:
        deployment(*clusters, **more)
    return caught.value.faults


def refused_cluster(**changes: Any) -> tuple[str, ...]:
    """The faults of a good cluster with these changes, below `clusters[0]`."""
    return tuple(
        fault.removeprefix("clusters[0]").removeprefix(".")
        for fault in refused(cluster_json(**changes))
    )


def cluster_faults(**changes: Any) -> tuple[str, ...]:
    """The same, none where the cluster is a good one all the same."""
    try:
        one_cluster(cluster_json(**changes))
    except ConfigurationError as error:
        return error.faults
    return ()


def faults_of(document: Any) -> list[str]:
    """The faults of a collector's document as a person wrote it, none for a good one."""
    try:
        normalised(document)
    except ConfigurationError as error:
        return list(error.faults)
    return []


def document_faults(**changes: Any) -> list[str]:
    """The faults of a good document of a collector with these changes."""
    return faults_of({**GOOD, **changes})
