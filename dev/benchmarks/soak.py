# SPDX-License-Identifier: Apache-2.0
"""The collector for an hour at one run a second, on brokers with traffic.

Prints memory, file descriptors, threads, errors and the slowest run over time. Exits with 1 when
memory grew by 1 MB or more after the warm-up, when descriptors or threads grew, when a run failed,
when less than half of the scheduled runs were made, or when the collecting process ended early.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Sequence
from typing import TypeAlias

from rich.console import Console

from dev.benchmarks.collector_process import SCHEDULE, ProcessError, read_figures
from dev.kafka import KafkaCluster, KafkaClusterError
from dev.traffic import Traffic

Sample: TypeAlias = dict[str, float]

GROWTH_MB = 1.0
# Of the scheduled runs: with fewer, nothing that takes one run a second was watched.
LEAST_RUNS = 0.5
# Of the time; the process that collects says its last figures when all of it is over.
_LEAST_TIME = 0.95
_SAMPLES = 60
_WARM_UP_SHARE, _WARM_UP_SECONDS = 0.25, 600.0
# Memory goes up and down by less than a run needs: ends are compared by medians of so many.
_COMPARED = 5
_TITLES = ("minute", "resident MB", "descriptors", "threads", "runs", "errors", "warnings", "s")


def growth(samples: Sequence[Sample], warm_up: float, name: str) -> float:
    """How much a figure grew from the first samples after the warm-up (seconds) to the last."""
    warm = [each[name] for each in samples if each["seconds"] >= warm_up]
    few = min(_COMPARED, max(1, len(warm) // 3))
    return statistics.median(warm[-few:]) - statistics.median(warm[:few]) if warm else 0.0


def faults_of(samples: Sequence[Sample], seconds: float) -> list[str]:
    """What makes a soak of `seconds` with a run each second fail, a sentence each."""
    warm_up = warm_up_of(seconds)
    warm = [each for each in samples if each["seconds"] >= warm_up]
    found = []
    last = samples[-1]["seconds"] if samples else 0.0
    if last < _LEAST_TIME * seconds:
        found.append(f"the last figures are of minute {last / 60:.1f} of {seconds / 60:.1f}")
    if len(warm) < 2 or not warm[-1]["runs"]:  # noqa: PLR2004 - a growth has two ends
        return [*found, "nothing was measured after the warm-up"]
    if (share := share_of_runs(samples, seconds)) < LEAST_RUNS:
        found.append(f"only {share:.0%} of the scheduled runs were made")
    if (more := growth(samples, warm_up, "resident_mb")) >= GROWTH_MB:
        found.append(f"memory grew by {more:.2f} MB after the warm-up")
    found += [
        f"{name} grew by {more:g} after the warm-up"
        for name in ("descriptors", "threads")
        if (more := growth(samples, warm_up, name)) > 0
    ]
    if warm[-1]["errors"]:
        found.append(f"{warm[-1]['errors']:g} runs failed")
    return found


def share_of_runs(samples: Sequence[Sample], seconds: float) -> float:
    """Runs that were made ÷ runs that the schedule has in `seconds`."""
    return samples[-1]["runs"] / seconds if samples else 0.0


def warm_up_of(seconds: float) -> float:
    """How long of a soak is warm-up, in seconds."""
    return min(_WARM_UP_SECONDS, _WARM_UP_SHARE * seconds)


def main(arguments: Sequence[str] | None = None) -> int:
    """Soak; 1 if something grew or failed."""
    parser = argparse.ArgumentParser(prog="python -m dev.benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long (default: 60)")
    seconds, console = parser.parse_args(arguments).minutes * 60, Console(soft_wrap=True)
    samples: list[Sample] = []
    found: list[str] = []
    try:
        with KafkaCluster() as cluster, Traffic(cluster) as traffic:
            traffic.wait_until_ready()
            console.print("".join(f"{title:>13}" for title in _TITLES), markup=False)
            every = seconds / _SAMPLES
            for sample in read_figures(
                cluster, SCHEDULE, seconds=seconds, sample_seconds=every, interval_ms=1_000
            ):
                samples.append(sample)
                console.print(_line(sample), markup=False)
    except KafkaClusterError as error:
        Console(stderr=True).print(str(error), style="red", markup=False, soft_wrap=True)
        return 1
    except ProcessError as error:
        found.append(str(error))
    warm_up = warm_up_of(seconds)
    more = growth(samples, warm_up, "resident_mb")
    console.print(f"Growth after {warm_up / 60:.1f} minutes: {more:+.2f} MB", markup=False)
    share = share_of_runs(samples, seconds)
    console.print(f"Runs: {share:.1%} of those scheduled", markup=False)
    found += faults_of(samples, seconds)
    for fault in found:
        console.print(fault, style="red", markup=False)
    return 1 if found else 0


def _line(sample: Sample) -> str:
    cells = [f"{sample['seconds'] / 60:.1f}", f"{sample['resident_mb']:.2f}"]
    cells += [f"{sample[n]:g}" for n in ("descriptors", "threads", "runs", "errors", "warnings")]
    return "".join(f"{cell:>13}" for cell in [*cells, f"{sample['slowest']:.2f}"])


if __name__ == "__main__":
    sys.exit(main())
