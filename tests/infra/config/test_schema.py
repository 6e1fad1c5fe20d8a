# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema for editors: it has explanations, and is never stricter than the models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft7Validator

from dev.schema import FILE
from kafka_lag_config.reading import read
from kafka_lag_config.source import load
from tests.infra.configured import KEY, SECRET, cluster_json, deployment

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
EXAMPLES = sorted(
    path for path in (ROOT / "examples").iterdir() if path.suffix in (".json", ".toml")
)
SCHEMA = json.loads((DOCS / FILE).read_text())
VALIDATOR = Draft7Validator(SCHEMA)


def errors(document: Any) -> list[str]:
    """The places where an editor would mark a document."""
    return ["/".join(map(str, error.absolute_path)) for error in VALIDATOR.iter_errors(document)]


def of_cluster(**changes: Any) -> dict[str, Any]:
    return {"clusters": [cluster_json(**changes)]}


def test_every_example_fits() -> None:
    assert [example for example in EXAMPLES if errors(load(example))] == []


def test_the_example_in_toml_is_that_in_json() -> None:
    same = (
        read(f"examples/{name}", ROOT) for name in ("one-cluster.toml", "one-scram-cluster.json")
    )
    assert next(same) == next(same)


GOOD: list[dict[str, Any]] = [
    {"$schema": "docs/configuration.schema.json"},
    {"defaults": {"auth": {"type": "scram", "secret_arn": SECRET}}, "auth": {"kms_key_arn": KEY}},
    {"defaults": {"vpc": {"id": "vpc-0a1b2c3d"}}, "vpc": {"subnets": ["subnet-0a1b2c3d"]}},
    {"shared": {"athena": "off", "views": {}, "status_messages": {"event_bus": "off"}}},
    {"shared": {"athena": None, "views": {"auth": "bearer", "concurrency": None}}},
    {"shared": {"existing_buckets": {"111122223333/eu-west-1": "our-bucket"}}},
    {"sinks": ["emf", {"otlp": {"sigv4": True, "levels": {"partitions": {}}}}]},
    {"levels": {"partitions": {"groups": {"allow": "^a"}}}, "namespace": "Our/Kafka"},
    {"interval_seconds": 300, "sla_seconds": {"^a": 0.5, ".*": 900}},
    {"ca_file": None, "bootstrap_servers": ["b-1:9096"]},
    {
        "scaling": [
            {"group": "a", "ecs_cluster": "c", "service": "s", "max": 2, "partitions": 2,
             "tracking": {"lag_per_member": 0.5}},
        ]
    },
]  # fmt: skip


def test_what_a_deploy_accepts_fits() -> None:
    for keys in GOOD:
        whole = {key: keys[key] for key in ("$schema", "defaults", "shared") if key in keys}
        changes = {key: value for key, value in keys.items() if key not in whole}
        document = whole | of_cluster(**changes)
        without_place = {key: value for key, value in document.items() if key != "$schema"}
        assert deployment(*without_place.pop("clusters"), **without_place)
        assert errors(document) == []


WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, ""),
    ({"clusters": []}, "clusters"),
    (of_cluster() | {"sharde": {}}, ""),
    (of_cluster(dashbord=True), "clusters/0"),
    (of_cluster(hold="3"), "clusters/0/hold"),
    (of_cluster(hold=0), "clusters/0/hold"),
    (of_cluster(sla_seconds={".*": 0}), "clusters/0/sla_seconds/.*"),
    (of_cluster(paused="yes"), "clusters/0/paused"),
    (of_cluster(name="a b"), "clusters/0/name"),
    (of_cluster(sinks=["stdout"]), "clusters/0/sinks/0"),
    (of_cluster(auth={"type": "password"}), "clusters/0/auth"),
    (of_cluster(scaling=[{"group": "a"}]), "clusters/0/scaling/0"),
    (of_cluster(alarms={"groups": ["a", "a"]}), "clusters/0/alarms/groups"),
    (of_cluster() | {"defaults": {"hold": "3"}}, "defaults/hold"),
    (of_cluster() | {"shared": {"views": "on"}}, "shared/views"),
    (of_cluster() | {"shared": {"report": {"hour": 24}}}, "shared/report/hour"),
]


def test_what_is_wrong_is_marked_where_it_stands() -> None:
    assert [place for document, place in WRONG if place not in errors(document)] == []
