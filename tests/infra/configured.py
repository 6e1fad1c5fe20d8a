# SPDX-License-Identifier: Apache-2.0
"""Configurations for tests: a small good one, and changes to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kafka_lag_config.cluster import Cluster
from kafka_lag_config.deployment import Deployment
from kafka_lag_config.faults import ConfigurationError
from kafka_lag_config.reading import check
from kafka_lag_config.strict import validate

UUID = "0a1b2c3d-1111-2222-3333-444455556666-7"
SECRET = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:AmazonMSK_monitor-a1B2c3"
KEY = "arn:aws:kms:eu-west-1:111122223333:key/0a1b2c3d-aaaa-bbbb-cccc-444455556666"

# A service that is scaled, and how: keys of the configuration.
SERVICE = {"group": "billing", "ecs_cluster": "web", "service": "worker", "partitions": 12}
STEPS: dict[str, Any] = {
    "out": [{"above": 1000, "add": 1}, {"above": 5000, "add": 2}, {"above": 20000, "add": 4}],
    "below": 100,
}


def cluster_json(**changes: Any) -> dict[str, Any]:
    name = changes.get("name", "orders")
    return {
        "name": name,
        "arn": f"arn:aws:kafka:eu-west-1:111122223333:cluster/{name}/{UUID}",
        "vpc": {
            "id": "vpc-0a1b2c3d4e5f60718",
            "subnets": ["subnet-0a1b2c3d4e5f60718", "subnet-1a1b2c3d4e5f60718"],
            "brokers_security_group": "sg-0a1b2c3d4e5f60718",
            "nat": True,
        },
        "auth": {"type": "scram", "secret_arn": SECRET, "kms_key_arn": KEY},
    } | changes


def moved(given: dict[str, Any], region: str) -> dict[str, Any]:
    """The same cluster, with its secret and key, in another region."""
    found: dict[str, Any] = json.loads(json.dumps(given).replace("eu-west-1", region))
    return found


def deployment(*clusters: dict[str, Any], **changes: Any) -> Deployment:
    given = {"clusters": list(clusters) or [cluster_json()]} | changes
    return check(given, "the test", Path(__file__).parent)


def one_cluster(given: Any, folder: Path = Path()) -> Cluster:
    """A cluster without a deployment around it; `folder` is where its `ca_file` begins."""
    found, faults = validate(Cluster, given, folder)
    if found is None:
        raise ConfigurationError("a cluster", faults)
    return found


def cluster(**changes: Any) -> Cluster:
    return one_cluster(cluster_json(**changes), Path(__file__).parent)
