# SPDX-License-Identifier: Apache-2.0
"""A dashboard's widgets taken apart: the metrics they name, and the searches in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Widget = dict[str, Any]
Widgets = list[Widget]

# A search as AWS writes it in its user guide, every name of it in double quotes.
_SEARCH = re.compile(
    r"SEARCH\('\{(?P<schema>\"[^\"']+\"(?:,\"[^\"']+\")+)\} "
    r"MetricName=\"(?P<metric>\w+)\" \"Cluster Name\"=\"(?P<cluster>[\w.-]+)\"', "
    r"'(?P<statistic>\w+)'\)"
)
_ONE_SEARCH = r"SEARCH\('[^']*', '\w+'\)"
_AROUND = re.compile(
    rf"(SORT\({_ONE_SEARCH}, (MAX, DESC|MIN, ASC), 50\)"
    rf"|{_ONE_SEARCH}"
    rf"|MAX\({_ONE_SEARCH}\)( \+ MAX\({_ONE_SEARCH}\))*)"
)


@dataclass(frozen=True, slots=True)
class Line:
    """A metric that is drawn, searched for or named; `period` in seconds."""

    namespace: str
    metric: str
    dimensions: tuple[str, ...]
    cluster: str | None
    statistic: str
    period: int


def lines_of(widget: Widget) -> Iterator[Line]:
    """All lines of a metric widget. Raises ValueError for a search of another shape."""
    for entry in widget["properties"].get("metrics", ()):
        rest = entry[-1]
        if "expression" in rest:
            yield from _searched(rest["expression"], rest.get("period", 300))
        else:
            yield _named(entry)


def _named(entry: list[Any]) -> Line:
    namespace, metric, *pairs, options = entry
    dimensions = dict(zip(pairs[::2], pairs[1::2], strict=True))
    period = options.get("period", 300)
    cluster = dimensions.get("Cluster Name")
    return Line(namespace, metric, tuple(dimensions), cluster, options["stat"], period)


def _searched(expression: str, period: int) -> Iterator[Line]:
    found = list(_SEARCH.finditer(expression))
    if not _AROUND.fullmatch(expression) or len(found) != expression.count("SEARCH("):
        raise ValueError(f"not a search as AWS documents it: {expression}")
    for match in found:
        namespace, *dimensions = (name.strip('"') for name in match["schema"].split(","))
        yield Line(
            namespace,
            match["metric"],
            tuple(dimensions),
            match["cluster"],
            match["statistic"],
            period,
        )


def title_of(widget: Widget) -> str:
    """What stands above it, nothing where nothing does."""
    return str(widget["properties"].get("title", ""))
