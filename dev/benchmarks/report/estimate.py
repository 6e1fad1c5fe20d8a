# SPDX-License-Identifier: Apache-2.0
"""What the job should take on Glue, and cost, from what it took here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

RUNS_A_DAY, DATASETS = 1_440, 3
# Two G.1X workers: one drives, one executes on its 4 vCPU; a DPU each.
EXECUTOR_CORES, DPUS = 4, 2
DPU_HOUR_DOLLARS = 0.44
START_UP_SECONDS, LEAST_BILLED_SECONDS = 60.0, 60.0
OPEN_SECONDS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """`seconds` of a cluster = `fixed` + `per_row` x rows, on `cores`, where nothing is far away.

    `wait_per_object`: seconds more that an object takes where opening one takes `OPEN_SECONDS`; 0
    where that was not measured.
    """

    fixed: float
    per_row: float
    cores: int
    wait_per_object: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Of all `runs` together: rows and objects, seconds from the first to the last, dollars."""

    what: str
    runs: int
    rows: int
    objects: int
    seconds: float
    dollars: float


def speed(measured: Sequence[tuple[int, float]], *, cores: int) -> Speed:
    """The line of least squares through (rows, seconds), neither part below 0.

    Of a single run all of it grows with the rows.
    """
    rows = [float(count) for count, _ in measured]
    seconds = [taken for _, taken in measured]
    mean_rows, mean_seconds = sum(rows) / len(rows), sum(seconds) / len(seconds)
    spread = sum((count - mean_rows) ** 2 for count in rows)
    slope = mean_seconds / mean_rows
    if spread:
        pairs = zip(rows, seconds, strict=True)
        slope = sum((c - mean_rows) * (s - mean_seconds) for c, s in pairs) / spread
    slope = min(max(slope, 0.0), mean_seconds / mean_rows)
    return Speed(fixed=mean_seconds - slope * mean_rows, per_row=slope, cores=cores)


def estimated(
    speed: Speed,
    what: str,
    *,
    partitions: int,
    clusters: int,
    runs: int,
    start_up: float = START_UP_SECONDS,
) -> Estimate:
    """So many clusters of so many group partitions in so many equal runs, one after another.

    Work on rows is shared by the executor's cores; waiting is not, nor what is fixed, which comes
    with each cluster.
    `start_up`: seconds that a run takes to begin, billed like the others.
    """
    rows = partitions * RUNS_A_DAY * clusters
    objects = RUNS_A_DAY * DATASETS * clusters
    work = rows * speed.per_row * speed.cores / EXECUTOR_CORES
    waiting = objects * speed.wait_per_object
    each = start_up + (clusters * speed.fixed + work + waiting) / runs
    billed = max(each, LEAST_BILLED_SECONDS)
    return Estimate(
        what=what,
        runs=runs,
        rows=rows,
        objects=objects,
        seconds=each * runs,
        dollars=billed * runs / 3_600 * DPUS * DPU_HOUR_DOLLARS,
    )


def estimates(speed: Speed) -> list[Estimate]:
    """The installations that the project promises to serve."""
    return [
        estimated(speed, "10,000 group-partitions", partitions=10_000, clusters=1, runs=1),
        estimated(speed, "100,000 group-partitions", partitions=100_000, clusters=1, runs=1),
        estimated(speed, "200,000 group-partitions", partitions=200_000, clusters=1, runs=1),
        estimated(speed, "20 clusters, a run each", partitions=10_000, clusters=20, runs=20),
        estimated(speed, "20 clusters, one run", partitions=10_000, clusters=20, runs=1),
    ]


def assumptions(speed: Speed) -> list[str]:
    """What the estimates rest on, a line each."""
    return [
        f"fixed {speed.fixed:.1f} s a cluster and {speed.per_row * 1e6:.2f} s a million rows on "
        f"{speed.cores} cores here; an executor's {EXECUTOR_CORES} vCPU as fast, core by core",
        f"one run a minute: {RUNS_A_DAY * DATASETS:,} objects a cluster, each waited for "
        f"{speed.wait_per_object * 1e3:.1f} ms where opening one takes {OPEN_SECONDS} s",
        f"2 G.1X workers, {DPUS} DPU at ${DPU_HOUR_DOLLARS} an hour, {START_UP_SECONDS:.0f} s to "
        f"start, billed for {LEAST_BILLED_SECONDS:.0f} s at least; requests to S3 not counted",
        "as much memory a row as here: what does not fit is spilled, and takes longer",
    ]
