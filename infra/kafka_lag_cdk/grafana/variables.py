# SPDX-License-Identifier: Apache-2.0
"""What a reader chooses at the top of a page."""

from __future__ import annotations

from kafka_lag_cdk.grafana.model import DATASOURCE, Json

CLUSTER, GROUP, TOPIC, REGION, BROKER = "cluster", "group", "topic", "region", "broker"
# Ask again when the page is loaded, or when the time range changes as well.
_ON_LOAD, _ON_TIME = 1, 2
_BY_NAME = 1


def datasource(kind: str, label: str) -> Json:
    """Which of Grafana's datasources of a kind."""
    return {
        "current": {},
        "hide": 0,
        "includeAll": False,
        "label": label,
        "multi": False,
        "name": DATASOURCE,
        "options": [],
        "query": kind,
        "refresh": _ON_LOAD,
        "regex": "",
        "skipUrlSync": False,
        "type": "datasource",
    }


def asked(
    name: str, label: str, kind: str, query: Json, *, many: bool = False, every: str | None = None
) -> Json:
    """Values that the source is asked for; with `many` all of them, as `every` in queries."""
    told: Json = {
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]} if many else {},
        "datasource": {"type": kind, "uid": f"${{{DATASOURCE}}}"},
        "definition": query.get("query", ""),
        "hide": 0,
        "includeAll": many,
        "label": label,
        "multi": many,
        "name": name,
        "options": [],
        "query": query,
        "refresh": _ON_TIME,
        "regex": "",
        "skipUrlSync": False,
        "sort": _BY_NAME,
        "type": "query",
    }
    return told | ({"allValue": every} if many else {})
