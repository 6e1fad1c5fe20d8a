# SPDX-License-Identifier: Apache-2.0
"""Formats values of a row for the templates: numbers with a no-break space, statuses in words."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from markupsafe import Markup

from kafka_lag import contract
from kafka_lag.contract.mute_windows import read_mute
from kafka_lag.views.losses import Loss
from kafka_lag.wording.advice import advise
from kafka_lag.wording.causes import describe_cause
from kafka_lag.wording.formatting import (
    NO_BREAK_SPACE,
    cut_middle,
    escape_name,
    format_age,
    format_bytes,
    format_cause_of_loss,
    format_count,
    format_duration,
    format_iso_time,
    format_list,
    format_rate,
    format_sla_used,
    format_time_left,
    format_time_of_day,
    split_middle,
)
from kafka_lag.wording.words import (
    breaks_sla,
    describe_skip,
    find_word,
    is_always_rebalancing,
    name_troubles,
)

MAX_NAME_LENGTH = 60
# A longer name is cut: a client may call itself by 32 KB, in each row.
_MAX_WHOLE_LENGTH = 1_000
_CUT_NAME = Markup(
    '<bdi class="{}" title="{}">{}<span class="dots" aria-hidden="true"></span>'
    '<span class="cut">{}</span>{}</bdi>'
)
_MAX_RANGES = 8
_LEVELS = {
    status: level
    for status, severity in contract.PARTITION_SEVERITIES.items()
    for level, number in contract.GROUP_STATUS_VALUES.items()
    if number == severity
}
# An unknown value: a dash to see, a word for screen readers.
DASH = Markup(
    '<span class="none" title="{}"><span aria-hidden="true">\u2013</span>'
    '<span class="unseen">unknown</span></span>'
)
_CAPITAL = re.compile(r"(?<=[a-z])([A-Z])")


def name(text: str, max_length: int = MAX_NAME_LENGTH) -> str:
    """Returns a name on one line; a long one without its middle."""
    # Escaping only lengthens, so the cut part would not be shown anyway.
    return cut_middle(escape_name(cut_middle(text, max_length)), max_length)


def name_tag(text: str, kind: str = "name") -> Markup:
    """Returns the name as an element with the whole text.

    The style sheet hides its middle, so that a screen reader reads it and a copy contains it.
    """
    whole = name(text, _MAX_WHOLE_LENGTH)
    start, middle, end = split_middle(whole, MAX_NAME_LENGTH)
    if not middle:
        return Markup('<bdi class="{}">{}</bdi>').format(kind, whole)
    return _CUT_NAME.format(kind, whole, start, middle, end)


def ranges(numbers: Sequence[int]) -> str:
    """Returns numbers in order, consecutive ones by the first and last: `0\u20133, 7`."""
    found: list[list[int]] = []
    for number in numbers:
        if found and found[-1][-1] == number - 1:
            found[-1] = [found[-1][0], number]
        else:
            found.append([number])
    texts = ["\u2013".join(map(str, each)) for each in found]
    return format_list(texts, _MAX_RANGES)


def margin(seconds: float | None) -> str:
    """Returns `± 3 s`, rounded up so that it promises no more than is known; empty if exact."""
    return f"±{NO_BREAK_SPACE}{_duration(math.ceil(seconds))}" if seconds else ""


def or_dash(show: Callable[[float], str]) -> Callable[..., str]:
    """Returns a function for the text, or a dash and the reason if the number is unknown."""

    def show_or_dash(value: float | None, why: str = "unknown") -> str:
        if value is None or not math.isfinite(value):
            return DASH.format(why)
        return show(value)

    return show_or_dash


def spaced(word: Any) -> str:
    """Returns one of Kafka's or our own words, such as `no_leader`, for people."""
    return str(word).replace("_", " ")


def state(word: str) -> str:
    """Returns a state in Kafka's words, with spaces so that a narrow column can hold it."""
    return _CAPITAL.sub(r" \1", word)


def troubles(row: Mapping[str, Any], now: int | None = None) -> list[str]:
    """Returns the words for the status of a group or partition, or why it has none.

    With `now`, ms, each word has the time since when it applies, if a group's row has it.
    """
    consumer = row["worst_status" if "worst_status" in row else "consumer_status"]
    unread = [find_word(row["unread_reason"])] if row["unread_reason"] else []
    if unread and not row["status"]:
        return [*unread, *([f"was {find_word(consumer)}"] if consumer else [])]
    words = name_troubles(
        consumer, row["status_reason"], row["records_lost"], sla_broken=breaks_sla(row)
    )
    if now is not None:
        begun = {
            consumer: row["worst_status_since"],
            contract.RECORDS_LOST: row["loss_since"],
            contract.TROUBLE_SLA_BROKEN: row["sla_broken_since"],
        }
        times = {find_word(name): at for name, at in begun.items() if name and at is not None}
        words = [_add_time(word, times.get(word), now) for word in words]
    return [*unread, *words]


def _add_time(word: str, at: int | None, now: int) -> str:
    return word if at is None else f"{word} since {_moment(at, now)}"


def group_level(status: str) -> str:
    """Returns OK, WARN or ERR for the status of a group or partition."""
    return _LEVELS.get(status, status)


def cause_of_loss(loss: Loss) -> str:
    """Returns how long the topic keeps records, and the rates; empty if all of it is unknown."""
    return format_cause_of_loss(
        *(loss.retention_ms, loss.retention_bytes, loss.produce_rate, loss.consume_rate),
        space=NO_BREAK_SPACE,
    )


def is_link(text: str | None) -> bool:
    """Returns True if a browser may follow the link; the text of a script is never a link."""
    return text is not None and text.startswith(("https://", "http://"))


_duration = partial(format_duration, space=NO_BREAK_SPACE)
_moment = partial(format_time_of_day, space=NO_BREAK_SPACE)
# The keys are the names in the templates.
FILTERS: Mapping[str, Callable[..., Any]] = {
    "duration": or_dash(_duration),
    "time_left": or_dash(partial(format_time_left, space=NO_BREAK_SPACE)),
    "count": or_dash(format_count),
    "rate": or_dash(format_rate),
    "size": or_dash(partial(format_bytes, space=NO_BREAK_SPACE)),
    "name": name,
    "name_tag": name_tag,
    "ranges": ranges,
    "iso": format_iso_time,
    "moment": _moment,
    "since": partial(format_age, space=NO_BREAK_SPACE),
    "margin": margin,
    "spaced": spaced,
    "reason": find_word,
    "troubles": troubles,
    "level": group_level,
    "sla_used": format_sla_used,
    "state": state,
    "cause_of_loss": cause_of_loss,
    "explain": describe_cause,
    "advise": advise,
    "skip": describe_skip,
    "always_rebalancing": is_always_rebalancing,
    "is_link": is_link,
    "mute": read_mute,
}
