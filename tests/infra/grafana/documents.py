# SPDX-License-Identifier: Apache-2.0
"""The dashboards as Grafana is given them, and what tests ask of them."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from typing import Any

from kafka_lag_cdk.grafana.dashboards import files

Json = dict[str, Any]


@functools.cache
def documents() -> dict[str, Json]:
    return {name.removesuffix(".json"): json.loads(text) for name, text in files().items()}


NAMES = sorted(documents())


def drawn(document: Json) -> list[Json]:
    """Its panels that draw something."""
    return [each for each in document["panels"] if each["type"] != "row"]


def targets(source: str) -> Iterator[tuple[str, Json]]:
    """Every query of all pages of a source, with the panel's title."""
    for name in NAMES:
        for panel in drawn(documents()[name]):
            for target in panel["targets"]:
                if target["datasource"]["type"] == source:
                    yield f"{name}: {panel['title']}", target
