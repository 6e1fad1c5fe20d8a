# SPDX-License-Identifier: Apache-2.0
"""Renders the page as one HTML text that loads nothing, from files or from a zip.

Jinja2 escapes names in HTML and SVG, and its JSON filter escapes them in the script block. The
policy in the head allows only the style and the script of this page, by their hashes.
"""

import base64
import hashlib
from collections.abc import Callable
from functools import partial

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from kafka_lag.contract import LEAST_WEEKS, USUAL_WEEKS
from kafka_lag.wording.formatting import (
    NO_BREAK_SPACE,
    format_count,
    format_duration,
    format_factor,
    format_rate,
    split_middle,
)
from kafka_lag_report.findings import Findings, compute_share_of_runs
from kafka_lag_report.page.attention import (
    answer_first_questions,
    format_clock,
    format_minute,
    list_attention,
)
from kafka_lag_report.page.drawn import choose_axis, find_interval, read_bars, read_curves
from kafka_lag_report.page.plots import choose_colours
from kafka_lag_report.page.sections import (
    COLUMNS,
    Page,
    count_levels,
    list_groups,
    list_sections,
    make_cards,
    word_calm_day,
)
from kafka_lag_report.queries import Queries
from kafka_lag_report.sentences import (
    DASH,
    LONGEST_NAME,
    MEASURES,
    WHOLE_NAME,
    choose_words,
    word_age,
    word_cause,
    word_known,
    word_minutes,
    word_name,
    word_need,
    word_share,
    word_time_left,
)
from kafka_lag_report.thresholds import HOT_FACTOR, SKEW_FACTOR

# Limits that the texts beside tables state.
_LIMITS = {
    "HOT_FACTOR": HOT_FACTOR,
    "SKEW_FACTOR": SKEW_FACTOR,
    "LEAST_WEEKS": LEAST_WEEKS,
    "USUAL_WEEKS": USUAL_WEEKS,
}
_CUT_NAME = Markup(
    '<bdi class="{}" title="{}">{}<span class="dots" aria-hidden="true"></span>'
    '<span class="cut">{}</span>{}</bdi>'
)
# Most rows of a table.
ROWS = 60
# Most groups with a card, most skewed topics with bars, and most bars of one topic.
_CARDS, _TOPICS, _BARS = 24, 6, 48


def read_page(findings: Findings, queries: Queries) -> Page:
    """Returns a cluster's findings with the curves and bars of the worst groups and topics."""
    axis = choose_axis(findings)
    worst = [day["consumer_group"] for day in findings.groups.rows[:_CARDS]]
    skewed = [
        (skew["consumer_group"], skew["topic"])
        for skew in findings.actionable_skews
        if skew["lag_skewed"]
    ][:_TOPICS]
    return Page(
        findings=findings,
        axis=axis,
        curves=read_curves(queries, worst, axis, find_interval(findings)),
        bars=read_bars(queries, skewed, _BARS),
    )


def render(page: Page) -> str:
    """Returns the whole page, always less than 3 MB: calm groups are left out first."""
    environment = _make_environment()
    css, js = (_load_asset(environment, name) for name in ("report.css", "report.js"))
    findings = page.findings
    found, listed = list_attention(findings), list_groups(findings)
    return environment.get_template("report.html.j2").render(
        page=findings,
        axis=page.axis,
        dash=DASH,
        limits=_LIMITS,
        css=css,
        js=js,
        hashes={"css": _hash(css), "js": _hash(js)},
        glance=answer_first_questions(findings),
        attention=found,
        calm=word_calm_day(findings),
        tally=count_levels(findings),
        sections=list_sections(page, len(found)),
        cards=make_cards(page),
        risks=findings.risks.rows[:ROWS],
        skews=findings.actionable_skews[:ROWS],
        other_skews=findings.other_skews[:ROWS],
        brokers=findings.brokers.rows[:ROWS],
        consumers=findings.consumers.rows[:ROWS],
        tasks=findings.tasks.rows[:ROWS],
        objectives=findings.objectives.rows[:ROWS],
        hours=findings.unusual.rows[:ROWS],
        bars={topic: bars for topic, bars in page.bars.items() if bars.rows},
        colours=choose_colours(bar for bars in page.bars.values() for bar in bars.rows),
        columns=COLUMNS,
        rows=listed.rows,
        rest=listed.rest,
        longest_name=LONGEST_NAME,
        searchable=listed.searchable,
        left_out=listed.left_out,
    )


def _make_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("kafka_lag_report.page", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "name": word_name,
        "name_tag": _make_name_tag,
        "duration": _word_known(partial(format_duration, space=NO_BREAK_SPACE)),
        "age": lambda seconds, is_least: word_known(
            partial(word_age, is_least=bool(is_least), space=NO_BREAK_SPACE), seconds
        ),
        "time_left": _word_known(word_time_left),
        "minutes": partial(word_minutes, space=NO_BREAK_SPACE),
        "count": _word_known(format_count),
        "rate": _word_known(format_rate),
        "share": word_share,
        "share_of_runs": compute_share_of_runs,
        "percent": "{:g} %".format,
        "times": _word_known(format_factor),
        "clock": format_clock,
        "minute": format_minute,
        "number": _format_number,
        "broker": _name_broker,
        "cause": word_cause,
        "needed_for": word_need,
        "measure": lambda measure: MEASURES.get(measure) or word_name(measure),
        "unit": lambda measure, is_least=False: _word_known(choose_words(measure, is_least)),
        "capitalize_first": _capitalize_first,
    }
    return environment


def _make_name_tag(text: str | None, kind: str = "name") -> Markup:
    """Returns an element with the whole name as text.

    The style sheet hides the middle of a long name. The hidden part is still read aloud and copied
    with the rest. report.js makes the same element.
    """
    whole = word_name(text, WHOLE_NAME)
    start, middle, end = split_middle(whole, LONGEST_NAME)
    if not middle:
        return Markup('<bdi class="{}">{}</bdi>').format(kind, whole)
    return _CUT_NAME.format(kind, whole, start, middle, end)


def _word_known(words: Callable[[float], str]) -> Callable[[float | None], str]:
    return partial(word_known, words)


def _format_number(value: int | None) -> str:
    """Returns the number of a partition or broker, without thousands separators.

    A dash for None.
    """
    return DASH if value is None else str(value)


def _load_asset(environment: Environment, name: str) -> Markup:
    """Returns a file of the templates' folder unchanged; the loader also finds it in a zip."""
    if environment.loader is None:
        raise LookupError(name)
    return Markup(environment.loader.get_source(environment, name)[0])  # noqa: S704, our own file


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _name_broker(leader: int | None) -> str:
    return "no leader" if leader is None else f"broker {leader}"


def _capitalize_first(text: Markup) -> Markup:
    """Returns the text with a capital first letter, without changing the markup of names."""
    return text[:1].upper() + text[1:]
