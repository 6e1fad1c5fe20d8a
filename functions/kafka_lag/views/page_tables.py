# SPDX-License-Identifier: Apache-2.0
"""The page's tables.

Rows are searched, ordered and cut into pages as columns; only rows shown become Python values.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import numpy as np

from kafka_lag import contract
from kafka_lag.lag.columns import Column, Mask, Rows, Strings
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.held import find_sla_used
from kafka_lag.lag.ownership import count_idle
from kafka_lag.lag.rollup import counts_of, totals
from kafka_lag.lag.sets import distinct
from kafka_lag.views.latest_run import LatestRun
from kafka_lag.views.sparkline import DEFAULT_PERIOD, PERIODS
from kafka_lag.views.urgency import UNKNOWN, rank_severities, rank_urgency
from kafka_lag.wording.words import WORDS

UNKNOWN_STATUS = "UNKNOWN"
# Words and styles, in the order of the numbers of `rank_severities`.
SEVERITIES = (contract.ERR, contract.WARN, UNKNOWN_STATUS, contract.OK)
SEVERITY_STYLES = ("urgent", "serious", "unknown", "calm")
# Columns that each table can be ordered by, the default first.
GROUP_SORTS = {
    "severity": "Severity",
    "group": "Group",
    "lag": "Lag",
    "time_lag": "Time lag",
    "sla": "SLA",
    "loss": "Time to data loss",
    "members": "Members",
    "held": "Held since",
}
PARTITION_SORTS = {
    "severity": "Severity",
    "partition": "Topic and partition",
    "lag": "Lag",
    "time_lag": "Time lag",
    "loss": "Time to data loss",
    "leader": "Leader",
    "member": "Member",
}
LOG_SORTS = {
    "partition": "Partition",
    "leader": "Leader",
    "kept": "Records kept",
    "rate": "Produced",
    "end": "Log end",
}
PARTITION_STATUSES = (
    *(contract.ERR, contract.STALL, contract.STOP, contract.REWIND, contract.WARN),
    *(UNKNOWN_STATUS, contract.OK),
)
# The words in the choice of a status, if they differ from it.
PARTITION_WORDS = {
    UNKNOWN_STATUS: "unknown",
    contract.STALL: WORDS[contract.STALLED],
    contract.STOP: WORDS[contract.STOPPED],
    contract.REWIND: WORDS[contract.REWOUND],
}
_GROUPS_PER_PAGE = 100
_PARTITIONS_PER_PAGE = 200
# The number of sums shown beside a table of partitions: the worst.
_MAX_SUMS = 50
# Topics shown for a member; all its partitions are in their own table.
_MAX_TOPICS_OF_MEMBER = 3
# A longer list of owners helps nobody; the address takes any owner.
_MAX_OWNERS = 300
MAX_OPTION_LENGTH = 200
_MAX_PAGE = 1_000_000
_GROUP_COLUMNS = (
    *("consumer_group", "owner", "read_at", "unread_reason", "group_state", "group_type"),
    "members",
    *("lag", "time_lag_seconds", "time_lag_error_seconds", "seconds_until_loss", "records_lost"),
    *("status", "last_status", "status_reason", "held_status", "held_since"),
    *("unusual", "rebalancing_share", "sla_seconds", "loss_since", "sla_broken_since"),
    *("held_sla_broken_since", "trend"),
    *("worst_topic", "worst_partition", "worst_status", "cause"),
    *("records_skipped", "skipped_at", "skip_reason", "muted"),
    *("held_up_records", "open_transaction_since"),
    *("open_transaction_topic", "open_transaction_partition"),
)
_GROUP_SEARCHED = ("consumer_group", "owner", "worst_topic")
_PARTITION_COLUMNS = (
    *("topic", "partition_id", "leader", "client_id", "client_host", "member_id"),
    *("committed_offset", "end_offset", "lag", "records_lost", "read_at", "unread_reason"),
    *("time_lag_seconds", "time_lag_error_seconds", "commit_changed_at"),
    *("seconds_until_loss", "retention_risk", "status", "last_status", "status_reason"),
    "consumer_status",
)
_PARTITION_SEARCHED = ("topic", "client_id", "client_host", "member_id")
_LOG_COLUMNS = (
    *("partition_id", "leader", "leader_rack", "replicas", "in_sync_replicas"),
    *("start_offset", "end_offset", "produce_rate", "unread_reason", "read_at"),
)

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOptions:
    """Search, filters, order and page from the address; empty texts select everything.

    `sort` is a column, with a minus in front for the reverse order. `period` is one of PERIODS.
    `name` is the name of a view if its path cannot hold it.
    """

    q: str = ""
    status: str = ""
    owner: str = ""
    cluster: str = ""
    sort: str
    default_sort: str
    page: int = 1
    refresh: bool = True
    period: str = DEFAULT_PERIOD
    name: str = ""

    @classmethod
    def of(
        cls, query: Mapping[str, str], sorts: Collection[str], statuses: Collection[str]
    ) -> PageOptions:
        """Returns the options of a query; long texts are cut, unknown values are left out.

        The first of `sorts` is the default.
        """
        default = next(iter(sorts))
        sort, status = query.get("sort", ""), query.get("status", "").upper()
        return cls(
            q=_cut_text(query.get("q", "")),
            status=status if status in statuses else "",
            owner=_cut_text(query.get("owner", "")),
            cluster=_cut_text(query.get("cluster", "")),
            sort=sort if sort.removeprefix("-") in sorts else default,
            default_sort=default,
            page=_parse_page(query.get("page", "")),
            refresh=query.get("refresh") != "off",
            period=period if (period := query.get("period", "")) in PERIODS else DEFAULT_PERIOD,
            name=_cut_text(query.get("name", "")),
        )

    def address(self, **changes: object) -> str:
        """Returns the query string of the same view with changes, from its first page."""
        parameters: dict[str, object] = {
            "q": self.q,
            "status": self.status,
            "owner": self.owner,
            "cluster": self.cluster,
            "sort": "" if self.sort == self.default_sort else self.sort,
            "page": "",
            "refresh": "" if self.refresh else "off",
            "period": self.chosen_period,
            "name": self.name,
            **changes,
        }
        if parameters["period"] == DEFAULT_PERIOD:
            parameters["period"] = ""
        return "?" + urlencode({name: value for name, value in parameters.items() if value})

    @property
    def chosen_period(self) -> str:
        """Returns the period, empty if it is the default; links to other views keep it."""
        return "" if self.period == DEFAULT_PERIOD else self.period

    @property
    def column(self) -> str:
        """Returns the column to sort by, in either direction."""
        return self.sort.removeprefix("-")

    @property
    def is_reversed(self) -> bool:
        """Returns True if the order is the reverse of the column's default."""
        return self.sort.startswith("-")

    @property
    def is_narrowed(self) -> bool:
        """Returns True if a filter leaves rows out."""
        return bool(self.q or self.status or self.owner or self.cluster)


def _cut_text(text: str) -> str:
    return text[:MAX_OPTION_LENGTH].strip()


def _parse_page(text: str) -> int:
    digits = text[:8]
    number = int(digits) if digits.isascii() and digits.isdigit() else 1
    return min(max(number, 1), _MAX_PAGE)


@dataclass(frozen=True, slots=True)
class TablePage:
    """One page of a table.

    `page` is its number, `pages` that of the last, `first` the number of its first row, `total` how
    many rows all pages have.
    """

    rows: list[Row]
    page: int
    pages: int
    first: int
    total: int


@dataclass(frozen=True, slots=True)
class GroupTable:
    """The selected rows, and facts about all rows.

    `tally` counts each severity among all rows searched. `has_slas` says whether any group has an
    SLA.
    """

    page: TablePage
    tally: tuple[int, ...]
    owners: tuple[str, ...]
    has_slas: bool


def tabulate_groups(latest: Sequence[LatestRun], options: PageOptions) -> GroupTable:
    """Returns the table of the newest readable runs.

    Every filter except `status` also narrows the tally.
    """
    frame = _join_clusters(latest)
    names = frame.strings("owner").pruned().categories
    has_slas = bool(frame.numbers("sla_seconds").known.any())
    owners = tuple(sorted(names, key=str.casefold)[:_MAX_OWNERS])
    frame = frame.where(_match_text(frame, _GROUP_SEARCHED, options.q))
    if options.owner:
        frame = frame.where(frame.strings("owner").is_in([options.owner]))
    severity = frame.numbers("severity").values
    tally = tuple(int(number) for number in np.bincount(severity, minlength=len(SEVERITIES)))
    if options.status:
        frame = frame.where(severity == SEVERITIES.index(options.status))
    order = _order_groups(frame, options)
    page = cut_page(frame, order, options.page, _GROUPS_PER_PAGE)
    return GroupTable(page, tally, owners, has_slas)


def _join_clusters(latest: Sequence[LatestRun]) -> Frame:
    """Returns one frame of all runs.

    Each row also has its `cluster`, `severity` and `taken_at` (ms UTC).
    """
    frames = []
    for run in latest:
        rows = Frame({name: run.groups.columns[name] for name in _GROUP_COLUMNS}, len(run.groups))
        frames.append(
            rows.with_columns(
                cluster=Strings.constant(run.cluster, len(rows)),
                severity=rank_severities(rows),
                taken_at=Column.of(np.full(len(rows), run.taken_at, np.int64)),
            )
        )
    joined, *others = frames
    for other in others:
        joined = joined.concat(other)
    return joined


def _order_groups(frame: Frame, options: PageOptions) -> Rows:
    worst_first = rank_urgency(frame)
    names = rank_names(frame.strings("consumer_group"))
    keys: dict[str, Column] = {
        "severity": worst_first[0],
        "group": names,
        "lag": -frame.numbers("lag"),
        "time_lag": -frame.numbers("time_lag_seconds"),
        "sla": -find_sla_used(frame),
        "loss": frame.numbers("seconds_until_loss"),
        "members": -frame.numbers("members"),
        "held": -frame.numbers("held_since"),
    }
    key = keys[options.column]
    return order_rows([-key if options.is_reversed else key, *worst_first, names])


def tabulate_partitions(rows: Frame, options: PageOptions) -> TablePage:
    """Returns a page of a group's partitions, the worst first unless another order is chosen."""
    frame = Frame({name: rows.columns[name] for name in _PARTITION_COLUMNS}, len(rows))
    frame = frame.with_columns(severity=rank_severities(frame))
    frame = frame.where(_match_text(frame, _PARTITION_SEARCHED, options.q))
    unknown = frame.numbers("severity").values == UNKNOWN
    if options.status == UNKNOWN_STATUS:
        frame = frame.where(unknown)
    elif options.status:
        last = frame.strings("last_status").only(~unknown)
        frame = frame.where(frame.strings("status").or_else(last).is_in([options.status]))
    log = [rank_names(frame.strings("topic")), frame.numbers("partition_id")]
    severity = frame.numbers("severity")
    oldest, most = (-frame.numbers(name) for name in ("time_lag_seconds", "lag"))
    keys = {
        "severity": [severity],
        "partition": log,
        "lag": [most],
        "time_lag": [oldest],
        "loss": [frame.numbers("seconds_until_loss")],
        "leader": [frame.numbers("leader")],
        "member": [rank_names(frame.strings("member_id"))],
    }
    return _page_partitions(frame, keys, [severity, oldest, most, *log], options)


def tabulate_logs(rows: Frame, options: PageOptions) -> TablePage:
    """Returns a page of a topic's own partitions."""
    frame = Frame({name: rows.columns[name] for name in _LOG_COLUMNS}, len(rows))
    retained = (frame.numbers("end_offset") - frame.numbers("start_offset")).clip(0)
    frame = frame.with_columns(retained=retained)
    number = frame.numbers("partition_id")
    keys = {
        "partition": [number],
        "leader": [frame.numbers("leader")],
        "kept": [-retained],
        "rate": [-frame.numbers("produce_rate")],
        "end": [-frame.numbers("end_offset")],
    }
    return _page_partitions(frame, keys, [number], options)


def _page_partitions(
    frame: Frame, keys: Mapping[str, list[Column]], then: list[Column], options: PageOptions
) -> TablePage:
    first = keys[options.column]
    if options.is_reversed:
        first = [-key for key in first]
    return cut_page(frame, order_rows([*first, *then]), options.page, _PARTITIONS_PER_PAGE)


def sum_partitions(rows: Frame, by: str, beside: Collection[str] = ()) -> tuple[list[Row], int]:
    """Returns the worst sets of rows that share the value in column `by`, and the number of sets.

    Each set has its name (None if unknown), partitions, lag, the oldest time lag and the error of
    that partition (unknown if another one may be older), severity, the numbers of unread and
    uncommitted partitions, records lost, and the columns `beside`, which are equal in all its rows.
    A set is left out if all its partitions are ignored by the configuration.
    """
    counts, names = counts_of(rows), rows.strings(by)
    unknown = len(names.categories)
    every, first = distinct(np.where(names.known, names.codes.values, unknown))
    sets = counts.sets(every)
    oldest = sets.first_at_maximum(counts.age.known, counts.age.values)
    error = rows.numbers("time_lag_error_seconds").take(oldest)
    frame = Frame(
        {
            "name": names.take(first),
            "partitions": sets.rows(),
            **totals(sets, counts),
            "time_lag_error_seconds": error.only(~sets.have(counts.unbounded)),
            "severity": sets.minimum(rank_severities(rows)),
            "unread": sets.rows(rows.strings("unread_reason").known),
            "uncommitted": sets.rows(counts.uncommitted),
            "records_lost": sets.total(rows.numbers("records_lost")),
            **{name: rows.columns[name].take(first) for name in beside},
        },
        sets.count,
    ).where(sets.rows().values > 0)
    worst = [-frame.numbers(name) for name in ("time_lag_seconds", "lag")]
    order = order_rows([frame.numbers("severity"), *worst])
    return frame.take(order[:_MAX_SUMS]).to_dicts(), len(frame)


@dataclass(frozen=True, slots=True)
class MemberTable:
    """The worst members that own partitions, after a row named None for unowned partitions.

    `count` is how many members own partitions; `idle` is how many own none, None if unknown. A row
    has the values of `sum_partitions`, and `owned`: the partition numbers of its first topics.
    `more_topics` is how many more topics it has.
    """

    rows: list[Row]
    count: int
    idle: int | None

    @property
    def shown(self) -> int:
        """Returns the number of members that have a row."""
        return sum(row["name"] is not None for row in self.rows)


def tabulate_members(group: Row, rows: Frame) -> MemberTable:
    """Returns the members of a group and the partitions that each one owns alone."""
    rows = rows.where(~rows.strings("member_id").is_in([contract.SHARED_MEMBER]))
    members, beside = rows.strings("member_id"), ("client_id", "client_host")
    sums = [
        row
        for part in (rows.where(~members.known), rows.where(members.known))
        for row in sum_partitions(part, "member_id", beside)[0]
    ]
    owned: dict[str | None, dict[str, list[int]]] = {row["name"]: {} for row in sums}
    columns = (rows.columns[name].to_list() for name in ("member_id", "topic", "partition_id"))
    for member, topic, number in zip(*columns, strict=True):
        if member in owned:
            owned[member].setdefault(topic, []).append(number)
    for row in sums:
        topics = sorted(owned[row["name"]].items())
        shown = topics[:_MAX_TOPICS_OF_MEMBER]
        row["owned"] = [(topic, sorted(numbers)) for topic, numbers in shown]
        row["more_topics"] = len(topics) - len(shown)
    count = len(members.pruned().categories)
    return MemberTable(sums, count, None if group["members"] is None else count_idle(group, count))


def match_substring(strings: Strings, wanted: str) -> Mask:
    """Returns a mask of strings that contain the text, ignoring case; unknown never does."""
    folded = wanted.casefold()
    return strings.is_in([each for each in strings.categories if folded in each.casefold()])


def _match_text(frame: Frame, names: Collection[str], wanted: str) -> Mask:
    """Returns a mask of rows with the text in one of these columns; all rows for an empty text."""
    if not wanted:
        return np.ones(len(frame), bool)
    found = np.zeros(len(frame), bool)
    for name in names:
        found |= match_substring(frame.strings(name), wanted)
    return found


def rank_names(strings: Strings) -> Column:
    """Returns each row's place in the order of the strings, ignoring case."""
    order = sorted(
        range(len(strings.categories)), key=lambda at: (strings.categories[at].casefold(), at)
    )
    ranks = np.zeros(len(order) + 1, np.int64)
    ranks[np.array(order, np.int64)] = np.arange(len(order))
    return Column(ranks[np.where(strings.known, strings.codes.values, 0)], strings.known)


def order_rows(keys: Sequence[Column]) -> Rows:
    """Returns the rows by the first key, then the next; unknown values come last."""
    rows: Rows = np.lexsort([key.fill(np.inf) for key in reversed(keys)])
    return rows


def cut_page(frame: Frame, rows: Rows, page: int, size: int) -> TablePage:
    """Returns this page of the rows in this order; the last page if there are fewer."""
    pages = max(1, -(-len(rows) // size))
    page = min(page, pages)
    first = (page - 1) * size
    shown = frame.take(rows[first : first + size]).to_dicts()
    return TablePage(shown, page, pages, first + 1 if shown else 0, len(rows))
