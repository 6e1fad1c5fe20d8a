# SPDX-License-Identifier: Apache-2.0
"""From `cdk.json` context, or the file it names, to a configuration that has no faults."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from kafka_lag_cdk.config.checks import faults as unheard
from kafka_lag_cdk.config.deployment import Deployment
from kafka_lag_cdk.config.document import KEYS
from kafka_lag_cdk.config.faults import ConfigurationError, Fault, Place
from kafka_lag_cdk.config.given.checking import cluster_faults
from kafka_lag_cdk.config.given.merging import CLUSTERS, DEFAULTS, over, split, where_written
from kafka_lag_cdk.config.given.source import json_of
from kafka_lag_cdk.config.parts.cluster import Cluster
from kafka_lag_cdk.config.wording import told as worded

M = TypeVar("M", bound=BaseModel)

# The context key of cdk.json.
CONTEXT_KEY = "msk-lag-reporter"

_NO_OBJECT = "must be an object"


def read(given: Any, folder: Path) -> Deployment:
    """The configuration that context holds, or the JSON file that it names under `folder`.

    `defaults` holds keys for every cluster, which its own go before; objects are merged. Raises
    ConfigurationError with every fault, each with its path and what was expected.
    """
    key = f"context.{CONTEXT_KEY}"
    if given is None:
        missing = f"{key} is missing: give an object or the path of a JSON file"
        raise ConfigurationError("cdk.json", [missing])
    if not isinstance(given, str):
        return checked(given, f"cdk.json, {key}", folder)
    begins = given.strip()[:1]
    if begins in ("{", "["):
        told = f"{key} is text that begins with {begins}: give a path, or put the object into "
        raise ConfigurationError("the context", [f"{told}cdk.json"])
    return checked(json_of(folder / given), given, (folder / given).parent)


def checked(given: Any, source: str, folder: Path) -> Deployment:
    """A configuration from its JSON; `folder` is where relative file names begin."""
    whole = _object(given, source)
    defaults = whole.pop(DEFAULTS, {})
    if not isinstance(defaults, Mapping):
        raise ConfigurationError(source, [Fault((DEFAULTS,), _NO_OBJECT)])
    clusters = whole.get(CLUSTERS)
    own = clusters if isinstance(clusters, list) else []
    merged = [over(defaults, each) for each in own]
    if isinstance(clusters, list):
        whole[CLUSTERS] = [split(each) for each in merged]
    beside: dict[Place, Iterable[str]] = {(): [DEFAULTS]}
    beside |= {(CLUSTERS, index): KEYS for index in range(len(own))}
    deployment, faults = _typed(Deployment, whole, beside)
    faults += _of_clusters(merged, defaults, folder)
    if deployment is None or faults:
        told = [where_written(fault, own, defaults) for fault in faults]
        told.sort(key=_order)
        raise ConfigurationError(source, told)
    found = tuple(_found(cluster, folder) for cluster in deployment.clusters)
    return deployment.model_copy(update={"clusters": found})


def one_cluster(given: Mapping[str, Any], folder: Path | None = None) -> Cluster:
    """A cluster from its JSON, for an app that places constructs itself.

    Raises ConfigurationError; `folder` is where `ca_file` begins, by default the current one.
    """
    source, folder = "a cluster", folder or Path()
    whole = _object(given, source)
    cluster, faults = _typed(Cluster, split(whole), {(): KEYS})
    faults += _beside_types(whole, folder)
    if cluster is None or faults:
        raise ConfigurationError(source, faults)
    return _found(cluster, folder)


def _object(given: Any, source: str) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise ConfigurationError(source, [Fault(("document",), _NO_OBJECT)])
    return dict(given)


def _typed(
    model: type[M], given: Any, beside: Mapping[Place, Iterable[str]]
) -> tuple[M | None, list[Fault]]:
    try:
        return model.model_validate(given), []
    except ValidationError as error:
        return None, list(worded(error, model, beside))


def _of_clusters(
    clusters: Iterable[Any], defaults: Mapping[str, Any], folder: Path
) -> Iterator[Fault]:
    by_themselves = set(cluster_faults(defaults, folder))
    for index, each in enumerate(clusters):
        for fault in _beside_types(each, folder):
            joint = fault not in by_themselves
            yield replace(fault, place=(CLUSTERS, index, *fault.place), joint=joint)


def _beside_types(given: Any, folder: Path) -> Iterator[Fault]:
    """The faults of a cluster that its types do not tell, however wrong another one is."""
    if not isinstance(given, Mapping):
        return
    found = list(cluster_faults(given, folder))
    yield from found
    cluster, _ = _typed(Cluster, split(given), {})
    in_document = any(fault.place and fault.place[0] in KEYS for fault in found)
    if cluster is not None and not in_document:
        yield from unheard(cluster)


def _order(fault: Fault) -> int:
    """Each cluster's faults together, behind those of all."""
    match fault.place:
        case (str(key), int(index), *_) if key == CLUSTERS:
            return index
    return -1


def _found(cluster: Cluster, folder: Path) -> Cluster:
    """The same with its file's name as it is from everywhere."""
    if cluster.ca_file is None:
        return cluster
    return cluster.model_copy(update={"ca_file": str((folder / cluster.ca_file).resolve())})
