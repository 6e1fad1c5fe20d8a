# SPDX-License-Identifier: Apache-2.0
"""What is said of a configuration that is refused."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_lag_cdk.config.faults import ConfigurationError
from tests.infra.configured import cluster_json, deployment


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
