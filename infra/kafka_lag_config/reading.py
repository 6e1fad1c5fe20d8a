# SPDX-License-Identifier: Apache-2.0
"""From `cdk.json` context, or the file it names, to a configuration that has no faults."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kafka_lag_config.deployment import Deployment
from kafka_lag_config.faults import ConfigurationError, Fault
from kafka_lag_config.source import CLUSTERS, DEFAULTS, load, merge, where_written
from kafka_lag_config.strict import validate

# The context key of cdk.json.
CONTEXT_KEY = "msk-lag-reporter"
# Where an editor finds docs/configuration.schema.json; no part of what is configured.
SCHEMA = "$schema"

_NO_OBJECT = "must be an object"


def read(source: Any, folder: Path) -> Deployment:
    """The configuration that context holds, or the JSON or TOML file that it names under `folder`.

    `defaults` holds keys for every cluster, which its own go before; objects are merged. Raises
    ConfigurationError with every fault, each with its path and what was expected.
    """
    key = f"context.{CONTEXT_KEY}"
    if source is None:
        missing = f"{key} is missing: give an object or the path of a JSON or TOML file"
        raise ConfigurationError("cdk.json", [missing])
    if not isinstance(source, str):
        return check(source, f"cdk.json, {key}", folder)
    begins = source.strip()[:1]
    if begins in ("{", "["):
        advice = "give a path, or put the object into cdk.json"
        raise ConfigurationError(
            "the context", [f"{key} is text that begins with {begins}: {advice}"]
        )
    return check(load(folder / source), source, (folder / source).parent)


def check(source: Any, name: str, folder: Path) -> Deployment:
    """A configuration as it was read; `folder` is where relative file names begin."""
    whole = _object(source, name)
    whole.pop(SCHEMA, None)
    defaults = whole.pop(DEFAULTS, {})
    if not isinstance(defaults, Mapping):
        raise ConfigurationError(name, [Fault((DEFAULTS,), _NO_OBJECT)])
    own = whole.get(CLUSTERS)
    if isinstance(own, list):
        whole[CLUSTERS] = [merge(defaults, each) for each in own]
    deployment, faults = validate(Deployment, whole, folder, beside=[DEFAULTS, SCHEMA])
    if deployment is None:
        found = [where_written(fault, own or [], defaults) for fault in faults]
        found.sort(key=_order)
        raise ConfigurationError(name, found)
    return deployment


def _object(source: Any, name: str) -> dict[str, Any]:
    if not isinstance(source, Mapping):
        raise ConfigurationError(name, [Fault(("document",), _NO_OBJECT)])
    return dict(source)


def _order(fault: Fault) -> int:
    """Each cluster's faults together, behind those of all."""
    match fault.place:
        case (str(key), int(index), *_) if key == CLUSTERS:
            return index
    return -1
