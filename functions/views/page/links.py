# SPDX-License-Identifier: Apache-2.0
"""Addresses of the page's views; a name may hold anything, slashes and dots included."""

from __future__ import annotations

import re
from urllib.parse import quote, urlencode

GROUP, TOPIC = "group", "topic"
_VIEW = re.compile(rf"/cluster/([^/]*)/({GROUP}|{TOPIC})/(.*)", re.DOTALL)
# Parameter of a name that browsers would take for a step up the path.
_NAME = "name"
_STEPS = (".", "..")


def link(cluster: str, kind: str, name: str) -> str:
    """The path of a group or topic, percent-encoded."""
    place = f"/cluster/{quote(cluster, safe='')}/{kind}/"
    if name in _STEPS:
        return f"{place}?{urlencode({_NAME: name})}"
    return place + quote(name, safe="")


def found(path: str, named: str) -> tuple[str, str, str] | None:
    """Cluster, kind and name of a decoded path; `named` is the parameter of that name."""
    match = _VIEW.fullmatch(path)
    if match is None:
        return None
    cluster, kind, name = match.groups()
    return cluster, kind, name or named
