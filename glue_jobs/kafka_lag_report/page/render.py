# SPDX-License-Identifier: Apache-2.0
"""The page as one HTML text that loads nothing, from files and from a zip alike.

Names are escaped by Jinja2 in HTML and SVG, by its JSON filter in the script block; the policy
in the head allows this page's own style and script by their hashes and nothing else.
"""

import base64
import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from kafka_lag_report.page import words
from kafka_lag_report.page.model import Coverage, Page, TopicRisk
from kafka_lag_report.page.view.attention import attention
from kafka_lag_report.page.view.listing import COLUMNS, listing
from kafka_lag_report.page.view.sections import cards, sections, skewed_topics, tally
from kafka_lag_report.page.view.sentences import cause

ROWS = 60


def render(page: Page) -> str:
    """The whole page, under 3 MB whatever the cluster: calm groups are left out first."""
    environment = _environment()
    css, js = (_asset(environment, name) for name in ("report.css", "report.js"))
    findings = attention(page)
    listed = listing(page)
    return environment.get_template("report.html.j2").render(
        page=page,
        none=words.DASH,
        css=css,
        js=js,
        hashes={"css": _hash(css), "js": _hash(js)},
        findings=findings,
        tally=tally(page),
        sections=sections(page, len(findings)),
        cards=cards(page),
        risks=page.risks.rows[:ROWS],
        skews=page.skews.rows[:ROWS],
        bars=skewed_topics(page),
        columns=COLUMNS,
        rows=listed.rows,
        rest=listed.rest,
        searchable=listed.searchable,
        left_out=listed.left_out,
    )


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("kafka_lag_report.page", "template"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    own = (words.name, words.duration, words.minutes, words.count, words.rate, words.share)
    for show in (*own, words.times, words.clock, words.minute, cause):
        environment.filters[show.__name__] = show
    environment.filters |= {
        "broker": _broker,
        "loss_at": _loss_at,
        "seen": _seen,
        "unit": _unit,
        "capitalize_first": _capitalize_first,
    }
    return environment


def _asset(environment: Environment, name: str) -> Markup:
    """A file beside the templates as it stands; the loader finds it in a zip too."""
    if environment.loader is None:
        raise LookupError(name)
    return Markup(environment.loader.get_source(environment, name)[0])  # noqa: S704, our own file


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _broker(leader: int | None) -> str:
    return "no leader" if leader is None else f"broker {leader}"


def _loss_at(risk: TopicRisk) -> datetime | None:
    """When the first unread record would be deleted, by the least time left of the day."""
    if risk.seconds_left is None or risk.seconds_left_at is None:
        return None
    return risk.seconds_left_at + timedelta(seconds=risk.seconds_left)


def _seen(coverage: Coverage) -> float | None:
    """The share of the expected runs that were seen."""
    if coverage.runs is None or not coverage.expected_runs:
        return None
    return coverage.runs / coverage.expected_runs


def _unit(measure: str) -> Callable[[float | None], str]:
    shown = {"time_lag_seconds": words.duration, "lag": words.count, "produce_rate": words.rate}
    return shown[measure]


def _capitalize_first(text: Markup) -> Markup:
    """A sentence's first letter, leaving the markup of names alone."""
    return text[:1].upper() + text[1:]
