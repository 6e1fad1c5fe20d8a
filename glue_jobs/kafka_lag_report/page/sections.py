# SPDX-License-Identifier: Apache-2.0
"""Prepares the sections of the page: cards, counts, drawings, and the table of all groups."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from kafka_lag.wording.formatting import (
    NO_BREAK_SPACE,
    format_count,
    format_factor,
    format_quantity,
    format_rate,
)
from kafka_lag_report.findings import (
    Findings,
    GroupRank,
    GroupTopic,
    Listed,
    Rank,
    find_worst_topics,
    rank_group,
)
from kafka_lag_report.incident import Kind
from kafka_lag_report.page import plots
from kafka_lag_report.page.attention import choose_bad_words
from kafka_lag_report.page.drawn import Axis, Curve
from kafka_lag_report.schemas import Row
from kafka_lag_report.sentences import (
    DASH,
    WHOLE_NAME,
    word_age,
    word_known,
    word_minutes,
    word_name,
    word_share,
    word_time_left,
)
from kafka_lag_report.thresholds import FEW_MINUTES, WHOLE_DAY_MINUTES

LEVELS = {
    Rank.LOST: "urgent",
    Rank.AT_RISK: "urgent",
    Rank.ERROR: "serious",
    Rank.SLA: "serious",
    Rank.WARNED: "warned",
    Rank.GONE: "notice",
    Rank.UNKNOWN: "unknown",
    Rank.CALM: "calm",
}
STATIC_ROWS = 60
# The rest of 3 MB when every other part of the page has its largest size.
REST_BYTES = 1_500_000
Cells = tuple[str, ...]
# Values of a part of the page, by their names in the template.
Drawn = dict[str, Any]
_compact = partial(json.dumps, separators=(",", ":"))
_age = partial(word_age, space=NO_BREAK_SPACE)
_minutes = partial(word_minutes, space=NO_BREAK_SPACE)


@dataclass(frozen=True, slots=True)
class Column:
    """A number of each group in the table of all groups.

    `on_phones`: narrow screens show it too.
    """

    title: str
    text: Callable[[Row], str]
    on_phones: bool = False

    @property
    def kind(self) -> str:
        """Returns the CSS classes of the column's cells."""
        return "n" if self.on_phones else "n roomy"


def _word_sla_met(day: Row) -> str:
    """Returns the share of the time in which the SLA was met.

    Adds the time for which this is known, unless it is known for the whole day.
    """
    met, decided = word_share(day["sla_compliance"]), day["sla_minutes"]
    if day["sla_compliance"] is None or decided is None or decided >= WHOLE_DAY_MINUTES:
        return met
    return f"{met} of {_minutes(decided)}"


def _word_percentile(day: Row, seconds: float | None) -> str:
    """Returns an age; a lower bound if more than FEW_MINUTES of the day's ages are only that."""
    is_least = (day["time_lag_least_minutes"] or 0.0) > FEW_MINUTES
    return word_known(partial(_age, is_least=is_least), seconds)


def _word_oldest(day: Row) -> str:
    return word_known(
        partial(_age, is_least=bool(day["time_lag_max_is_least"])), day["time_lag_max"]
    )


COLUMNS = (
    Column("Time lag p95", lambda day: _word_percentile(day, day["time_lag_p95"])),
    Column("Time lag max", _word_oldest, on_phones=True),
    Column("SLA met", _word_sla_met, on_phones=True),
    Column("In error", lambda day: _minutes(day["err_minutes"]), on_phones=True),
    Column("Unknown", lambda day: _minutes(day["unknown_minutes"])),
    Column("Most behind", lambda day: word_known(format_count, day["lag_max"])),
    Column("Produced", lambda day: word_known(format_rate, day["produce_rate"])),
    Column("Catch-up", lambda day: word_known(format_factor, day["catch_up_capacity"])),
)


@dataclass(frozen=True, slots=True)
class Page:
    """A day's findings with what is drawn."""

    findings: Findings
    axis: Axis = field(default_factory=Axis)
    curves: Mapping[str, Curve] = field(default_factory=dict)
    bars: Mapping[GroupTopic, Listed[Row]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Listing:
    """The cells of the rows that are shown, other rows as a JSON list, and counts.

    `searchable` is the number of rows in the list, `left_out` the number of rows without room.
    """

    rows: tuple[Cells, ...]
    rest: Markup
    searchable: int
    left_out: int


def list_sections(page: Page, attention: int) -> tuple[tuple[str, str, int | None], ...]:
    """Returns the links to the page's sections, in order: id, title, and number of rows.

    The number is None if it is not worth showing.
    """
    of = page.findings
    other = len(of.other_skews)
    all_sections = (
        ("attention", "Attention", attention, True),
        ("groups", "Groups", None, page.curves),
        ("retention", "Retention", of.risks.total, True),
        ("skew", "Skew", of.skews.total - other, True),
        ("other-skew", "Other skew", other, other),
        ("brokers", "Brokers", of.brokers.total, True),
        ("consumers", "Hot consumers", of.consumers.total, True),
        ("tasks", "Tasks needed", of.tasks.total, of.tasks.total),
        ("slo", "Objectives", of.objectives.total, of.objectives.total),
        ("anomalies", "Unusual hours", of.unusual.total, True),
        ("all", "All groups", of.groups.total, True),
        ("coverage", "Coverage", None, True),
    )
    return tuple((name, title, count) for name, title, count, there in all_sections if there)


def word_calm_day(findings: Findings) -> str:
    """Returns the sentence for a day without incidents: what did not happen to its groups."""
    total = findings.groups.total
    if not total:
        return "No consumer group was seen on this day, so there is nothing to report."
    so_far = " so far" if findings.in_progress else ""
    sla = len(choose_bad_words(findings.groups.rows)) > 1
    if total == 1:
        never = ", was never in error and missed no SLA" if sla else " and was never in error"
        who = f"The one group neither lost nor risked records{never}"
    else:
        missed = " or missed its SLA" if sla else ""
        comma = "," if sla else " or"
        who = f"None of {total:,} groups lost or risked records{comma} was in error{missed}"
    unknown = sum(rank_group(day, None).rank == Rank.UNKNOWN for day in findings.groups.rows)
    if unknown:
        lag = f"the lag of {format_quantity(unknown, 'group')} was unknown all day"
        return f"Nothing is known to need any{so_far}, but {lag}. {who}, as far as is known."
    return f"Nothing does{so_far}. {who}."


def count_levels(findings: Findings) -> tuple[Drawn, ...]:
    """Returns the number of groups at each level, and their place on a strip of all groups.

    Places are in per cent. Groups that were too calm to be read count as calm.
    """
    risks = find_worst_topics(findings.risks.rows)
    days = findings.groups.rows
    of_kind = {
        kind: {
            name
            for one in findings.incidents
            if one.kind == kind
            for name in (one.group, *one.others)
        }
        for kind in (Kind.REBALANCING, Kind.UNKNOWN)
    }

    def level_of(day: Row) -> str:
        """Returns the level of a group.

        One that rebalanced or was unread for long is never calm.
        """
        ranked = LEVELS[rank_group(day, risks.get(day["consumer_group"])).rank]
        if ranked != "calm":
            return ranked
        if day["consumer_group"] in of_kind[Kind.REBALANCING]:
            return "warned"
        return "unknown" if day["consumer_group"] in of_kind[Kind.UNKNOWN] else ranked

    counts = Counter(map(level_of, days))
    counts["calm"] += findings.groups.more
    sla = len(choose_bad_words(days)) > 1
    words = {
        "urgent": "lost or at risk",
        "serious": "in error or SLA missed" if sla else "in error",
        "warned": "warned",
        "notice": "gone without trouble",
        "unknown": "unknown",
        "calm": "calm",
    }
    left, parts = 0.0, []
    for level, word in words.items():
        count = counts[level]
        width = 100 * count / max(1, findings.groups.total)
        place = {"left": round(left, 2), "width": round(width, 2)}
        parts.append({"level": level, "word": word, "count": count, **place})
        left += width
    return tuple(parts)


def make_cards(page: Page) -> tuple[Drawn, ...]:
    """Returns a card for each group that has a curve, worst first."""
    risks = find_worst_topics(page.findings.risks.rows)
    return tuple(
        _make_card(page, day, rank_group(day, risks.get(day["consumer_group"])))
        for day in page.findings.groups.rows
        if day["consumer_group"] in page.curves
    )


def list_groups(findings: Findings) -> Listing:
    """Returns all groups: the worst as rows of the page, others as JSON for its search."""
    risks = find_worst_topics(findings.risks.rows)
    cells = [
        _make_cells(day, rank_group(day, risks.get(day["consumer_group"])))
        for day in findings.groups.rows
    ]
    rest = list(_fit(cells[STATIC_ROWS:]))
    shown = cells[:STATIC_ROWS]
    return Listing(
        rows=tuple(shown),
        rest=Markup("[{}]").format(Markup(",").join(rest)),
        searchable=len(rest),
        left_out=max(0, findings.groups.total - len(shown) - len(rest)),
    )


def word_rank(stands: GroupRank) -> str:
    """Returns a rank in a few words, with its amount if that is known."""
    amount = stands.amount
    if stands.rank == Rank.LOST:
        return "lost records" if amount is None else f"lost at least {format_count(amount)}"
    if stands.rank == Rank.AT_RISK:
        return "at risk" if amount is None else f"{word_time_left(amount)} to loss"
    if stands.rank in (Rank.ERROR, Rank.WARNED):
        return f"{'error' if stands.rank == Rank.ERROR else 'warned'} {_minutes(amount)}"
    return "SLA missed" if stands.rank == Rank.SLA else stands.rank.name.lower()


def _make_card(page: Page, day: Row, stands: GroupRank) -> Drawn:
    """Returns what is drawn and said about a group that has a curve."""
    curve = page.curves[day["consumer_group"]]
    is_calm = day["time_lag_max"] == 0 and not day["lag_max"]
    return {
        "day": day,
        "level": LEVELS[stands.rank],
        "word": word_rank(stands),
        "peak": curve.peak,
        "line": plots.draw_line(curve, page.axis, day["sla_seconds"]),
        "timeline": plots.shorten_timeline(curve.statuses),
        "coarse": len(curve.statuses) > plots.STRETCHES,
        "never_behind": is_calm and stands.rank not in (Rank.LOST, Rank.AT_RISK),
        "numbers": _list_numbers(day),
    }


def _list_numbers(day: Row) -> tuple[tuple[str, str], ...]:
    runs = day["rebalancing_runs"]
    return (
        ("Time lag p50", _word_percentile(day, day["time_lag_p50"])),
        ("p95", _word_percentile(day, day["time_lag_p95"])),
        ("p99", _word_percentile(day, day["time_lag_p99"])),
        ("max", _word_oldest(day)),
        ("Most behind", word_known(format_count, day["lag_max"])),
        ("SLA met", _word_sla_met(day)),
        ("In error", _minutes(day["err_minutes"])),
        ("Lag unknown", _minutes(day["unknown_minutes"])),
        ("Produced", word_known(format_rate, day["produce_rate"])),
        ("Consumed", word_known(format_rate, day["consume_rate"])),
        ("Catch-up", word_known(format_factor, day["catch_up_capacity"])),
        ("Rebalancing", DASH if runs is None else format_quantity(runs, "run")),
        ("Rebalances", word_known(format_count, day["rebalances"])),
        ("All the time", _minutes(day["rebalancing_minutes"])),
    )


def _make_cells(day: Row, stands: GroupRank) -> Cells:
    """Returns name, owner, level and word of the day, then one text for each of COLUMNS."""
    return (
        word_name(day["consumer_group"], WHOLE_NAME),
        word_name(day["owner"], WHOLE_NAME) if day["owner"] else "",
        LEVELS[stands.rank],
        word_rank(stands),
        *(column.text(day) for column in COLUMNS),
    )


def _fit(rows: Iterable[Cells]) -> Iterable[Markup]:
    """Yields rows as JSON without HTML markup, until REST_BYTES are used up."""
    left = REST_BYTES
    for row in rows:
        text = htmlsafe_json_dumps(row, dumps=_compact)
        left -= len(text) + 1
        if left < 0:
            return
        yield text
