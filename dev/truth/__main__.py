# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.truth`: plants scenarios on real brokers, lets every program that is here read
them side by side, judges what they show, and writes the page."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from confluent_kafka import KafkaException
from rich.console import Console

from dev.benchmarks.exporters import cpu_seconds, memory_bytes
from dev.kafka import KafkaCluster, KafkaClusterError
from dev.kafka.cluster import quick_start
from dev.kafka.jars import kafka_server, kafka_version
from dev.truth.judge import Cell, Look, Verdict, judge_ages, judge_lags
from dev.truth.kafka_tool import Description, Record, Row, describe_groups, explain, read_record
from dev.truth.page import (
    LAG,
    TIME_LAG,
    Cost,
    Result,
    all_cells,
    differences,
    markdown_of,
    seconds,
    sizes_in,
    verdicts,
)
from dev.truth.planted import GroupPartition, Planted, expected_largest
from dev.truth.planter import Planter
from dev.truth.programs import LEFT_OUT, OURS, PROGRAMS, RIVALS, Program
from dev.truth.requests import LOG_REQUESTS, RequestLog, requests_of
from dev.truth.running import Running, look_at_all
from dev.truth.scenarios import HUNG, SCENARIOS, Phase, Scenario

PAGE = Path(__file__).parents[2] / "docs" / "truth.md"
# Of a run without all programs or scenarios, which is no news for the other page.
PART = PROGRAMS / "part.md"
LOOKS_APART = 15.0
_STARTS_WITHIN = 120.0
# Two intervals of the slowest program, so that it has a history; and one after a change.
_SETTLES, _CHANGES, _HANGS = 130.0, 75.0, 12.0
_LOOKS = {Phase.SETTLED: 6, Phase.CHANGED: 5, Phase.HUNG: 4}
# Rows of Kafka's own tools beside a wrong value: the age of each takes them some seconds.
_ROWS = 3


class Run:
    """One run: what was planted, by whom it is read, what they showed."""

    def __init__(self, scenarios: Sequence[Scenario], cluster: KafkaCluster) -> None:
        self.scenarios = scenarios
        self.planted = Planted()
        self.planter = Planter(cluster, self.planted)
        self.cluster = cluster
        self.bootstrap = cluster.bootstrap("PLAINTEXT")
        self.keys: dict[str, list[GroupPartition]] = {}
        self.looks: dict[Phase, list[Look]] = {phase: [] for phase in Phase}
        # None: it describes all groups or none, and gives up where one broker hangs.
        self.described: dict[Phase, Description | None] = {}
        self.starts: dict[str, float | None] = {}
        self.costs: dict[str, Cost] = {}
        self._threads: list[threading.Thread] = []

    def plant(self) -> None:
        """All scenarios, each in a thread; then those that go on begin to."""
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(lambda each: each.plant(self.planter, each.name), self.scenarios))
        for each in self.scenarios:
            if each.act is not None:
                thread = threading.Thread(
                    target=each.act, args=(self.planter, each.name), daemon=True, name=each.name
                )
                thread.start()
                self._threads.append(thread)

    def start(self, running: Sequence[Running], stack: ExitStack) -> None:
        """One after the other, each until it shows a lag; that answer is the first look."""
        self._find_keys()
        cold = [each for each in self.scenarios if each.phase is Phase.FIRST]
        any_key = self.keys[(cold or self.scenarios)[0].title][0]
        for each in running:
            stack.enter_context(each)
            look = each.first_look(any_key, _STARTS_WITHIN)
            shown = any_key in look.lags
            self.starts[each.program.name] = look.ended - each.started if shown else None
            self.looks[Phase.FIRST].append(look)

    def watch(self, running: list[Running], phase: Phase) -> None:
        """Looks 15 s apart; of settled programs also what they take."""
        before = {each.pid: cpu_seconds(each.pid) for each in running if each.alive}
        log, began = RequestLog(self._logs()), time.time()
        for number in range(_LOOKS[phase]):
            time.sleep(max(0.0, began + number * LOOKS_APART - time.time()))
            self.looks[phase] += look_at_all(running)
        if phase is Phase.SETTLED:
            time.sleep(max(0.0, began + _LOOKS[phase] * LOOKS_APART - time.time()))
            self._measure(running, before, log, (time.time() - began) / 60)
        try:
            self.described[phase] = describe_groups(self.bootstrap)
        except KafkaClusterError:
            self.described[phase] = None

    def change(self) -> None:
        """All changes, one after the other."""
        for each in self.scenarios:
            if each.change is not None:
                each.change(self.planter, each.name)
        self._find_keys()

    def close(self) -> None:
        """Stop what goes on."""
        self.planter.stop.set()
        for thread in self._threads:
            thread.join(10)
        self.planter.close()

    def result(
        self, programs: Sequence[Program], left_out: Mapping[str, str], began: float
    ) -> Result:
        """The cells, with what Kafka's own tools say of the wrong ones."""
        lags: dict[tuple[str, str], Cell] = {}
        ages: dict[tuple[str, str], Cell] = {}
        truths = {}
        for scenario in self.scenarios:
            keys = self.keys[scenario.title]
            ended = max(each.ended for each in self.looks[scenario.phase])
            for number, expected in (
                (LAG, self.planted.expected_lag),
                (TIME_LAG, self.planted.expected_age),
            ):
                each_key = (expected(key, ended, ended) for key in keys)
                truths[number, scenario.title] = expected_largest(each_key)
            for program in programs:
                looks = [e for e in self.looks[scenario.phase] if e.program == program.name]
                at = scenario.title, program.name
                lags[at] = judge_lags(self.planted, keys, looks, program.interval)
                if program.age is not None:
                    ages[at] = judge_ages(self.planted, keys, looks, program.interval)
        result = Result(
            programs=programs,
            scenarios=self.scenarios,
            lags=lags,
            ages=ages,
            costs=self.costs,
            left_out=left_out,
            kafka=".".join(map(str, kafka_version())),
            date=datetime.now(UTC).strftime("%Y-%m-%d"),
            minutes=(time.time() - began) / 60,
            partitions=sum(map(len, self.keys.values())),
            truths=truths,
        )
        return replace(result, beside=self._beside(result))

    def _beside(self, result: Result) -> dict[tuple[str, str, tuple[str, ...]], list[str]]:
        phases = {each.title: each.phase for each in self.scenarios}
        found = {}
        for title, _, number, cell in all_cells(result):
            where = cell.worst.where
            if cell.verdict != Verdict.WRONG or (title, number, where) in found:
                continue
            phase = Phase.SETTLED if phases[title] is Phase.FIRST else phases[title]
            described = self.described.get(phase)
            if described is None:
                found[title, number, where] = ["The tool gave up, as one broker hung."]
                continue
            rows = described.rows(where[0], where[1], int(where[2]) if where[2:] else None)[:_ROWS]
            found[title, number, where] = [f"`{row.text}`" for row in rows]
            if number == TIME_LAG:
                with suppress(KafkaClusterError):
                    committed = [row for row in rows if row.committed is not None]
                    lines = explain(committed, described.at, self._next_record, seconds)
                    found[title, number, where] = lines
        return found

    def _next_record(self, row: Row) -> Record | None:
        return read_record(self.bootstrap, row.topic, row.partition, row.committed or 0)

    def _find_keys(self) -> None:
        names = [each.name for each in self.scenarios]
        with self.planted.lock:
            scenarios = {key: scenario_of(key[1], names) for key in self.planted.commits}
        for each in self.scenarios:
            self.keys[each.title] = sorted(k for k, name in scenarios.items() if name == each.name)

    def _logs(self) -> list[Path]:
        nodes = self.cluster.node_ids
        return [self.cluster.folder / f"node-{number}" / "broker.log" for number in nodes]

    def _measure(
        self,
        running: Sequence[Running],
        before: Mapping[int, float],
        log: RequestLog,
        minutes: float,
    ) -> None:
        counts = log.counts()
        for each in running:
            if not each.alive:
                continue
            name = each.program.name
            requests = requests_of(each.program.client_id, counts)
            looks = [e for e in self.looks[Phase.SETTLED] if e.program == name]
            for request in requests:
                requests[request] = round(requests[request] / minutes)
            self.costs[name] = Cost(
                start=self.starts[name],
                cpu_seconds=(cpu_seconds(each.pid) - before[each.pid]) / minutes,
                peak_bytes=memory_bytes(each.pid)[1],
                requests=requests,
                slowest=max(e.ended - e.began for e in looks),
            )


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the page and prints what is new; 1 with a sentence where the run is impossible."""
    options = _parser().parse_args(argv)
    console = Console()
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)
    missing = [each for each in RIVALS if not each.executable()]
    here = [each for each in RIVALS if each not in missing and _chosen(each, options.programs)]
    for each in missing:
        console.print(
            f"{each.name} {each.version} is left out: {each.home} is where it is from, and "
            f"{PROGRAMS / each.file} where it is looked for.",
            markup=False,
            soft_wrap=True,
        )
    left_out = LEFT_OUT | {each.name: "not here" for each in missing}
    scenarios = [
        each
        for each in SCENARIOS
        if not options.only or any(words in each.title for words in options.only)
    ]
    whole = len(here) == len(RIVALS) and len(scenarios) == len(SCENARIOS)
    try:
        result = run_scenarios(scenarios, [OURS, *here], left_out, console, options.logs)
    except KeyboardInterrupt:
        console.print("Interrupted; everything is stopped.")
        return 1
    except (KafkaClusterError, KafkaException) as error:
        console.print(str(error), style="red", markup=False, soft_wrap=True)
        return 1
    _write(result, options.page or (PAGE if whole else PART), console)
    return 0


def run_scenarios(
    scenarios: Sequence[Scenario],
    programs: Sequence[Program],
    left_out: Mapping[str, str],
    console: Console,
    logs: Path | None,
) -> Result:
    """Everything, once."""
    began = time.time()
    with ExitStack() as stack:
        folder = logs or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="truth-")))
        console.print("Starting three brokers ...")
        cluster = stack.enter_context(
            KafkaCluster(java_options=(*quick_start(kafka_server()), LOG_REQUESTS))
        )
        run = Run(scenarios, cluster)
        stack.callback(run.close)
        console.print(f"Planting {len(scenarios)} scenarios ...")
        run.plant()
        running = [Running(each, run.bootstrap, folder / each.name) for each in programs]
        console.print(f"Starting {', '.join(each.name for each in programs)} ...")
        run.start(running, stack)
        time.sleep(_SETTLES)
        console.print("Looking ...")
        run.watch(running, Phase.SETTLED)
        if any(each.change for each in scenarios):
            console.print("Changing ...")
            run.change()
            time.sleep(_CHANGES)
            run.watch(running, Phase.CHANGED)
        if any(each.phase is Phase.HUNG for each in scenarios):
            console.print("A broker hangs ...")
            cluster.pause(HUNG)
            try:
                time.sleep(_HANGS)
                run.watch(running, Phase.HUNG)
            finally:
                cluster.resume(HUNG)
        for each in running:
            if not each.alive:
                console.print(f"{each.program.name} has ended by itself", style="red")
        return run.result(programs, left_out, began)


def _write(result: Result, page: Path, console: Console) -> None:
    cells = PROGRAMS / f"cells-of-{page.stem}.json"
    now = verdicts(result)
    compared = ""
    if cells.is_file():
        found = differences(json.loads(cells.read_text(encoding="utf-8")), now)
        compared = (
            "Every cell was the same in the run before."
            if not found
            else f"{len(found)} of {len(now)} cells differ from the run before: "
            + "; ".join(found)
            + "."
        )
        console.print(compared, markup=False, soft_wrap=True)
    page.parent.mkdir(parents=True, exist_ok=True)
    cells.write_text(json.dumps(now, indent=1), encoding="utf-8")
    before = page.read_text(encoding="utf-8") if page.is_file() else ""
    result = replace(result, compared=compared, sizes=sizes_in(before))
    page.write_text(markdown_of(result), encoding="utf-8")
    console.print(f"{page} is written.", markup=False, soft_wrap=True)


def scenario_of(topic: str, names: Sequence[str]) -> str:
    """The longest of the names that a topic has before its end, or before a hyphen."""
    fits = [name for name in names if topic == name or topic.startswith(f"{name}-")]
    return max(fits, key=len, default="")


def _chosen(program: Program, names: Sequence[str]) -> bool:
    return not names or program.name in names


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m dev.truth", description=__doc__)
    add = parser.add_argument
    add("--only", nargs="+", default=[], metavar="WORDS", help="scenarios with these words")
    add("--programs", nargs="+", default=[], metavar="NAME", help="beside ours (all that are here)")
    add(
        "--page",
        type=Path,
        metavar="FILE",
        help="where the page goes (docs/truth.md; with parts left out .local/truth/part.md)",
    )
    add("--logs", type=Path, metavar="DIR", help="keep what the programs print here")
    return parser


if __name__ == "__main__":
    sys.exit(main())
