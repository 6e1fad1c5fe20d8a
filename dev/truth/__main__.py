# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.truth`: compares lag programs on real brokers, and writes the page.

Plants scenarios, lets all installed programs read them side by side, and judges their values.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import TypeAlias

from confluent_kafka import KafkaException

from dev.kafka import KafkaCluster, KafkaClusterError
from dev.kafka.jars import kafka_version
from dev.sim.live.logs import AGE, LAG
from dev.sim.live.planting import CHANGED, FIRST, HUNG, SETTLED, Planted, Scenario, read_scenarios
from dev.truth.judge import NUMBERS, Cell, Look, Verdict, judge
from dev.truth.programs import INSTALLED, TOOL, Program, Running, look_with_tool, take_programs
from dev.truth.scenarios import SCENARIOS, read_logs

PAGE = Path(__file__).parents[2] / "docs" / "migrating.md"
# The page of a run without all programs or scenarios.
PART = INSTALLED / "part.md"
_LOOKS_APART, _STARTS_WITHIN = 15.0, 120.0
# Seconds before the looks, and how many: two intervals of the slowest program, so that it has a
# history, and one after a change.
_LOOKS = {SETTLED: (130.0, 6), CHANGED: (75.0, 5), HUNG: (12.0, 4)}
_HUNG_BROKER = 3


_RUN = """\
{scenarios} scenarios were planted on three real brokers of Kafka {kafka} and read side by side by
{names}. `python -m dev.truth` did it on {date} and wrote the tables of this
page. The table counts the scenarios that each program showed right, late, not at all, or wrong:

{counts}
"""
# Verdicts for which the page names a program.
_BLAMED = (Verdict.LATE, Verdict.WRONG)

# The keys are the number, the scenario's title and the program's name.
Cells: TypeAlias = Mapping[tuple[int, str, str], Cell]


class Run:
    """Programs that read planted scenarios, and what those showed by phase."""

    def __init__(self, planted: Planted) -> None:
        self._planted, self._cluster = planted, planted.scene.cluster
        self._looks: dict[str, list[Look]] = defaultdict(list)

    def start(self, running: Sequence[Running], stack: ExitStack) -> None:
        """Starts one after the other, each until it shows a lag; that is its first look."""
        prefixes = tuple(on.prefix for each, on in self._planted.on if each.phase == FIRST) or ("",)
        for each in running:
            stack.enter_context(each)
            deadline, look = time.time() + _STARTS_WITHIN, each.look()
            while not any(str(at[0]).startswith(prefixes) for at in look.shown[LAG]):
                if time.time() > deadline or not each.alive:
                    break
                time.sleep(0.25)
                look = each.look()
            self._looks[FIRST].append(look)

    def watch(self, running: Sequence[Running], phase: str) -> None:
        """Lets all programs look at once, time and again, and then Kafka's own tool."""
        waits, looks = _LOOKS[phase]
        time.sleep(waits)
        began = time.time()
        with ThreadPoolExecutor(len(running)) as pool:
            for number in range(looks):
                time.sleep(max(0.0, began + number * _LOOKS_APART - time.time()))
                self._looks[phase] += pool.map(Running.look, running)
        by_tool = look_with_tool(self._cluster)
        self._looks[phase].append(by_tool)
        if phase == SETTLED:
            self._looks[FIRST].append(by_tool)

    def judge(self, programs: Sequence[Program]) -> Cells:
        """Judges the programs' values by the brokers' logs."""
        history, cells = self._planted.history, {}
        read_logs(self._cluster, history)
        for scenario, on in self._planted.on:
            keys = on.find_keys()
            for number, each in product((LAG, AGE), programs):
                looks = [e for e in self._looks[scenario.phase] if e.program == each.name]
                if number == LAG or each.age:
                    cell = judge(number, history, keys, looks, each.interval)
                    cells[number, scenario.title, each.name] = cell
        return cells


def run_scenarios(
    scenarios: Sequence[Scenario], programs: Sequence[Program], folder: Path
) -> Cells:
    """Runs everything once."""
    _say(f"planting {len(scenarios)} scenarios")
    with ExitStack() as stack:
        cluster = stack.enter_context(KafkaCluster())
        planted = stack.enter_context(Planted(cluster, scenarios))
        running = [
            Running(each, cluster.bootstrap("PLAINTEXT"), folder / each.name)
            for each in programs
            if each.name != TOOL
        ]
        _say(f"starting {', '.join(each.program.name for each in running)}")
        run = Run(planted)
        run.start(running, stack)
        run.watch(running, SETTLED)
        if any(each.phase == CHANGED for each in scenarios):
            _say("changing")
            planted.change()
            run.watch(running, CHANGED)
        if any(each.phase == HUNG for each in scenarios):
            _say("a broker hangs")
            cluster.pause(_HUNG_BROKER)
            run.watch(running, HUNG)
            cluster.resume(_HUNG_BROKER)
        for program in (each.program for each in running if not each.alive):
            _say(f"{program.name} has ended by itself")
        for case, error in planted.scene.errors:
            _say(f"NOT AS PLANNED: {case}: {error}")
        return run.judge(programs)


def _say(text: str) -> None:
    print(text, flush=True)


def write_page(
    page: str, programs: Sequence[Program], scenarios: Sequence[Scenario], cells: Cells
) -> str:
    """Returns the page with the tables of this run in the place of its own."""
    run = _RUN.format(
        scenarios=len(scenarios),
        kafka=".".join(map(str, kafka_version())),
        names=", ".join(f"{each.name} ({each.version})" for each in programs),
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        counts=_count(programs, cells),
    )
    return replace_part(replace_part(page, "run", run), "tables", _blame(programs, cells))


def list_cells(cells: Cells) -> Iterator[str]:
    """Yields a line for each value that was not right, with the truth and the share of looks."""
    for (number, title, program), cell in cells.items():
        if cell.verdict != Verdict.RIGHT:
            shown = "nothing" if cell.value is None else f"{cell.value:,.0f}"
            truth = " or ".join(f"{low:,.0f} to {high:,.0f}" for low, high in cell.expected.ranges)
            yield (
                f"{title}: {program} showed a {NUMBERS[number]} of {shown}, "
                f"{cell.verdict.name.lower()} in {cell.looks} of {cell.of} looks; "
                f"the truth is {truth or 'none'}"
            )


def replace_part(page: str, name: str, text: str) -> str:
    """Returns the page with the text between the marks of this name."""
    begin, end = f"<!-- begin of {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = page.partition(begin)
    return f"{before}{begin}{text.strip()}\n{end}{rest.partition(end)[2]}"


def table_of(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _count(programs: Sequence[Program], cells: Cells) -> str:
    heads, rows = ["program"], [[each.name] for each in programs]
    for number, name in NUMBERS.items():
        heads += [f"{name}: right", *(each.name.lower() for each in Verdict if each)]
        for row in rows:
            own = [cell.verdict for at, cell in cells.items() if at[::2] == (number, row[0])]
            row += [str(own.count(each)) if own else "-" for each in Verdict]
    return table_of(heads, rows)


def _blame(programs: Sequence[Program], cells: Cells) -> str:
    """Returns the scenarios in which each program showed a wrong or a late number."""
    rows = []
    for program in programs:
        row = [program.name]
        for number in NUMBERS:
            own = {at[1]: cell.verdict for at, cell in cells.items() if at[::2] == (number, row[0])}
            blamed = (title for title, verdict in own.items() if verdict in _BLAMED)
            row.append("; ".join(blamed) if own else "-")
        rows.append(row)
    heads = ["program", *(f"wrong or late {name}" for name in NUMBERS.values())]
    return table_of(heads, rows)


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the page; returns 1 with a sentence if the run is impossible."""
    parser = argparse.ArgumentParser(prog="python -m dev.truth", description=__doc__)
    add = parser.add_argument
    add("--only", nargs="+", default=[""], metavar="WORDS", help="scenarios with these words")
    add("--page", type=Path, help="where it goes (docs/migrating.md; a part .local/truth/part.md)")
    options = parser.parse_args(argv)
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)
    every = read_scenarios(SCENARIOS)
    chosen = [each for each in every if any(words in each.title for words in options.only)]
    here, missing = take_programs()
    try:
        with tempfile.TemporaryDirectory(prefix="truth-") as folder:
            cells = run_scenarios(chosen, here, Path(folder))
    except (KafkaClusterError, KafkaException) as error:
        print(error)
        return 1
    page = options.page or (PART if missing or len(chosen) < len(every) else PAGE)
    page.parent.mkdir(parents=True, exist_ok=True)
    text = write_page(PAGE.read_text(encoding="utf-8"), here, chosen, cells)
    page.write_text(text, encoding="utf-8")
    for line in list_cells(cells):
        _say(line)
    _say(f"{page} is written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
