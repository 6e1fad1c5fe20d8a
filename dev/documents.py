# SPDX-License-Identifier: Apache-2.0
"""Configurations of one cluster, in a made-up account and network."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kafka_lag_config.cluster import Cluster
from kafka_lag_config.reading import check


def describe_cluster(name: str, **keys: Any) -> dict[str, Any]:
    """Returns a cluster as a configuration has it, with these keys."""
    return {
        "name": name,
        "arn": f"arn:aws:kafka:eu-west-1:111122223333:cluster/{name}/3f2a1b0c-5d4e-4f6a-8b7c-1",
        "vpc": {
            "id": "vpc-0a1b2c3d4e5f60718",
            "subnets": ["subnet-0a1b2c3d4e5f60718", "subnet-1a1b2c3d4e5f60718"],
            "brokers_security_group": "sg-0a1b2c3d4e5f60718",
            "nat": True,
        },
        "auth": {"type": "iam"},
        **keys,
    }


def mute_between(begin_ms: int, end_ms: int) -> dict[str, str]:
    """Returns the mute window, whole minutes UTC, as a configuration has it."""
    at = datetime.fromtimestamp(begin_ms / 1_000, UTC).strftime("%Y-%m-%dT%H:%M")
    return {"at": at, "duration": f"{(end_ms - begin_ms) // 60_000}m"}


def make_cluster(name: str, **keys: Any) -> Cluster:
    """Returns the checked cluster with these keys. Raises ConfigurationError."""
    cluster = describe_cluster(name, **keys)
    whole = {"shared": {"notify": {"email": ["a@example.com"]}}, "clusters": [cluster]}
    return check(whole, name, Path()).clusters[0]
