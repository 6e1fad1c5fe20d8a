# SPDX-License-Identifier: Apache-2.0
"""From `cdk.json` context, or the file it names, to a configuration that has no faults."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from infra.config.checks import faults as unheard
from infra.config.deployment import Deployment
from infra.config.document import KEYS, document_faults
from infra.config.faults import ConfigurationError, Place, path_of, told
from infra.config.parts.cluster import Cluster

# The context key of cdk.json.
CONTEXT_KEY = "msk-lag-reporter"

_CLUSTERS, _DEFAULTS, _COLLECTOR = "clusters", "defaults", "collector"
_LARGEST_MINUTES = 60


def read(given: Any, folder: Path) -> Deployment:
    """The configuration that context holds, or the JSON file that it names under `folder`.

    `defaults` holds keys for every cluster, which its own go before; objects are merged. Raises
    ConfigurationError with every fault, each with its path and what was expected.
    """
    if isinstance(given, str):
        return checked(_loaded(folder / given), given, (folder / given).parent)
    if given is None:
        raise ConfigurationError(
            "cdk.json",
            [f"context.{CONTEXT_KEY} is missing: give an object or the path of a JSON file"],
        )
    return checked(given, f"cdk.json, context.{CONTEXT_KEY}", folder)


def checked(given: Any, source: str, folder: Path) -> Deployment:
    """A configuration from its JSON; `folder` is where relative file names begin."""
    if not isinstance(given, Mapping):
        raise ConfigurationError(source, ["document: must be an object"])
    whole = dict(given)
    defaults, clusters = whole.pop(_DEFAULTS, {}), whole.get(_CLUSTERS)
    if not isinstance(defaults, Mapping):
        raise ConfigurationError(source, [f"{_DEFAULTS}: must be an object"])
    if isinstance(clusters, list):
        whole[_CLUSTERS] = [_split(_over(defaults, cluster)) for cluster in clusters]
    try:
        deployment = Deployment.model_validate(whole)
    except ValidationError as error:
        count = len(clusters) if isinstance(clusters, list) else 0
        beside: dict[Place, Iterable[str]] = {(): [_DEFAULTS]}
        beside |= {(_CLUSTERS, index): KEYS for index in range(count)}
        raise ConfigurationError(source, told(error, Deployment, beside)) from None
    faults = list(_beyond_types(deployment, folder))
    if faults:
        raise ConfigurationError(source, faults)
    return deployment.model_copy(
        update={"clusters": tuple(_found(cluster, folder) for cluster in deployment.clusters)}
    )


def one_cluster(given: Mapping[str, Any], folder: Path | None = None) -> Cluster:
    """A cluster from its JSON, for an app that places constructs itself.

    Raises ConfigurationError; `folder` is where `ca_file` begins, by default the current one.
    """
    return checked({_CLUSTERS: [given]}, "a cluster", folder or Path()).clusters[0]


def _loaded(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except OSError as error:
        raise ConfigurationError(
            str(path), [f"the file cannot be read ({error.strerror}); begin with one of examples/"]
        ) from None
    except ValueError as error:
        raise ConfigurationError(str(path), [f"it is not JSON ({error})"]) from None


def _over(defaults: Any, own: Any) -> Any:
    """What a cluster says over what all say; an object of a `type` replaces the other whole.

    Its own keys come first, as among expressions for names the first that fits decides.
    """
    if not (isinstance(defaults, Mapping) and isinstance(own, Mapping)):
        return own
    if defaults.get("type") != own.get("type", defaults.get("type")):
        return own
    merged = {key: _over(defaults.get(key), value) for key, value in own.items()}
    return merged | {key: value for key, value in defaults.items() if key not in own}


def _split(cluster: Any) -> Any:
    """The collector's keys gathered under one."""
    if not isinstance(cluster, Mapping) or _COLLECTOR in cluster:
        return cluster
    own = {key: value for key, value in cluster.items() if key not in KEYS}
    return {**own, _COLLECTOR: {key: cluster[key] for key in cluster if key in KEYS}}


def _beyond_types(deployment: Deployment, folder: Path) -> Iterator[str]:
    for index, cluster in enumerate(deployment.clusters):
        for fault in _of_cluster(cluster, folder):
            yield f"{path_of((_CLUSTERS, index))}.{fault}"


def _of_cluster(cluster: Cluster, folder: Path) -> Iterator[str]:
    unread = document_faults(cluster)
    yield from unread or unheard(cluster)
    seconds = cluster.collector.get("interval_seconds", 60)
    minutes = seconds / 60 if isinstance(seconds, int | float) else 0
    if minutes and (minutes % 1 or _LARGEST_MINUTES % minutes):
        yield "interval_seconds: must be whole minutes that divide an hour"
    if cluster.ca_file and not (folder / cluster.ca_file).is_file():
        yield f"ca_file: there is no file {cluster.ca_file}"


def _found(cluster: Cluster, folder: Path) -> Cluster:
    """The same with its file's name as it is from everywhere."""
    if cluster.ca_file is None:
        return cluster
    return cluster.model_copy(update={"ca_file": str((folder / cluster.ca_file).resolve())})
