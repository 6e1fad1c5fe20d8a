# SPDX-License-Identifier: Apache-2.0
"""Addresses of the page's views; a name may hold anything, slashes and dots included."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, urlencode

GROUP, TOPIC = "group", "topic"
_VIEW = re.compile(rf"/cluster/([^/]*)/({GROUP}|{TOPIC})/(.*)", re.DOTALL)
_CLUSTER = re.compile(r"/cluster/([^/]+)/?")
# Parameter of a name that browsers would take for a step up the path.
_NAME = "name"
_STEPS = (".", "..")


def link(cluster: str, kind: str, name: str) -> str:
    """The path of a group or topic, percent-encoded."""
    place = f"/cluster/{quote(cluster, safe='')}/{kind}/"
    if name in _STEPS:
        return f"{place}?{urlencode({_NAME: name})}"
    return place + quote(name, safe="")


def of_cluster(cluster: str, query: Mapping[str, str]) -> str:
    """The address of one cluster's groups, with what else was asked for."""
    return f"/?{urlencode({**query, 'cluster': cluster})}"


def cluster_in(path: str) -> str | None:
    """The cluster that a decoded path ends with."""
    match = _CLUSTER.fullmatch(path)
    return match[1] if match else None


def found(path: str, named: str) -> tuple[str, str, str] | None:
    """Cluster, kind and name of a decoded path; `named` is the parameter of that name."""
    match = _VIEW.fullmatch(path)
    if match is None:
        return None
    cluster, kind, name = match.groups()
    return cluster, kind, name or named
