# SPDX-License-Identifier: Apache-2.0
"""The status page, made from the newest snapshots for a person on call.

It is rendered on the server, works without JavaScript, and loads nothing from elsewhere.
"""

from __future__ import annotations

import base64
import hashlib
import logging
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlencode

import numpy as np
from markupsafe import Markup

from kafka_lag import contract
from kafka_lag.errors import StoreError
from kafka_lag.lag.frame import Frame
from kafka_lag.views import page_format
from kafka_lag.views.html_templates import make_environment
from kafka_lag.views.http import Answer, Request, redirect_trailing_slash
from kafka_lag.views.latest_run import LatestRun, Snapshots, UnreadableCluster, find_latest_run
from kafka_lag.views.losses import find_losses
from kafka_lag.views.page_tables import (
    GROUP_SORTS,
    LOG_SORTS,
    MAX_OPTION_LENGTH,
    PARTITION_SORTS,
    PARTITION_STATUSES,
    PARTITION_WORDS,
    SEVERITIES,
    SEVERITY_STYLES,
    PageOptions,
    Row,
    sum_partitions,
    tabulate_groups,
    tabulate_logs,
    tabulate_members,
    tabulate_partitions,
)
from kafka_lag.views.sparkline import PERIODS, Sparkline, load_recent_runs
from kafka_lag.views.urgency import rank_severities
from kafka_lag.wording.formatting import format_quantity
from kafka_lag.wording.words import (
    ALWAYS_REBALANCING,
    NO_SHARED_LAG,
    is_share_group,
    lacks_shared_lag,
)

if TYPE_CHECKING:
    from jinja2 import Environment

# Lower values are drawn as a flat line, so that the noise of a healthy group is not a mountain.
_FLAT_SECONDS = 10.0
_FLAT_RECORDS = 10.0
# A collector that comes back later than this starts without earlier state.
_ABANDONED_SECONDS = 7 * 86_400.0
# Topics whose loss is explained; the table of topics has all.
_MAX_LOSSES = 3
# Columns that are the same for all partitions of a topic.
_TOPIC_SETTINGS = (
    "retention_ms",
    "retention_bytes",
    "cleanup_policy",
    "timestamp_type",
    "topic_id",
)
PATHS = (
    "/",
    "/cluster/{cluster}",
    "/cluster/{cluster}/group/{group}",
    "/cluster/{cluster}/topic/{topic}",
)
_METHODS = ("GET", "HEAD")
_GROUP, _TOPIC = "group", "topic"
_VIEW_PATH = re.compile(rf"/cluster/([^/]*)/({_GROUP}|{_TOPIC})/(.*)", re.DOTALL)
_CLUSTER_PATH = re.compile(r"/cluster/([^/]+)/?")
# Parameter for a name that browsers would take for a step up the path.
_NAME_PARAMETER = "name"
_DOT_SEGMENTS = (".", "..")
_HTML = "text/html; charset=utf-8"


def answer(request: Request, snapshots: Snapshots, now_ms: int) -> Answer:
    """Returns a page for every path, 404 for an unknown one; never raises an error of the store."""
    if request.method not in _METHODS:
        return error_page(405, "This page can only be looked at.")
    try:
        return _route(request, snapshots, now_ms)
    except StoreError as error:
        logging.getLogger(__name__).warning("%s", error)
        return error_page(
            503, "The snapshots cannot be read now. What this page would say is unknown."
        )


def error_page(status: int, why: str) -> Answer:
    """Returns a page that says in one sentence why the requested one is missing."""
    return _render("error.html.j2", status, why=why)


def link(cluster: str, kind: str, name: str, period: str = "") -> str:
    """Returns the path of a group or topic, percent-encoded.

    A name may contain anything, also slashes and dots. `period` is empty for the default one.
    """
    parent = f"/cluster/{quote(cluster, safe='')}/{kind}/"
    query = {"period": period} if period else {}
    if name in _DOT_SEGMENTS:
        query[_NAME_PARAMETER] = name
    else:
        parent += quote(name, safe="")
    return f"{parent}?{urlencode(query)}" if query else parent


def json_link(cluster: str, *below: str) -> str | None:
    """Returns the path in Burrow's API of a cluster, or of a name `below` it.

    Returns None for a name that no path can hold.
    """
    if any(name in ("", *_DOT_SEGMENTS) for name in below):
        return None
    return "/".join(["/v3/kafka", *(quote(name, safe="") for name in (cluster, *below))])


def parse_link(path: str, named: str) -> tuple[str, str, str] | None:
    """Returns cluster, kind and name of a decoded path; `named` is the name in the query."""
    match = _VIEW_PATH.fullmatch(path)
    if match is None:
        return None
    cluster, kind, name = match.groups()
    return cluster, kind, name or named


def _is_link(sent_path: str) -> bool:
    """Returns True if a path holds a group's or topic's name, even an empty one."""
    return parse_link(unquote(sent_path), "") is not None


def _route(request: Request, snapshots: Snapshots, now_ms: int) -> Answer:
    path, query = request.path, request.query
    if path in ("", "/"):
        return show_overview(request.query, snapshots, now_ms)
    if cluster := _CLUSTER_PATH.fullmatch(path):
        target = f"/?{urlencode({**query, 'cluster': cluster[1]})}"
        return Answer(302, "text/plain", b"", {"Location": target})
    if redirect := redirect_trailing_slash(request, _is_link):
        return redirect
    found = parse_link(path, query.get(_NAME_PARAMETER, ""))
    if found is None:
        return error_page(404, "There is no such page.")
    cluster_name, kind, name = found
    run = find_latest_run(snapshots, cluster_name, now_ms)
    if run is None:
        return error_page(404, "There are no snapshots of a cluster of that name.")
    if isinstance(run, UnreadableCluster):
        return error_page(503, "The newest snapshots of this cluster cannot be read.")
    show = show_group if kind == _GROUP else show_topic
    return show(name, request.query, snapshots, run, now_ms)


def show_overview(query: Mapping[str, str], snapshots: Snapshots, now_ms: int) -> Answer:
    """Returns all clusters' groups, or one cluster's; 404 for an unknown cluster.

    Raises StoreError.
    """
    options = PageOptions.of(query, GROUP_SORTS, SEVERITIES)
    names = snapshots.clusters()
    chosen = [name for name in names if options.cluster in ("", name)]
    found = [run for run in (find_latest_run(snapshots, name, now_ms) for name in chosen) if run]
    runs, abandoned = _split_abandoned([run for run in found if isinstance(run, LatestRun)])
    table = tabulate_groups(runs, options) if runs else None
    return _render(
        "overview.html.j2",
        404 if names and not chosen else 200,
        now=now_ms,
        options=options,
        sorts=GROUP_SORTS,
        clusters=names,
        runs=runs,
        abandoned=abandoned,
        unreadable_clusters=[run for run in found if isinstance(run, UnreadableCluster)],
        table=table,
        sparklines=_draw_time_lags(table.page.rows, snapshots, runs, now_ms, options.period)
        if table
        else [],
        period=PERIODS[options.period],
        refresh_seconds=_refresh_seconds(runs),
    )


def show_group(
    name: str, query: Mapping[str, str], snapshots: Snapshots, run: LatestRun, now_ms: int
) -> Answer:
    """Returns one group's numbers, topics and partitions; 404 if the newest run lacks the group.

    Raises StoreError.
    """
    options = PageOptions.of(query, PARTITION_SORTS, PARTITION_STATUSES)
    groups = _select_name(run.groups, "consumer_group", name)
    if not len(groups):
        return _answer_missing(_GROUP, name, run, now_ms)
    group = groups.with_columns(severity=rank_severities(groups)).to_dicts()[-1]
    rows = snapshots.frame(run.cluster, contract.GROUP_PARTITIONS, run.taken_at)
    rows = _select_name(rows, "consumer_group", name)
    topics, topic_count = sum_partitions(rows, "topic")
    losses = []
    if group["records_lost"]:
        logs = snapshots.frame(run.cluster, contract.TOPIC_PARTITIONS, run.taken_at)
        losses = find_losses(rows, logs)
    period = PERIODS[options.period]
    recent = load_recent_runs(snapshots, run, now_ms, period, period.max_runs)
    (time_lag,) = recent.draw([name], "time_lag_seconds", _FLAT_SECONDS)
    (lag,) = recent.draw([name], "lag", _FLAT_RECORDS)
    return _render(
        "group.html.j2",
        **_context_of(run, now_ms, options),
        name=name,
        group=group,
        losses=losses[:_MAX_LOSSES],
        topics=topics,
        topic_count=topic_count,
        members=tabulate_members(group, rows),
        table_page=tabulate_partitions(rows, options),
        sorts=PARTITION_SORTS,
        statuses=PARTITION_STATUSES,
        time_lag=time_lag,
        lag=lag,
        period=period,
        drawn_every=period.slot_ms(period.max_runs) / 1000,
    )


def show_topic(
    name: str, query: Mapping[str, str], snapshots: Snapshots, run: LatestRun, now_ms: int
) -> Answer:
    """Returns one topic's settings, groups and partitions; 404 if it is unknown.

    Raises StoreError.
    """
    options = PageOptions.of(query, LOG_SORTS, ())
    logs = snapshots.frame(run.cluster, contract.TOPIC_PARTITIONS, run.taken_at)
    logs = _select_name(logs, "topic", name)
    readers = snapshots.frame(run.cluster, contract.GROUP_PARTITIONS, run.taken_at)
    readers = _select_name(readers, "topic", name)
    if not len(logs) and not len(readers):
        return _answer_missing(_TOPIC, name, run, now_ms)
    groups, group_count = sum_partitions(readers, "consumer_group")
    return _render(
        "topic.html.j2",
        **_context_of(run, now_ms, options),
        name=name,
        settings={column: _first_known(logs, column) for column in _TOPIC_SETTINGS},
        groups=groups,
        group_count=group_count,
        table_page=tabulate_logs(logs, options),
        sorts=LOG_SORTS,
    )


def _context_of(run: LatestRun, now_ms: int, options: PageOptions) -> dict[str, Any]:
    return {
        "now": now_ms,
        "options": options,
        "runs": [run],
        "unreadable_clusters": [],
        "refresh_seconds": _refresh_seconds([run]),
    }


def _answer_missing(kind: str, name: str, run: LatestRun, now_ms: int) -> Answer:
    return _render("missing.html.j2", 404, kind=kind, name=name, run=run, now=now_ms)


def _split_abandoned(runs: list[LatestRun]) -> tuple[list[LatestRun], list[LatestRun]]:
    """Returns the runs to show, and the last runs of clusters that are no longer read.

    The snapshots of such a cluster stay, and would show its last numbers among current ones
    forever.
    """
    alive = [run for run in runs if run.age_seconds <= _ABANDONED_SECONDS]
    abandoned = [run for run in runs if run.age_seconds > _ABANDONED_SECONDS]
    return (alive, abandoned) if alive else (runs, [])


def _refresh_seconds(runs: Sequence[LatestRun]) -> int:
    interval = min((run.interval_seconds for run in runs), default=60.0)
    return round(min(max(interval, 15), 300))


def _draw_time_lags(
    rows: Sequence[Row],
    snapshots: Snapshots,
    runs: Sequence[LatestRun],
    now_ms: int,
    period_name: str,
) -> list[Sparkline]:
    """Returns the time lag of each row; several clusters share the number of runs that are read."""
    period = PERIODS[period_name]
    by_cluster: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        by_cluster.setdefault(row["cluster"], []).append(number)
    drawn: dict[int, Sparkline] = {}
    for run in runs:
        if numbers := by_cluster.get(run.cluster, []):
            max_runs = max(period.max_runs_small // len(by_cluster), 1)
            recent = load_recent_runs(snapshots, run, now_ms, period, max_runs)
            names = [rows[number]["consumer_group"] for number in numbers]
            lines = recent.draw(names, "time_lag_seconds", _FLAT_SECONDS)
            drawn |= dict(zip(numbers, lines, strict=True))
    return [drawn[number] for number in range(len(rows))]


def _select_name(frame: Frame, column: str, name: str) -> Frame:
    return frame.where(frame.strings(column).is_in([name]))


def _first_known(frame: Frame, column: str) -> Any:
    """Returns the first known value; None if there is none."""
    values = frame.columns[column]
    at = np.flatnonzero(values.known)[:1]
    return next(iter(values.take(at).to_list()), None)


def _render(template: str, status: int = 200, **context: Any) -> Answer:
    """Returns the template as an answer that browsers do not cache, frame, or report to others.

    Jinja2 escapes names; scripts and styles are allowed by their hash.
    """
    css, js = (_asset(name) for name in ("page.css", "page.js"))
    text = _environment().get_template(template).render(css=css, js=js, **context)
    headers = {
        "Content-Security-Policy": (
            f"default-src 'none'; style-src '{_hash(css)}'; script-src '{_hash(js)}'; "
            "img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }
    return Answer(status, _HTML, text.encode(), headers)


@cache
def _environment() -> Environment:
    environment = make_environment("kafka_lag.views")
    environment.filters |= page_format.FILTERS
    environment.globals |= {
        "dash": page_format.DASH.format,
        "link": link,
        "json_link": json_link,
        "PERIODS": PERIODS,
        "MAX_SEARCH": MAX_OPTION_LENGTH,
        "plural": format_quantity,
        "SEVERITY_STYLES": SEVERITY_STYLES,
        "SEVERITIES": SEVERITIES,
        "NO_LOSS": contract.NO_LOSS_SECONDS,
        "ALWAYS_REBALANCING": ALWAYS_REBALANCING,
        "PARTITION_WORDS": PARTITION_WORDS,
        "NO_SHARED_LAG": NO_SHARED_LAG,
        "is_share_group": is_share_group,
        "lacks_shared_lag": lacks_shared_lag,
    }
    return environment


@cache
def _asset(name: str) -> Markup:
    """Returns the unchanged text of a file beside the templates."""
    environment = _environment()
    if environment.loader is None:
        raise LookupError(name)
    return Markup(environment.loader.get_source(environment, name)[0])  # noqa: S704, our own file


@cache
def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
