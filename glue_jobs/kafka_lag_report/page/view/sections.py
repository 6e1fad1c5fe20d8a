# SPDX-License-Identifier: Apache-2.0
"""The page's rows as its sections show them: cards, counts, drawings."""

from collections import Counter
from dataclasses import dataclass

from kafka_lag_report.page import words
from kafka_lag_report.page.model import GroupDay, Page, Peak, Stretch, TopicSkew
from kafka_lag_report.page.standing import Standing, standing, worst_topics
from kafka_lag_report.page.view import plots
from kafka_lag_report.page.view.sentences import Part, cause

LEVEL_WORDS = {
    "urgent": "lost or at risk",
    "serious": "in error or SLA missed",
    "notice": "warned or gone",
    "unknown": "unknown",
    "calm": "calm",
}
TWO = 2


@dataclass(frozen=True, slots=True)
class Section:
    """A link to a part of the page, and how many rows it has (None: not worth saying)."""

    id: str
    title: str
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """A level's groups, and their part of a strip of all, in per cent of its width."""

    level: str
    word: str
    count: int
    left: float
    width: float


@dataclass(frozen=True, slots=True)
class Card:
    """A group's day, drawn; without a curve when no snapshot of it was read."""

    day: GroupDay
    standing: Standing
    slot: int
    peak: Peak | None
    line: plots.Line | None
    timeline: tuple[Stretch, ...]
    coarse: bool
    numbers: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SkewedTopic:
    """A topic's bars, of `total` partitions."""

    skew: TopicSkew
    cause: tuple[Part, ...]
    drawn: plots.Columns
    total: int
    more: int


def sections(page: Page, findings: int) -> tuple[Section, ...]:
    """The links under the head of the page, in its order."""
    return (
        Section("attention", "Attention", findings),
        *([Section("groups", "Groups")] if page.curves else []),
        Section("retention", "Retention", page.risks.total),
        Section("skew", "Skew", page.skews.total),
        Section("brokers", "Brokers", page.brokers.total),
        Section("consumers", "Hot consumers", page.consumers.total),
        Section("anomalies", "Unusual hours", page.anomalies.total),
        Section("all", "All groups", page.groups.total),
        Section("coverage", "Coverage"),
    )


def tally(page: Page) -> tuple[Tally, ...]:
    """How many groups stand at each level; those too calm to be listed are counted as calm."""
    risks = worst_topics(page.risks.rows)
    counts = Counter(standing(day, risks.get(day.group)).level for day in page.groups.rows)
    counts["calm"] += page.groups.more
    left, parts = 0.0, []
    for level, word in LEVEL_WORDS.items():
        width = 100 * counts[level] / max(1, page.groups.total)
        parts.append(Tally(level, word, counts[level], round(left, TWO), round(width, TWO)))
        left += width
    return tuple(parts)


def cards(page: Page) -> tuple[Card, ...]:
    """A card for each group that has a curve, worst first."""
    risks = worst_topics(page.risks.rows)
    drawn = [day for day in page.groups.rows if day.group in page.curves]
    return tuple(_card(page, day, standing(day, risks.get(day.group))) for day in drawn)


def skewed_topics(page: Page) -> tuple[SkewedTopic, ...]:
    """The topics whose partitions are drawn, worst first."""
    drawn = []
    for skew in page.skews.rows:
        bars = page.bars.get((skew.group, skew.topic))
        if bars and bars.rows:
            columns = plots.columns(bars.rows, skew.mean, skew.cause_partitions)
            drawn.append(SkewedTopic(skew, cause(skew), columns, bars.total, bars.more))
    return tuple(drawn)


def _card(page: Page, day: GroupDay, stands: Standing) -> Card:
    curve = page.curves[day.group]
    return Card(
        day=day,
        standing=stands,
        slot=curve.slot_minutes,
        peak=curve.peak,
        line=plots.line(curve, day.sla_seconds),
        timeline=plots.timeline(curve.statuses),
        coarse=len(curve.statuses) > plots.STRETCHES,
        numbers=_numbers(day),
    )


def _numbers(day: GroupDay) -> tuple[tuple[str, str], ...]:
    return (
        ("Time lag p50", words.duration(day.time_lag_p50)),
        ("p95", words.duration(day.time_lag_p95)),
        ("p99", words.duration(day.time_lag_p99)),
        ("max", words.duration(day.time_lag_max)),
        ("Most behind", words.count(day.lag_max)),
        ("SLA met", words.share(day.sla_compliance)),
        ("In error", words.minutes(day.err_minutes)),
        ("Unknown", words.minutes(day.unknown_minutes)),
        ("Produced", words.rate(day.produce_rate)),
        ("Consumed", words.rate(day.consume_rate)),
        ("Catch-up", words.times(day.catch_up_capacity)),
        ("Rebalancing", _runs(day.rebalancing_runs)),
    )


def _runs(number: int | None) -> str:
    return words.DASH if number is None else words.plural(number, "run")
