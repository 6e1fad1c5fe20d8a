# SPDX-License-Identifier: Apache-2.0
"""The kinds of panel that pages are made of, each with what it is good at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kafka_lag import contract
from kafka_lag_cdk.grafana.model import COLUMNS, Json, Panel

WHOLE, HALF, THIRD, SIXTH = COLUMNS, COLUMNS // 2, COLUMNS // 3, COLUMNS // 6
_TALL, _FLAT = 8, 4

SECONDS, RECORDS, PER_SECOND, PERCENT = "s", "short", "cps", "percent"
BYTES, BYTES_PER_SECOND = "bytes", "Bps"

GREEN, YELLOW, RED = "green", "yellow", "red"
# Colours by the number of a status; words beside them, as colours alone do not tell everybody.
_COLOURS = {contract.OK: GREEN, contract.WARN: YELLOW, contract.ERR: RED}

_LINE = {
    "drawStyle": "line",
    "lineWidth": 1,
    "fillOpacity": 0,
    "showPoints": "auto",
    "spanNulls": False,
}
# The newest values, the highest first.
_LEGEND = {
    "calcs": ["lastNotNull", "max"],
    "displayMode": "table",
    "placement": "bottom",
    "showLegend": True,
    "sortBy": "Last *",
    "sortDesc": True,
}

# From this value on, that colour.
Mark = tuple[float, str]


def lines(
    title: str,
    targets: Sequence[Json],
    *,
    unit: str = RECORDS,
    width: int = HALF,
    description: str = "",
    most: float | None = None,
    marks: Sequence[Mark] = (),
    link: Json | None = None,
    safe: bool = False,
) -> Panel:
    """Lines over time from 0 on; gaps stay gaps, as unknown is not 0. `safe` as for a number."""
    defaults: dict[str, Any] = {
        "color": {"mode": "palette-classic"},
        "custom": {**_LINE, "thresholdsStyle": {"mode": "line" if marks else "off"}},
        "min": 0,
        "thresholds": _thresholds(marks),
        "unit": unit,
    }
    defaults |= {} if most is None else {"max": most}
    defaults |= {"mappings": _no_risk()} if safe else {}
    return Panel(
        title=title,
        kind="timeseries",
        targets=targets,
        width=width,
        height=_TALL,
        description=description,
        options={"legend": _LEGEND, "tooltip": {"mode": "multi", "sort": "desc"}},
        defaults=_linked(defaults, link),
    )


def number(
    title: str,
    targets: Sequence[Json],
    *,
    unit: str = RECORDS,
    width: int = SIXTH,
    description: str = "",
    marks: Sequence[Mark] = (),
    status: bool = False,
    safe: bool = False,
) -> Panel:
    """The newest value; with `status` its word, with `safe` one for the time of no data loss."""
    defaults: dict[str, Any] = {
        "color": {"mode": "thresholds"},
        "mappings": _words() if status else _no_risk() if safe else [],
        "noValue": "unknown",
        "thresholds": _thresholds(marks),
        "unit": unit,
    }
    return Panel(
        title=title,
        kind="stat",
        targets=targets,
        width=width,
        height=_FLAT,
        description=description,
        options={
            "colorMode": "value",
            "graphMode": "none",
            "justifyMode": "auto",
            "orientation": "auto",
            "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
            "textMode": "auto",
        },
        defaults=defaults,
    )


def numbers(
    title: str,
    targets: Sequence[Json],
    *,
    marks: Mapping[str, Sequence[Mark]],
    description: str = "",
    repeat: str | None = None,
) -> Panel:
    """The newest values of the queries that are named in `marks`, each with marks of its own."""
    one = number(title, targets, width=WHOLE, description=description)
    chosen = {**one.options["reduceOptions"], "fields": f"/^({'|'.join(marks)})$/"}
    overrides = [
        {
            "matcher": {"id": "byName", "options": name},
            "properties": [{"id": "thresholds", "value": _thresholds(each)}],
        }
        for name, each in marks.items()
    ]
    options = {**one.options, "reduceOptions": chosen}
    return replace(one, options=options, overrides=overrides, repeat=repeat)


def states(
    title: str, targets: Sequence[Json], *, description: str = "", link: Json | None = None
) -> Panel:
    """Statuses as bars over time, a line a group."""
    defaults = {
        "color": {"mode": "thresholds"},
        "custom": {"fillOpacity": 80, "lineWidth": 0, "spanNulls": False},
        "mappings": _words(),
        "thresholds": _thresholds(()),
    }
    return Panel(
        title=title,
        kind="state-timeline",
        targets=targets,
        width=WHOLE,
        height=_TALL,
        description=description,
        options={
            "alignValue": "left",
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": False},
            "mergeValues": True,
            "perPage": 20,
            "rowHeight": 0.9,
            "showValue": "auto",
            "tooltip": {"mode": "single", "sort": "none"},
        },
        defaults=_linked(defaults, link),
    )


def _thresholds(marks: Sequence[Mark]) -> Json:
    steps: list[Json] = [{"color": GREEN, "value": None}]
    steps += [{"color": colour, "value": value} for value, colour in marks]
    return {"mode": "absolute", "steps": steps}


def _words() -> list[Json]:
    told = {
        str(value): {"color": _COLOURS[word], "index": value, "text": word}
        for word, value in contract.GROUP_STATUS_VALUES.items()
    }
    return [{"type": "value", "options": told}]


def _no_risk() -> list[Json]:
    told = {"color": GREEN, "index": 0, "text": "no risk"}
    return [{"type": "value", "options": {f"{contract.NO_LOSS_SECONDS:.0f}": told}}]


def _linked(defaults: dict[str, Any], link: Json | None) -> dict[str, Any]:
    return defaults | ({"links": [link]} if link else {})
