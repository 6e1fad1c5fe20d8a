# SPDX-License-Identifier: Apache-2.0
"""The numbers that decided a cause, as people read them.

Strangers chose the names among them, so these are escaped.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from kafka_lag import contract
from kafka_lag.wording.formatting import (
    format_minute,
    format_name,
    format_quantity,
    format_rate,
    format_short_duration,
)
from kafka_lag.wording.words import find_word

_RATES = (
    *("produce_rate", "produce_rate_before", "produce_rate_of_others", "usual_produce_rate"),
    *("consume_rate", "consume_rate_before", "topic_rate", "topic_rate_before", "capacity"),
)
_FORMATS: Mapping[str, Callable[[Any], str]] = {
    **dict.fromkeys(_RATES, format_rate),
    # Newer runs count more, so the share does not mean a number of runs.
    "rebalancing_share": "{:.0%}".format,
    **dict.fromkeys(("kept_up_at", "stuck_since", "last_commit_at", "last_read_at"), format_minute),
    **dict.fromkeys(("stands_since", "open_since", "changed_at", "restarts_since"), format_minute),
    **dict.fromkeys(("over_at", "as_of"), format_minute),
    # Rounded up, so that no backlog is worked off in 0 s.
    "drain_seconds": partial(format_short_duration, rounding=math.ceil),
    "members": lambda number: format_quantity(round(number), "member"),
    "members_before": lambda number: f"{number:,.0f}",
    "groups": lambda number: format_quantity(number, "group"),
    "held_up_records": lambda number: format_quantity(number, "record"),
    "records_lost": lambda number: format_quantity(number, "record"),
    "retention_ms": lambda ms: format_short_duration(ms / 1_000, precise=True),
}
_FATES = {
    contract.MADE_ANEW: "deleted and created again: its id is another one",
    contract.CUT: "cut: its id is as it was, and its end went back",
}
_WORDS = ("after", "setting")
_OFFSET_FIELDS = ("committed_offset", "rewound_from", "end_offset")


def read_evidence(row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the numbers that decided a cause; empty if they are unknown or not readable."""
    try:
        found = json.loads(row.get("cause_evidence") or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def format_evidence(evidence: Mapping[str, Any]) -> dict[str, str]:
    """Returns the known values as fields of a sentence."""
    fields: dict[str, str] = {}
    for name, value in evidence.items():
        if value is None:
            continue
        if name in _FORMATS and isinstance(value, int | float):
            fields[name] = _FORMATS[name](value)
        elif name in ("was", "now", "also"):
            continue
        elif name == "topic_was":
            if value in _FATES:
                fields[name] = _FATES[value]
        elif name in _OFFSET_FIELDS:
            fields[name] = f"{value:,}" if isinstance(value, int) else format_name(str(value))
        else:
            fields[name] = format_name(str(find_word(value) if name in _WORDS else value))
    fields |= _format_setting(evidence)
    if isinstance(partitions := evidence.get("partitions"), int):
        fields["partitions"] = format_quantity(partitions, "partition")
        fields["partitions_of_group"] = fields["partitions"]
    return fields


def _format_setting(evidence: Mapping[str, Any]) -> dict[str, str]:
    """Returns the setting's old and new value, as fields named after the setting."""
    formats: Mapping[str, tuple[str, Callable[[Any], str]]] = {
        contract.RETENTION: ("retention", _format_retention),
        contract.PARTITIONS: ("partitions", lambda number: format_quantity(number, "partition")),
        contract.REPLICAS: ("replicas", lambda brokers: ", ".join(map(str, brokers))),
    }
    name, write = formats.get(str(evidence.get("setting")), ("", str))
    if not name or None in (evidence.get("was"), evidence.get("now")):
        return {}
    return {f"{name}_{when}": write(evidence[when]) for when in ("was", "now")}


def _format_retention(ms: int) -> str:
    return "unlimited" if ms < 0 else format_short_duration(ms / 1_000, precise=True)


def fits(text: str, fields: Mapping[str, str]) -> bool:
    """Returns true if all fields that the sentence names are known."""
    try:
        text.format_map(fields)
    except KeyError:
        return False
    return True
