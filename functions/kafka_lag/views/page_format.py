# SPDX-License-Identifier: Apache-2.0
"""What the templates show of a row: numbers with a space that does not break, statuses in words."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from markupsafe import Markup

from kafka_lag import contract
from kafka_lag.formatting import (
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
    format_time_left,
    format_time_of_day,
    split_middle,
)
from kafka_lag.lag.losses import Loss

MAX_NAME_LENGTH = 60
# Beyond this a name is cut for good: a client may call itself by 32 KB, in each row.
_MAX_WHOLE_LENGTH = 1_000
_CUT_NAME = Markup(
    '<bdi class="{}" title="{}">{}<span class="dots" aria-hidden="true"></span>'
    '<span class="cut">{}</span>{}</bdi>'
)
_MAX_RANGES = 8
# For an unknown value: a dash for the eye, a word for those who listen.
DASH = Markup(
    '<span class="none" title="{}"><span aria-hidden="true">\u2013</span>'
    '<span class="unseen">unknown</span></span>'
)
_ERROR_CAUSES = {contract.STOP: "stopped", contract.STALL: "stalled", contract.REWIND: "rewound"}
_REASONS = {
    contract.RECORDS_LOST: "records lost",
    contract.BEYOND_END: "commit beyond the end",
    contract.PAUSING: "pausing as usual",
    contract.FALLING_BEHIND: "falling behind",
    contract.SLOW: "catching up too slowly",
    contract.NO_MEMBER: "no member",
    contract.INACTIVE: "inactive",
    contract.GONE: "group deleted",
    contract.UNWATCHED: "no longer watched",
    contract.TOPIC_UNWATCHED: "a topic no longer watched",
    contract.DENIED: "not read: access denied",
    contract.NO_LEADER: "not read: no leader",
    contract.NO_COORDINATOR: "not read: no coordinator",
    contract.TIMEOUT: "not read: timed out",
    contract.ERROR: "not read: error",
}
_CAPITAL = re.compile(r"(?<=[a-z])([A-Z])")


def name(text: str, max_length: int = MAX_NAME_LENGTH) -> str:
    """A name on one line, the middle of a long one left out."""
    # Escaping only lengthens: what is cut before it would not be shown either.
    return cut_middle(escape_name(cut_middle(text, max_length)), max_length)


def name_tag(text: str, kind: str = "name") -> Markup:
    """The same as an element whose text is the whole: the style sheet hides its middle, so that it
    is read aloud and copied with the rest."""
    whole = name(text, _MAX_WHOLE_LENGTH)
    start, middle, end = split_middle(whole, MAX_NAME_LENGTH)
    if not middle:
        return Markup('<bdi class="{}">{}</bdi>').format(kind, whole)
    return _CUT_NAME.format(kind, whole, start, middle, end)


def ranges(numbers: Sequence[int]) -> str:
    """Numbers in order, those in turn by their first and last: `0\u20133, 7`."""
    found: list[list[int]] = []
    for number in numbers:
        if found and found[-1][-1] == number - 1:
            found[-1] = [found[-1][0], number]
        else:
            found.append([number])
    texts = ["\u2013".join(map(str, each)) for each in found]
    return format_list(texts, _MAX_RANGES)


def margin(seconds: float | None) -> str:
    """`± 3 s`, rounded up so that it promises no more than is known; nothing when exact."""
    return f"±{NO_BREAK_SPACE}{_duration(math.ceil(seconds))}" if seconds else ""


def or_dash(show: Callable[[float], str]) -> Callable[..., str]:
    """The same with a dash for an unknown number, and with why it is unknown."""

    def show_or_dash(value: float | None, why: str = "unknown") -> str:
        if value is None or not math.isfinite(value):
            return DASH.format(why)
        return show(value)

    return show_or_dash


def spaced(word: Any) -> str:
    """One of Kafka's or our own words, as `no_leader`, for people."""
    return str(word).replace("_", " ")


def state(word: str) -> str:
    """A state in Kafka's words, with spaces so that a narrow column can hold it."""
    return _CAPITAL.sub(r" \1", word)


def reason(word: str) -> str:
    """Why a row has its status, or none; a word of a later version as it is."""
    return _REASONS.get(word, spaced(word))


def cause_of_loss(loss: Loss) -> str:
    """How long its topic keeps records, and the rates; nothing where none of it is known."""
    return format_cause_of_loss(
        *(loss.retention_ms, loss.retention_bytes, loss.produce_rate, loss.consume_rate),
        space=NO_BREAK_SPACE,
    )


def error_cause(group: Mapping[str, Any], worst: str | None = None) -> str | None:
    """What ERR stands for in a group's row; `worst` is the status of its worst partition.

    Where that is not known, the row says no more than that nobody is there to read.
    """
    if group["status"] != contract.ERR:
        return None
    no_member = _REASONS[contract.NO_MEMBER] if group["members"] == 0 else None
    return _ERROR_CAUSES.get(worst or "") or no_member


_duration = partial(format_duration, space=NO_BREAK_SPACE)
# What the templates call them.
FILTERS: Mapping[str, Callable[..., str | None]] = {
    "duration": or_dash(_duration),
    "time_left": or_dash(partial(format_time_left, space=NO_BREAK_SPACE)),
    "count": or_dash(format_count),
    "rate": or_dash(format_rate),
    "size": or_dash(partial(format_bytes, space=NO_BREAK_SPACE)),
    "name": name,
    "name_tag": name_tag,
    "ranges": ranges,
    "iso": format_iso_time,
    "moment": partial(format_time_of_day, space=NO_BREAK_SPACE),
    "since": partial(format_age, space=NO_BREAK_SPACE),
    "margin": margin,
    "spaced": spaced,
    "reason": reason,
    "state": state,
    "cause_of_loss": cause_of_loss,
}
