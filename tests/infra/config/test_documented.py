# SPDX-License-Identifier: Apache-2.0
"""docs/configuration.md names every key that there is, and none that there is not."""

from __future__ import annotations

import json
import re
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.deployment import Deployment
from kafka_lag_cdk.config.document import CollectorKeys, OtlpSection
from kafka_lag_cdk.config.reading import check
from kafka_lag_cdk.config.scaling import Scaling
from kafka_lag_cdk.config.shared import Shared

DOCS = Path(__file__).parents[3] / "docs"
TEXT = (DOCS / "configuration.md").read_text()

# Told in words beside the key that holds them.
ELSEWHERE = {"shared", "clusters", "scaling", "notify.slack", "notify.teams", "notify.owners"}


def keys_of(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        path = f"{prefix}{name}"
        below = (
            [] if path in ELSEWHERE or path == "steps.out" else list(models_in(field.annotation))
        )
        for inner in below:
            yield from keys_of(inner, f"{path}.")
        if not below:
            yield path


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from models_in(part)


def documented(*headings: str, text: str = TEXT) -> set[str]:
    found: set[str] = set()
    for heading in headings:
        part = text.split(f"\n## {heading}\n")[1].split("\n## ", maxsplit=1)[0]
        cells = [line.split(" | ")[0] for line in part.splitlines() if line.startswith("| `")]
        found |= {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}
    return found


def test_every_key_of_the_whole_is_documented() -> None:
    assert documented("The whole") == set(keys_of(Deployment)) | {"shared", "defaults", "clusters"}


def test_every_shared_key_is_documented() -> None:
    switches = {"athena", "views", "status_messages", "existing_buckets", "kms_keys"}
    assert documented("`shared`") == set(keys_of(Shared)) | switches


def test_every_key_of_a_cluster_is_documented() -> None:
    message = documented("A cluster: where and how", "A cluster: what it does")
    own = {key for key in keys_of(Cluster) if key.split(".")[0] not in CollectorKeys.model_fields}
    assert message == own | set(keys_of(Scaling))


def test_the_collectors_keys_are_documented_with_the_cluster() -> None:
    message = documented("A cluster: what its collector does")
    assert {key.split(".")[0] for key in message} >= set(CollectorKeys.model_fields)


def test_every_key_of_an_otlp_endpoint_is_documented_with_the_sinks() -> None:
    tables = (DOCS / "sinks.md").read_text().replace("\n### ", "\n## ")
    assert documented("OTLP", text=tables) == set(OtlpSection.model_fields)


def test_the_first_configuration_in_the_docs_is_the_same_in_json_and_toml() -> None:
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", TEXT, re.MULTILINE)
    written, same = (textwrap.dedent(block) for block in blocks[:2])
    assert tomllib.loads(same) == json.loads(written)
    assert check(json.loads(written), "the docs", DOCS).clusters
