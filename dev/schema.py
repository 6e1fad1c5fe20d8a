# SPDX-License-Identifier: Apache-2.0
"""The models' keys with their descriptions: the docs' tables, and the editors' JSON Schema.

The schema refuses nothing that a deploy accepts; what keys must be together, a deploy alone checks.
It is of draft 7, which is what editors of TOML know as well.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from pydantic.fields import FieldInfo

from kafka_lag_config.cluster import Cluster
from kafka_lag_config.deployment import Deployment
from kafka_lag_config.document import (
    CollectorKeys,
    Document,
    FilterSection,
    OtlpSection,
    OtlpSink,
)
from kafka_lag_config.mute import MuteKeys
from kafka_lag_config.objectives import ObjectiveKeys
from kafka_lag_config.reading import SCHEMA
from kafka_lag_config.scaling import Scaling
from kafka_lag_config.settings import AlarmChange, SlaRuns
from kafka_lag_config.shared import Shared
from kafka_lag_config.source import CLUSTERS, DEFAULTS
from kafka_lag_config.strict import Strict, models_in
from kafka_lag_config.tasks import TaskKeys

FILE = "configuration.schema.json"
_DIALECT = "http://json-schema.org/draft-07/schema#"
_CLUSTER = "cluster"
# In no model, as a cluster is checked once they are merged into it.
_OF_DEFAULTS = (
    "keys for every cluster. If a cluster has a key as well, its own value counts; objects are "
    "merged, lists are replaced"
)

# Explained once, in another table or row.
_EXPLAINED_APART = (
    *(Shared, Cluster, Scaling, TaskKeys, ObjectiveKeys, FilterSection, OtlpSink),
    *(AlarmChange, SlaRuns, MuteKeys),
)
_HEAD = ("| key | default | meaning |", "|---|---|---|")
_PLAIN = re.compile(r"[\w.-]+")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class KeyTable:
    """A table in the docs: the first behind a line of a file; `keys` None: all of the model."""

    file: str
    behind: str
    model: type[Strict]
    keys: tuple[str, ...] | None = None
    # Whether keys of objects below have a row too.
    below: bool = True

    def rows(self) -> Iterator[str]:
        """With its head."""
        yield from _HEAD
        for key, (default, meaning) in _rows(self.model, self.keys).items():
            if "." in key and not self.below:
                continue
            yield f"| `{key}` | {default + ' ' if default else ''}| {meaning} |"
        if self.model is Deployment:
            yield f"| `{DEFAULTS}` | | {_OF_DEFAULTS} |"


_REACHED = ("name", "arn", "bootstrap_servers", "region", "account", "vpc", "auth", "ca_file")
TABLES = (
    KeyTable("configuration.md", "## The whole", Deployment),
    KeyTable("configuration.md", "## `shared`", Shared),
    KeyTable(
        "configuration.md",
        "## A cluster: where and how",
        Cluster,
        (*_REACHED, "broker_type", "paused", "function"),
    ),
    KeyTable(
        "configuration.md",
        "## A cluster: what it does",
        Cluster,
        ("metrics", "alarms", "scaling", "dashboard", "expected"),
    ),
    KeyTable("configuration.md", "Each of `scaling` is an object:", Scaling),
    KeyTable("configuration.md", "## A cluster: what its collector does", CollectorKeys),
    KeyTable(
        "configuration.md",
        "### Without this deployment",
        Document,
        tuple(key for key in Document.model_fields if key not in CollectorKeys.model_fields),
    ),
    KeyTable("configuration.md", "## `slo`", ObjectiveKeys),
    KeyTable("alarms.md", "## Mute windows", MuteKeys),
    # The keys of its levels are a cluster's.
    KeyTable("configuration.md", "### OTLP", OtlpSection, below=False),
)


def _rows(
    model: type[Strict], keys: Sequence[str] | None = None, above: str = ""
) -> dict[str, tuple[str, str]]:
    """Default and meaning by key, those of objects below as `vpc.id`."""
    found: dict[str, tuple[str, str]] = {}
    for key in keys or model.model_fields:
        field, place = model.model_fields[key], f"{above}{key}"
        description = describe(model).get(key)
        if description:
            found[place] = _cells(field, description)
        below = models_in(field.annotation)
        if description and any(issubclass(each, _EXPLAINED_APART) for each in below):
            continue
        for each in below:
            # Of several types an object has the keys of each.
            found |= {
                inner: row
                for inner, row in _rows(each, above=f"{place}.").items()
                if inner not in found
            }
        found |= {
            inner: ("", found[inner][1])
            for inner in found
            if found[inner][0] == _REQUIRED and _is_of_some(inner.removeprefix(f"{place}."), below)
        }
    return found


@cache
def describe(model: type[Strict]) -> Mapping[str, str]:
    """Returns the text below each key of a model, those of its bases too, on one line."""
    found: dict[str, str] = {}
    models = [each for each in reversed(model.__mro__) if issubclass(each, Strict)]
    for node in (ast.parse(textwrap.dedent(inspect.getsource(each))).body[0] for each in models):
        for key, below in pairwise(getattr(node, "body", ())):
            match key, below:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(
                    value=ast.Constant(value=str(text))
                ):
                    found[name] = " ".join(text.split())
    # A text that holds a number of the code cannot stand below its key.
    written = {key: field.description for key, field in model.model_fields.items()}
    return found | {key: text for key, text in written.items() if text}


def _is_of_some(key: str, models: Sequence[type[Strict]]) -> bool:
    """Return true if some of these types have the key and others do not."""
    return len({key in model.model_fields for model in models}) > 1


_REQUIRED = "required"
# What an editor shows at the end of a meaning has a column of its own in a table.
_UNLESS_GIVEN = re.compile(r" \(unless given: ([^()]*)\)")


def _cells(field: FieldInfo, meaning: str) -> tuple[str, str]:
    said = _UNLESS_GIVEN.search(meaning)
    return (said[1], meaning.replace(said[0], "", 1)) if said else (_default(field), meaning)


def _default(field: FieldInfo) -> str:
    """Returns nothing where it is no value of a configuration, or the meaning has to explain it."""
    if field.is_required():
        return _REQUIRED
    value = field.get_default(call_default_factory=True)
    match value:
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case float():
            return f"{value:g}"
        case str():
            return value if _PLAIN.fullmatch(value) else ""
        case ():
            return "none"
        case tuple() | {}:
            return f"`{json.dumps(value)}`"
    return ""


def deployment_schema() -> dict[str, Any]:
    """The schema of a configuration file."""
    whole = _Writer(Deployment.model_json_schema())
    # A cluster may have the rest from `defaults`, wherever in it that is no list.
    cluster = _Writer(Cluster.model_json_schema(), merged=True)
    of_cluster = {"$ref": f"#/definitions/{_CLUSTER}"}
    found = whole.written(whole.source)
    found["properties"] = {
        SCHEMA: {"type": "string", "description": "where this schema is, for an editor"},
        **found["properties"],
        DEFAULTS: {"allOf": [of_cluster], "description": _OF_DEFAULTS},
        CLUSTERS: found["properties"][CLUSTERS] | {"items": of_cluster},
    }
    definition = cluster.written(cluster.source)
    return {"$schema": _DIALECT, **found, "definitions": {_CLUSTER: definition}}


class _Writer:
    """Pydantic's schema of a model with nothing but what an editor needs, each model in its place.

    With `merged` no key is required but in lists, which are not merged.
    """

    def __init__(self, source: dict[str, Any], *, merged: bool = False) -> None:
        self.source = source
        self._models = source["$defs"]
        self._classes = {each.__name__: each for each in _classes_below(Strict)}
        self._merged = merged

    def written(self, node: Mapping[str, Any], *, in_list: bool = False) -> Any:
        """A node with all below it."""
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
                kept[key] = [self.written(each, in_list=in_list) for each in kept[key]]
        if "properties" in kept:
            kept["properties"] = {
                key: self._property(key, value, self._described(node), in_list=in_list)
                for key, value in kept["properties"].items()
            }
        if "patternProperties" in kept:
            kept["patternProperties"] = {
                names: self.written(each, in_list=in_list)
                for names, each in kept["patternProperties"].items()
            }
        if isinstance(kept.get("additionalProperties"), Mapping):
            kept["additionalProperties"] = self.written(
                kept["additionalProperties"], in_list=in_list
            )
        if "items" in kept:
            kept["items"] = self.written(kept["items"], in_list=True)
            # Pydantic takes a list that is checked before for text.
            for length, items in (("minLength", "minItems"), ("maxLength", "maxItems")):
                if length in kept:
                    kept[items] = kept.pop(length)
        return kept

    def _described(self, node: Mapping[str, Any]) -> Mapping[str, str]:
        return describe(self._classes[node["title"]])

    def _property(
        self, key: str, node: Mapping[str, Any], described: Mapping[str, str], *, in_list: bool
    ) -> Any:
        """With the description of the key, not that of the model which it may hold."""
        written = self.written(node, in_list=in_list)
        text = _LINK.sub(r"\1", described.get(key, ""))
        return {"description": text, **written} if text else written


def _classes_below(model: type[Strict]) -> Iterator[type[Strict]]:
    yield model
    for below in model.__subclasses__():
        yield from _classes_below(below)
