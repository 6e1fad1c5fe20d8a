# SPDX-License-Identifier: Apache-2.0
"""Pages, rows and panels, and the JSON that Grafana imports: its dashboard model, version 39.

Panels flow from left to right and wrap at 24 columns, so that none overlaps another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# Of Grafana 11; later ones lift it by themselves.
SCHEMA_VERSION = 39
COLUMNS = 24
TAG = "kafka-lag"
# The variable that all queries name, so that a page is imported into any Grafana as it is.
DATASOURCE = "datasource"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One panel; `targets` are queries of the source without refIds, `options`, `defaults` and
    `overrides` what its kind takes beside them. Sizes are in Grafana's grid.

    `repeat` names a variable: there is one such panel for each of its values.
    """

    title: str
    kind: str
    targets: Sequence[Json]
    width: int
    height: int
    description: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    overrides: Sequence[Json] = ()
    repeat: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A heading and the panels below it."""

    title: str
    panels: Sequence[Panel]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One dashboard; `uid` is what links and a second import know it by."""

    uid: str
    title: str
    description: str
    source: str
    variables: Sequence[Json]
    rows: Sequence[Row]

    def document(self) -> Json:
        """As Grafana imports it: no id and no version, which each Grafana gives itself."""
        return {
            "annotations": {"list": []},
            "description": self.description,
            "editable": True,
            "fiscalYearStartMonth": 0,
            "graphTooltip": 1,
            "id": None,
            "links": [_links()],
            "panels": list(self._panels()),
            "refresh": "1m",
            "schemaVersion": SCHEMA_VERSION,
            "tags": [TAG, self.source],
            "templating": {"list": list(self.variables)},
            "time": {"from": "now-6h", "to": "now"},
            "timepicker": {},
            "timezone": "",
            "title": self.title,
            "uid": self.uid,
            "weekStart": "",
        }

    def _panels(self) -> Iterator[Json]:
        place, number = _Place(), 0
        for row in self.rows:
            number += 1
            yield _heading(row.title, number, place.take(COLUMNS, 1))
            for panel in row.panels:
                number += 1
                spot = place.take(panel.width, panel.height)
                yield self._panel(panel, number, spot)

    def _panel(self, panel: Panel, number: int, spot: Json) -> Json:
        source = {"type": self.source, "uid": f"${{{DATASOURCE}}}"}
        targets = [
            {"refId": chr(ord("A") + at), "datasource": source, **target}
            for at, target in enumerate(panel.targets)
        ]
        return {
            "datasource": source,
            "description": panel.description,
            "fieldConfig": {
                "defaults": dict(panel.defaults),
                "overrides": list(panel.overrides),
            },
            "gridPos": spot,
            "id": number,
            "options": dict(panel.options),
            "targets": targets,
            "title": panel.title,
            "type": panel.kind,
            **(_repeated(panel.repeat) if panel.repeat else {}),
        }


class _Place:
    """Where the next panel goes: right of the last one, or below all of this line."""

    def __init__(self) -> None:
        self._x = self._y = self._tallest = 0

    def take(self, width: int, height: int) -> Json:
        """The next spot for one of this size."""
        if self._x + width > COLUMNS:
            self._x, self._y, self._tallest = 0, self._y + self._tallest, 0
        spot = {"h": height, "w": width, "x": self._x, "y": self._y}
        self._x += width
        self._tallest = max(self._tallest, height)
        return spot


def _heading(title: str, number: int, spot: Json) -> Json:
    return {
        "collapsed": False,
        "gridPos": spot,
        "id": number,
        "panels": [],
        "title": title,
        "type": "row",
    }


def _repeated(variable: str) -> Json:
    return {"maxPerRow": 4, "repeat": variable, "repeatDirection": "h"}


def _links() -> Json:
    """To the other pages, with what was chosen here."""
    return {
        "asDropdown": False,
        "icon": "external link",
        "includeVars": True,
        "keepTime": True,
        "tags": [TAG],
        "targetBlank": False,
        "title": "",
        "tooltip": "",
        "type": "dashboards",
        "url": "",
    }
