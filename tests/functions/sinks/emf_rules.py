# SPDX-License-Identifier: Apache-2.0
"""The published rules of CloudWatch's embedded metric format, checked line by line.

Independent of the sink: from "Specification: Embedded metric format" and the CloudWatch API
reference (Dimension, MetricDatum).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

UNITS = {"Seconds", "Milliseconds", "Count", "Count/Second", "Percent", "Bytes", "None"}
LARGEST_LINE = 256 * 1024


def faults_in(line: str) -> list[str]:
    """What CloudWatch would refuse or misread in a line; empty for a good one."""
    if len(line.encode()) > LARGEST_LINE or "\n" in line:
        return ["not one log event"]
    root = json.loads(line, parse_constant=lambda word: f"not JSON: {word}")
    stamp, directives = root["_aws"]["Timestamp"], root["_aws"]["CloudWatchMetrics"]
    faults = [] if type(stamp) is int and stamp > 10**12 else ["Timestamp is not in ms"]
    if not directives:
        faults.append("no directive")
    for directive in directives:
        faults += _directive(directive, root)
    return faults


def values_in(line: str) -> dict[str, Any]:
    """The values CloudWatch would take from a line, by metric name."""
    root = json.loads(line)
    (directive,) = root["_aws"]["CloudWatchMetrics"]
    return {metric["Name"]: root[metric["Name"]] for metric in directive["Metrics"]}


def _directive(directive: dict[str, Any], root: dict[str, Any]) -> Iterator[str]:
    if not 1 <= len(directive["Namespace"]) <= 255:
        yield "bad Namespace"
    if not 1 <= len(directive["Metrics"]) <= 100:
        yield "not 1 to 100 metrics"
    if len(directive["Dimensions"]) != 1:
        yield "values would be published under more than one dimension set"
    for names in directive["Dimensions"]:
        if len(names) > 30 or len(set(names)) != len(names):
            yield "more than 30 dimensions, or one twice"
        yield from (f"bad dimension {n}" for n in names if not _good_dimension(n, root.get(n)))
    for metric in directive["Metrics"]:
        name = metric["Name"]
        if type(root.get(name)) not in (int, float):
            yield f"{name} is no number"
        if metric["Unit"] not in UNITS:
            yield f"{name} has no unit of CloudWatch's"


def _good_dimension(name: str, value: Any) -> bool:
    if not isinstance(value, str) or not 1 <= len(value) <= 1024 or not 1 <= len(name) <= 255:
        return False
    printable = all(" " <= char <= "~" for char in value)
    return printable and bool(value.strip()) and not value.startswith(":")
