# SPDX-License-Identifier: Apache-2.0
"""Small pages to render, from plain rows."""

from datetime import UTC, date, datetime
from html.parser import HTMLParser
from typing import Any, ClassVar

from kafka_lag.contract.reports import REPORT_COLUMNS
from kafka_lag_report.findings import Findings, Listed, TopicRisk
from kafka_lag_report.incident import NOTICE, SERIOUS, Incident, Kind
from kafka_lag_report.page.drawn import Curve, Stretch
from kafka_lag_report.page.sections import Page
from kafka_lag_report.schemas import Row

DAY = date(2026, 1, 31)
NASTY = "<script>alert(1)</script>"


def at(hour: int, minute: int = 0) -> datetime:
    """A time of the page's day."""
    return datetime(2026, 1, 31, hour, minute, tzinfo=UTC)


def group_day(name: str, **more: Any) -> Row:
    """A group's own row of the summary."""
    return row_of("lag_summary", consumer_group=name, **more)


def calm(name: str = "geo", **more: Any) -> Row:
    """A group that kept up all day."""
    numbers = {"known_minutes": 1440.0, "ok_minutes": 1440.0, "time_lag_max": 4.0}
    return group_day(name, **{**numbers, **more})


def skew_of(group: str, topic: str, lag: bool | None, production: bool | None, **more: Any) -> Row:
    """A topic that is skewed in lag or in production."""
    keys = {"consumer_group": group, "topic": topic}
    skewed = {"lag_skewed": lag, "production_skewed": production}
    own = {"cause_partitions": (), "group_stopped": False, **more}
    return row_of("partition_skew", **keys, **skewed, **own)


def coverage_of(
    dataset: str = "groups", runs: int | None = None, expected: int | None = None, **more: Any
) -> Row:
    """How much of the day's runs a dataset has."""
    counts = {"runs": runs, "expected_runs": expected}
    return row_of("coverage", dataset=dataset, **{**counts, **more})


def page(**more: Any) -> Page:
    """A cluster's day with nothing in it but what is asked for."""
    drawn = {name: more.pop(name) for name in ("axis", "curves", "bars") if name in more}
    return Page(Findings(**{"cluster": "demo", "day": DAY, **more}), **drawn)


def of(*groups: Row) -> Listed[Row]:
    """All groups of a page."""
    return Listed(groups, len(groups))


def row_of(report: str, **more: Any) -> Row:
    """A row of a report's table: what is not named is null."""
    return {**dict.fromkeys(REPORT_COLUMNS[report]), **more}


def only(report: str, **more: Any) -> Listed[Row]:
    """The one row that there is of a report."""
    return Listed((row_of(report, **more),), 1)


def bar(
    partition: int, leader: int | None, mean_lag: float | None, produced: int | None = None
) -> Row:
    """A partition of a skewed topic, as it is drawn."""
    return {
        "partition_id": partition,
        "leader": leader,
        "mean_lag": mean_lag,
        "produced": produced,
    }


def peak(minute: int, seconds: float, **more: Any) -> Row:
    """The moment of a group's largest time lag."""
    unknown = dict.fromkeys(("topic", "partition", "leader", "member"))
    return {"minute": minute, "seconds": seconds, "is_least": False, **unknown, **more}


def full(name: str = NASTY, groups: int = 3) -> Page:
    """A page with a row in every section, each name in it being `name`."""
    days = (
        calm(name, owner=name, err_minutes=61.0, sla_seconds=60.0, gone=True),
        *(calm(f"{name}{number}", owner=name) for number in range(groups - 1)),
    )
    skew: dict[str, Any] = {"lag_mean": 9.0, "lag_top_partition": 1, "cause_partitions": (1,)}
    blamed: dict[str, Any] = {
        "cause": "consumer",
        "cause_client_id": name,
        "cause_client_host": name,
        "cause_member": name,
    }
    return page(
        cluster=name,
        groups=of(*days),
        curves={day["consumer_group"]: curve(name) for day in days[:24]},
        risks=Listed((TopicRisk(name, name, 1, 1, 5, 1, 60.0, at(14)),), 1),
        skews=Listed((skew_of(name, name, True, False, **skew, **blamed),), 1),
        bars={(name, name): Listed((bar(0, 1, 3.0, 5), bar(1, None, None)), 2)},
        brokers=only("broker_hotspots", leader=1, leader_rack=name, hot=True),
        consumers=only(
            "consumer_hotspots",
            **dict.fromkeys(("consumer_group", "client_host", "client_id", "member_id"), name),
        ),
        tasks=only(
            "tasks_needed",
            **_TASKS,
            consumer_group=name,
            tasks_needed_reason=name,
            hours={3: 2, 4: 4},
        ),
        objectives=only("slo", consumer_group=name, **_OBJECTIVE),
        unusual=only("anomalies", consumer_group=name, **_UNUSUAL),
        coverage=(
            coverage_of(
                "groups", 1430, 1440, objects=1440, objects_skipped=2, skipped=f"{name},{name}"
            ),
        ),
        incidents=(
            Incident(kind=Kind.STALLED, level=SERIOUS, group=name, topic=name, client=name),
            Incident(kind=Kind.UNEVEN, level=NOTICE, topic=name),
        ),
    )


_TASKS = {
    "known_minutes": 60.0,
    "lower_quartile": 1,
    "median": 2,
    "upper_quartile": 3,
    "most": 4,
    "members": 2,
    "last_tasks_needed": 3,
}
_OBJECTIVE = {
    "age_seconds": 300.0,
    "target": 99.5,
    "days": 30,
    "kept_minutes": 1_400.0,
    "broken_minutes": 30.0,
    "unknown_minutes": 10.0,
    "window_kept_minutes": 41_000.0,
    "window_broken_minutes": 240.0,
    "window_unknown_minutes": 90.0,
    "budget_minutes": 216.0,
    "budget_left_minutes": -24.0,
    "burn_rate": 4.2,
}
_UNUSUAL = {
    "hour": 3,
    "measure": "produce_rate",
    "value": 1.0,
    "usual": 9.0,
    "deviation": -6.0,
    "direction": "low",
    "days": 9,
}


def curve(topic: str | None = None) -> Curve:
    """An hour known, an hour not, then 22 hours in error."""
    return Curve(
        seconds=(*[30.0] * 12, *[None] * 12, *[900.0] * 264),
        statuses=(Stretch(0, 60, "OK"), Stretch(60, 60, None), Stretch(120, 1320, "ERR")),
        peak=peak(125, 900.0, topic=topic, partition=3, leader=2),
    )


class Tags(HTMLParser):
    """Every tag with its attributes, and the text that a person reads.

    A line for each block and table row, cells apart by bars; no drawings, scripts or styles.
    """

    _SKIPPED = ("script", "style", "svg", "head", "nav")
    _BLOCKS = ("tr", "dl", "p", "li", "div", "section", "summary", "h1", "h2", "h3", "caption")
    _ENDS: ClassVar = {"td": " | ", "th": " | ", "dt": ": ", "dd": "; "}

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self._lines = [""]
        self._inside = list[str]()
        self.feed(html)

    @property
    def text(self) -> str:
        """What a person reads, line by line."""
        lines = (" ".join(line.split()).strip(" |;") for line in self._lines)
        return "\n".join(line for line in lines if line)

    def _is_in(self, *tags: str) -> bool:
        return any(tag in self._inside for tag in tags)

    def _break(self, tag: str) -> None:
        if tag in self._BLOCKS and not self._is_in("tr", "dl"):
            self._lines.append("")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember it, and begin a line."""
        self.found.append((tag, dict(attrs)))
        self._break(tag)
        if tag in (*self._SKIPPED, "tr", "dl"):
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """End a line or a cell."""
        if self._inside and tag == self._inside[-1]:
            self._inside.pop()
        self._break(tag)
        self._lines[-1] += self._ENDS.get(tag, " ")

    def handle_data(self, data: str) -> None:
        """Gather what a person reads."""
        if not self._is_in(*self._SKIPPED):
            self._lines[-1] += data

    def of(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of each such tag."""
        return [attributes for found, attributes in self.found if found == tag]
