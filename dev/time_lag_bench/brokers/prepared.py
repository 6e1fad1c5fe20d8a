# SPDX-License-Identifier: Apache-2.0
"""A case as it lies on the brokers: its logs, the commits in them, and the truth about each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from dev.time_lag_bench.brokers.reading import Place
from dev.time_lag_bench.cases import positions
from dev.time_lag_bench.cases.case import Case, Random
from dev.time_lag_bench.logs import Floats, Ints, Log, append_moments, reached


@dataclass(frozen=True, slots=True)
class Prepared:
    """One row a commit; `reached` and `appended` as in `logs`, ms, NaN for none."""

    case: Case
    logs: Mapping[Place, Log]
    groups: tuple[str, ...]
    places: tuple[Place, ...]
    committed: Ints
    reached: Floats
    appended: Floats

    def rows(self) -> Iterator[tuple[str, Place, int]]:
        """Group, partition and offset of each commit."""
        return zip(self.groups, self.places, self.committed.tolist(), strict=True)


def prepared_of(case: Case, logs: Mapping[Place, Log], rng: Random) -> Prepared:
    """The commits that a case wants in these logs, one a group and partition, and their truth."""
    rows: list[tuple[str, Place, int]] = []
    truth: list[tuple[Floats, Floats]] = []
    for at, log in logs.items():
        groups = case.groups_of(at[0])
        picked = positions.chosen(
            log,
            rng,
            len(groups),
            below_start=case.below_start,
            unread_since=case.unread_since,
        )
        rows += [(group, at, c) for group, c in zip(groups, picked.tolist(), strict=True)]
        truth.append((reached(log, picked), append_moments(log, picked)))
    names, places, committed = zip(*rows, strict=True)
    times = [np.concatenate(parts) for parts in zip(*truth, strict=True)]
    return Prepared(case, logs, names, places, np.array(committed, np.int64), *times)
