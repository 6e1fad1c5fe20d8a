# SPDX-License-Identifier: Apache-2.0
"""Troubles beside the status: lost records, a broken SLA, a near loss; and which of them begin and
end in a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_lag import contract
from kafka_lag.notify.group_rows import Row, first_known, was_read


@dataclass(frozen=True, slots=True)
class Trouble:
    """`name` is in the columns of `groups`, `size` the column that says how bad it is; and the
    kinds of its messages."""

    name: str
    size: str
    begun: str
    ended: str

    @property
    def held_since(self) -> str:
        """The column with its beginning, known where it is held."""
        return f"held_{self.name}_since"


LOSS = Trouble(contract.TROUBLE_LOSS, "records_lost", contract.LOSS_BEGUN, contract.LOSS_ENDED)
PROMISE = Trouble(
    contract.TROUBLE_SLA_BROKEN, "time_lag_seconds", contract.PROMISE_BROKEN, contract.PROMISE_KEPT
)
RISK = Trouble(contract.TROUBLE_AT_RISK, "records_lost", contract.LOSS_NEAR, contract.LOSS_AVERTED)
TROUBLES = (LOSS, PROMISE, RISK)


@dataclass(frozen=True, slots=True)
class OpenTrouble:
    """A trouble as reported: since when, the last run that saw it, ms UTC, and its `most` since.

    That is of its `size`: records lost at once, or the oldest age, s; None where nobody saw it.
    """

    since: int
    seen_at: int
    most: float | None = None


@dataclass(frozen=True, slots=True)
class TroubleChanges:
    """Troubles that begin and that end in a run, and those that are `open` after it, by name.

    `near_reported`: a near loss needs no word any more in this incident.
    """

    begun: tuple[Trouble, ...]
    ended: tuple[Trouble, ...]
    open: Mapping[str, OpenTrouble]
    near_reported: bool


def follow_troubles(
    row: Row, taken_at: int, reported: Mapping[str, OpenTrouble], *, near_reported: bool
) -> TroubleChanges:
    """Return which troubles begin and end in a run, given those that are `reported`.

    A near loss is reported at most once per incident. A loss ends it without a message.
    """
    begun = [each for each in TROUBLES if _has_begun(each, row, reported.get(each.name))]
    if near_reported or row[LOSS.held_since] is not None:
        begun = [each for each in begun if each is not RISK]
    ended, still_open = [], {}
    for trouble in TROUBLES:
        last = reported.get(trouble.name)
        if trouble is RISK and LOSS in begun:
            continue
        if last is not None and _has_ended(trouble, row, last):
            ended.append(trouble)
            last = None
        if trouble in begun:
            last = OpenTrouble(row[trouble.held_since], taken_at)
        if last is not None:
            still_open[trouble.name] = _see_again(last, trouble, row)
    near_reported = near_reported or LOSS in begun or RISK in begun
    return TroubleChanges(tuple(begun), tuple(ended), still_open, near_reported)


def _has_begun(trouble: Trouble, row: Row, reported: OpenTrouble | None) -> bool:
    """Return true if the trouble is held and not reported yet; a near loss need not be another."""
    since = row[trouble.held_since]
    return since is not None and (trouble is RISK or _is_another(since, reported))


def _has_ended(trouble: Trouble, row: Row, reported: OpenTrouble) -> bool:
    """Return true if a reported trouble is over, or another one has begun since."""
    since = row[trouble.held_since]
    if since is None:
        return was_read(row)
    return trouble is not RISK and _is_another(since, reported)


def _is_another(since: int, reported: OpenTrouble | None) -> bool:
    return reported is None or reported.since != since


def _see_again(last: OpenTrouble, trouble: Trouble, row: Row) -> OpenTrouble:
    """An open one with what this run saw of it."""
    seen_at, size = row[f"{trouble.name}_seen_at"], row[trouble.size]
    most = max((each for each in (last.most, size) if each is not None), default=None)
    return OpenTrouble(last.since, first_known(seen_at, last.seen_at), most)
