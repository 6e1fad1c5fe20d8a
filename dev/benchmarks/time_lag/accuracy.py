# SPDX-License-Identifier: Apache-2.0
"""Answers held against the truth: how far off they are, and what they claimed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dev.benchmarks.time_lag.logs import Floats

ALLOWED_SECONDS, ALLOWED_SHARE = 2.0, 0.003
CLOCK_SLACK_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Answers:
    """One row a position, seconds; NaN where nothing was said.

    `now` is the reading's clock, ms. `impossible` counts what no output may hold: numbers that
    are negative, infinite or NaN though known.
    """

    lag: Floats
    error: Floats
    now: Floats
    impossible: int = 0


@dataclass(frozen=True, slots=True)
class Figures:
    """What one run of a case comes to, seconds; the first three NaN without any truth.

    `share` is the 95th percentile of the error as a share of the one allowed. `beyond` is how
    far the truth lies outside what was claimed, at worst. Infinite errors are missing answers.
    """

    median: float
    p95: float
    worst: float
    share: float
    beyond: float
    rows: int
    with_truth: int
    unanswered: int
    unbounded: int
    impossible: int

    @property
    def faults(self) -> list[str]:
        """The measures that are missed, in words."""
        said = {
            f"p95 is {self.share:.2f} of what is allowed": self.share > 1,
            f"{self.beyond:.1f} s beyond the stated error": self.beyond > CLOCK_SLACK_SECONDS,
            f"{self.impossible} impossible numbers": self.impossible > 0,
        }
        return [words for words, so in said.items() if so]


def figures(reached: Floats, appended: Floats, answers: Answers) -> Figures:
    """`reached` is the newest time up to each unread record, `appended` when it came; ms or NaN.

    The truth is `reached`; there is none where it lies ahead of the clock, and then only the
    claim is held against `appended`.
    """
    age = (answers.now - reached) / 1000
    age = np.where(age >= 0, age, np.nan)
    defined, answered = ~np.isnan(age), ~np.isnan(answers.lag)
    off = np.where(answered, np.abs(answers.lag - age), np.inf)[defined]
    allowed = np.maximum(ALLOWED_SECONDS, ALLOWED_SHARE * age[defined])
    real = np.where(defined, age, (answers.now - appended) / 1000)
    return Figures(
        median=nth(off, 0.5),
        p95=nth(off, 0.95),
        worst=nth(off, 1.0),
        share=nth(off / allowed, 0.95),
        beyond=_beyond(answers, real),
        rows=len(age),
        with_truth=int(defined.sum()),
        unanswered=int((~answered & defined).sum()),
        unbounded=int((answered & np.isnan(answers.error)).sum()),
        impossible=answers.impossible,
    )


def nth(values: Floats, share: float) -> float:
    """The value that so large a share does not exceed; NaN of none."""
    if not len(values):
        return float("nan")
    return float(np.sort(values)[max(0, int(np.ceil(share * len(values))) - 1)])


def _beyond(answers: Answers, real: Floats) -> float:
    """An answer without an error claims to be a least value, so it may only be too small."""
    off = answers.lag - real
    claimed = np.isnan(answers.error)
    outside = np.where(claimed, off, np.abs(off) - np.where(claimed, 0.0, answers.error))
    return float(np.nanmax(outside, initial=0.0))
