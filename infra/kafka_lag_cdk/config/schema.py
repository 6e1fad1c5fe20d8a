# SPDX-License-Identifier: Apache-2.0
"""The configuration's JSON Schema, by which an editor completes and explains keys.

    python -m kafka_lag_cdk.config.schema docs

writes configuration.schema.json out of the models and the folder's tables of keys. It refuses
nothing that a deploy accepts; what keys must be together, a deploy alone checks. It is of draft 7,
which is what editors of TOML know as well.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.deployment import Deployment
from kafka_lag_cdk.config.reading import SCHEMA
from kafka_lag_cdk.config.source import CLUSTERS, DEFAULTS

FILE = "configuration.schema.json"
_DIALECT = "http://json-schema.org/draft-07/schema#"
_CLUSTER = "cluster"

# Where the tables of keys are: by file and heading, what is above the keys.
_TABLES = {
    ("configuration.md", "## The whole"): (),
    ("configuration.md", "## `shared`"): ("shared",),
    ("configuration.md", "## A cluster: where and how"): (CLUSTERS,),
    ("configuration.md", "## A cluster: what it does"): (CLUSTERS,),
    ("configuration.md", "## A cluster: what its collector does"): (CLUSTERS,),
    ("sinks.md", "## OTLP"): (CLUSTERS, "sinks", "otlp"),
}
_ITEMS = re.compile(r"Each of `(\w+)` is an object:")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")

_ENDPOINT_LEVELS = (CLUSTERS, "sinks", "otlp", "levels")

Keys = tuple[str, ...]


def deployment_schema(descriptions: Mapping[Keys, str]) -> dict[str, Any]:
    """The schema of a configuration file; keys are described by their place, lists left out."""
    whole = _Writer(Deployment.model_json_schema(), descriptions)
    # A cluster may have the rest from `defaults`, wherever in it that is no list.
    cluster = _Writer(Cluster.model_json_schema(), descriptions, merged=True)
    of_cluster = {"$ref": f"#/definitions/{_CLUSTER}"}
    found = whole.written(whole.source, ())
    found["properties"] = {
        SCHEMA: {"type": "string", "description": "where this schema is, for an editor"},
        **found["properties"],
        DEFAULTS: {"allOf": [of_cluster], "description": descriptions[(DEFAULTS,)]},
        CLUSTERS: found["properties"][CLUSTERS] | {"items": of_cluster},
    }
    definition = cluster.written(cluster.source, (CLUSTERS,))
    return {"$schema": _DIALECT, **found, "definitions": {_CLUSTER: definition}}


class _Writer:
    """Pydantic's schema of a model with nothing but what an editor needs, each model in its place.

    A place has a description of its own, so models are not shared by reference. With `merged` no
    key is required but in lists, which are not merged.
    """

    def __init__(
        self, source: dict[str, Any], descriptions: Mapping[Keys, str], *, merged: bool = False
    ) -> None:
        self.source = source
        self._models = source["$defs"]
        self._descriptions = descriptions
        self._merged = merged

    def written(self, node: Mapping[str, Any], place: Keys, *, in_list: bool = False) -> Any:
        """What is at a place, with all below it."""
        if "$ref" in node:
            model = self._models[node["$ref"].rpartition("/")[2]]
            node = model | {key: value for key, value in node.items() if key != "$ref"}
        kept = {
            key: value
            for key, value in node.items()
            if key not in ("title", "description", "discriminator", "$defs", "default")
        }
        default = node.get("default")
        if default is not None and not isinstance(default, Mapping):
            kept["default"] = default
        if self._merged and not in_list:
            kept.pop("required", None)
            # Without what is required, an object may be of several types.
            if "oneOf" in kept:
                kept["anyOf"] = kept.pop("oneOf")
        for key in ("anyOf", "oneOf"):
            if key in kept:
                kept[key] = [self.written(each, place, in_list=in_list) for each in kept[key]]
        if "properties" in kept:
            kept["properties"] = {
                key: self._property(value, (*place, key), in_list=in_list)
                for key, value in kept["properties"].items()
            }
        if "items" in kept:
            kept["items"] = self.written(kept["items"], place, in_list=True)
            # Pydantic takes a list that is checked before for text.
            for length, items in (("minLength", "minItems"), ("maxLength", "maxItems")):
                if length in kept:
                    kept[items] = kept.pop(length)
        return kept

    def _property(self, node: Mapping[str, Any], place: Keys, *, in_list: bool) -> Any:
        written = self.written(node, place, in_list=in_list)
        above, same = place[: len(_ENDPOINT_LEVELS)], place
        if above == _ENDPOINT_LEVELS and place != above:
            same = (CLUSTERS, "levels", *place[len(above) :])
        text = self._descriptions.get(same)
        return {"description": text, **written} if text else written


def described(docs: Path) -> dict[Keys, str]:
    """What the tables of keys in the folder say of each."""
    found: dict[Keys, str] = {}
    for name in dict.fromkeys(file for file, _ in _TABLES):
        above: Keys | None = None
        for line in (docs / name).read_text(encoding="utf-8").splitlines():
            if line.startswith("#"):
                above = _TABLES.get((name, line))
            elif above is not None and (items := _ITEMS.match(line)):
                above = (*above, items[1])
            elif above is not None and line.startswith("| `"):
                keys, _, meaning = line.strip("|").split("|", 2)
                for key in _keys_in(keys):
                    found[(*above, *key)] = _LINK.sub(r"\1", meaning).strip()
    return found


def _keys_in(cell: str) -> list[Keys]:
    """The keys that a cell names; one that begins with a dot stands beside the one before it."""
    found: list[Keys] = []
    for name in re.findall(r"`([^`]+)`", cell):
        key = tuple(name.lstrip(".").split("."))
        found.append((*found[-1][:-1], *key) if name.startswith(".") else key)
    return found


def main(argv: Sequence[str] | None = None) -> None:
    """Writes the schema into the folder of the docs."""
    parser = argparse.ArgumentParser(
        prog="python -m kafka_lag_cdk.config.schema",
        description="Writes the JSON Schema of a configuration file for editors.",
    )
    parser.add_argument("docs", type=Path, help="the folder with the tables of keys")
    docs = parser.parse_args(argv).docs
    text = json.dumps(deployment_schema(described(docs)), indent=2, ensure_ascii=False)
    (docs / FILE).write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
