# SPDX-License-Identifier: Apache-2.0
"""Statuses, by what each run before could see of the commits that clients made.

Truth: STOP and STALL need a commit that no run saw move for longer than the window, REWIND one that
went back within it, and each is there where it must be, but for pauses that recur; see `movement`.
STOP and STALL need a record that may be older than the window by what the row knows of it, WARN one
that may be older than what ends a WARN: statuses go by the estimated age, and stay as they were
where a run knows none. Lost records are an error, nothing unread is OK. A group is as bad as the
worst of its rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dev.faults.judge import Judge, is_read, names_of
from dev.faults.movement import Movement
from dev.faults.run import Row
from kafka_lag import contract

_SEVERITY = {"OK": 0, "WARN": 1, "STOP": 2, "STALL": 2, "REWIND": 2, "ERR": 2}
_GROUP_WORDS = ("OK", "WARN", "ERR")
_STANDING = (contract.STOP, contract.STALL)
# A WARN ends where the age is surely at most this share of the window.
_CALM_SHARE = 0.9
# Of each status its reasons; no topic of a campaign is ever left for so long as to be inactive.
_REASONS: Mapping[str | None, tuple[str | None, ...]] = {
    None: (None, contract.NO_MEMBER),
    contract.OK: (None, contract.PAUSING, contract.OPEN_TRANSACTION, contract.OFF_BY_ONE),
    contract.WARN: (contract.NO_MEMBER, contract.SLOW, contract.FALLING_BEHIND),
    contract.STOP: (None,),
    contract.STALL: (None,),
    contract.REWIND: (None,),
    contract.ERR: (contract.RECORDS_LOST, contract.BEYOND_END),
}


class Statuses(Judge):
    """Statuses of partitions and groups."""

    def status(self, where: str, row: Row) -> None:
        status, reason = row["status"], row["status_reason"]
        if reason not in _REASONS.get(status, ()):
            self._wrong("status", where, f"{status} {reason}", "no such status or reason")
        if row["records_lost"]:
            self._true("status of lost records", where, (status, reason), ("ERR", "records_lost"))
            return
        if reason == "records_lost":
            self._wrong("status", where, reason, "no record is lost")
        beyond = row["committed_offset"] is not None and row["committed_offset"] > row["end_offset"]
        if reason == "beyond_end" and not beyond:
            self._wrong("status", where, reason, "the commit is not beyond the end")
        if row["lag"] is None:
            if status is not None:
                self._wrong("status without a commit", where, status, None)
        elif row["lag"] == 0 and not beyond:
            self._true("status of nothing unread", where, status, "OK")
        elif not beyond:
            self._moving(where, row)

    def _moving(self, where: str, row: Row) -> None:
        """STOP and STALL need a commit that lay still for longer than the window, REWIND a higher
        one; and each is there where it must be, but for pauses that recur.
        """
        status, pausing = row["status"], row["status_reason"] == contract.PAUSING
        window = self.run.window_ms / 1_000
        moves = Movement(self.truth, self.run, names_of(row), row, self.history.runs)
        self.verdict.checked["status"] += 1
        why = moves.changed_wrongly()
        if why is not None:
            self._wrong("commit_changed_at", where, row["commit_changed_at"], why)
        if status in _STANDING and not moves.may_stand():
            self._wrong("status", where, f"{status} since {row['commit_changed_at']}", "it moved")
        if status == contract.STALL and row["consumer_group"] in self.truth.memberless:
            self._wrong("status", where, status, "the group never had a member")
        if status == contract.REWIND and not moves.may_be_rewound():
            self._wrong("status", where, status, "it did not go back within the window")
        least = window * (_CALM_SHARE if status == contract.WARN else 1.0)
        by_age = status in (*_STANDING, contract.WARN) and not _is_carried(row)
        if by_age and not self._oldest_possible(row) > least:
            self._wrong("status", where, status, f"the age is surely not over {least:g}")
        if pausing and not moves.may_pause():
            self._doubt("status", where, "pausing", "no such pauses came before")
        dated = row["time_lag_error_seconds"] is not None
        if status is None and dated and moves.surely_judged():
            self._doubt("status", where, status, "this is not its first reading")
        if status is not None and status != contract.REWIND:
            if moves.surely_rewound():
                self._doubt("status", where, status, "it went back within the window")
            elif status not in _STANDING and not pausing and self._oldest_proven(row) > window:
                self.verdict.checked["status of a standing commit"] += 1
                # In a pause of a usual length, but farther behind than usual, it is judged as one
                # that moves.
                if moves.surely_stands() and not moves.may_pause():
                    self._doubt("status", where, status, "it lies still for longer than the window")

    def _oldest_proven(self, row: Row) -> float:
        """The age, s, that the row proves, by what is judged as its bracket."""
        before, seconds = row["next_record_before"], row["time_lag_seconds"]
        known = before is not None and seconds is not None
        return (row["read_at"] - before) / 1_000 if known else 0.0

    def _oldest_possible(self, row: Row) -> float:
        """The greatest age, s, that the row's bracket allows.

        By the clock of this run, or of one before it that saw the same commit: a clock that goes
        back ends no status, as only a commit does.
        """
        after, since = row["next_record_after"], row["commit_changed_at"] or 0
        ahead = (each.clock_ahead for each in self.history.runs if each.taken_at >= since)
        back = max(self.run.clock_ahead, *ahead, 0) - self.run.clock_ahead
        return math.inf if after is None else (row["read_at"] - after + back) / 1_000

    def group_status(self, group: str, row: Row, rows: list[Row], counted: list[Any]) -> None:
        statuses = [r["status"] or (None if is_read(r) else r["last_status"]) for r in rows]
        known = [_SEVERITY[each] for each in statuses if each in _SEVERITY]
        worst = max(known, default=None)
        # A row that has a lag or was not read, and has no status, may be anything.
        behind = any(
            (c.lag is not None or c.missing) and s is None
            for c, s in zip(counted, statuses, strict=True)
        )
        seen = any(is_read(r) and c.lag is not None for r, c in zip(rows, counted, strict=True))
        expected = None
        if worst is not None and seen and not (behind and worst == 0):
            expected = _GROUP_WORDS[worst]
        self._equal("status of group", group, row["status"], expected)


def _is_carried(row: Row) -> bool:
    """Whether the status is that of the run before, as no age is known that could end it."""
    return row["time_lag_seconds"] is None and row["status"] == row["last_status"]
