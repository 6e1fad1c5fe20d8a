# SPDX-License-Identifier: Apache-2.0
"""The table of all groups: the worst as rows of the page, the others as JSON for its search."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from kafka_lag_report.page import words
from kafka_lag_report.page.model import GroupDay, Page
from kafka_lag_report.page.standing import Standing, standing, worst_topics

STATIC_ROWS = 60
# What is left of 3 MB when every other part of the page is as large as it gets.
REST_BYTES = 1_500_000
COLUMNS = (
    "Time lag p95",
    "Time lag max",
    "SLA met",
    "In error",
    "Unknown",
    "Most behind",
    "Produced",
    "Catch-up",
)
Cells = tuple[str, ...]
_compact = partial(json.dumps, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Listing:
    """Cells of the rows shown, a JSON list of the others, and how many had no room."""

    rows: tuple[Cells, ...]
    rest: Markup
    searchable: int
    left_out: int


def listing(page: Page) -> Listing:
    """All groups of the page, worst first."""
    risks = worst_topics(page.risks.rows)
    cells = [_cells(day, standing(day, risks.get(day.group))) for day in page.groups.rows]
    rest = list(_fitting(cells[STATIC_ROWS:]))
    shown = cells[:STATIC_ROWS]
    return Listing(
        rows=tuple(shown),
        rest=Markup("[{}]").format(Markup(",").join(rest)),
        searchable=len(rest),
        left_out=max(0, page.groups.total - len(shown) - len(rest)),
    )


def _cells(day: GroupDay, stands: Standing) -> Cells:
    """Name, owner, level and word of the day, then one text for each of COLUMNS."""
    return (
        words.name(day.group),
        words.name(day.owner) if day.owner else "",
        stands.level,
        stands.word,
        words.duration(day.time_lag_p95),
        words.duration(day.time_lag_max),
        words.share(day.sla_compliance),
        words.minutes(day.err_minutes),
        words.minutes(day.unknown_minutes),
        words.count(day.lag_max),
        words.rate(day.produce_rate),
        words.times(day.catch_up_capacity),
    )


def _fitting(rows: Iterable[Cells]) -> Iterable[Markup]:
    """Rows as JSON that no HTML parser sees markup in, as long as the budget lasts."""
    left = REST_BYTES
    for row in rows:
        text = htmlsafe_json_dumps(row, dumps=_compact)
        left -= len(text) + 1
        if left < 0:
            return
        yield text
