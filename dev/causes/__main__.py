# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.causes`: score the rules, simulated or on brokers, and judge others' answers."""

from __future__ import annotations

import csv
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping, Sequence
from multiprocessing import Pool
from pathlib import Path
from tempfile import mkdtemp

from dev.causes.brokers import RULES, run_cases
from dev.causes.cases import Case, list_cases
from dev.causes.cluster import BEGIN, MINUTE, run_minutes
from dev.causes.recording import Recording, judge_recording, name_anew, read_answers
from dev.causes.score import (
    VERDICTS,
    Run,
    Verdict,
    count,
    find_troubled,
    judge,
    name_ours,
    plant,
    record,
)
from dev.causes.seen import CASES
from kafka_lag.snapshots.store import FolderStore, write_snapshot

PROGRAMS = {"ours": name_ours}
_FIELDS = ("case", "group", "minute", "cause")


def main(argv: Sequence[str] | None = None) -> int:
    """The command; what it prints is on stdout."""
    parser = ArgumentParser(prog="python -m dev.causes", description=__doc__)
    subcommands = parser.add_subparsers(required=True)
    score = subcommands.add_parser("score", help="the collector's rules")
    score.set_defaults(run=_score)
    write = subcommands.add_parser("write", help="the runs of each case as snapshots, with truth")
    write.add_argument("folder", type=Path)
    write.set_defaults(run=_write)
    judged = subcommands.add_parser("judge", help="a CSV of case, group, minute, cause")
    judged.add_argument("answers", type=Path)
    judged.set_defaults(run=_judge)
    brokers = subcommands.add_parser("brokers", help="faults on real brokers, then `recorded`")
    brokers.set_defaults(run=_run_on_brokers)
    brokers.add_argument("--folder", type=Path, help="for what was seen (default: a new one)")
    recorded = subcommands.add_parser("recorded", help="the rules on such a folder")
    recorded.set_defaults(run=_judge_recorded)
    recorded.add_argument("folder", type=Path)
    recorded.add_argument("--answers", type=Path, help="a CSV of cluster, group, taken_at, cause")
    for each in (score, write, judged):
        each.add_argument("--set-aside", action="store_true", help="cases no rule was made by")
    for each in (score, write, judged, brokers, recorded):
        each.add_argument(
            "--only",
            type=lambda text: tuple(text.split(",")),
            default=("",),
            metavar="KIND,...",
            help="cases whose name begins with one of these",
        )
    options = parser.parse_args(argv)
    options.run(options)
    return 0


def _score(options: Namespace) -> None:
    verdicts: dict[str, list[Verdict]] = {name: [] for name in PROGRAMS}
    with Pool(2) as pool:
        work = [(number, options.set_aside) for number in _choose(options)]
        for found in pool.imap(_score_case, work):
            for program, of_case in found.items():
                verdicts[program] += of_case
                for each in of_case:
                    if program == "ours" and each.verdict != VERDICTS[0]:
                        said = ", ".join(each.named) or "nothing"
                        print(f"{each.case} {each.group}: {each.verdict}, said {said}", flush=True)
    for program, every in verdicts.items():
        print(f"\n{program}")
        _print_table(every)


def _score_case(work: tuple[int, bool]) -> Mapping[str, list[Verdict]]:
    case = _make(*work)
    runs = record(case, PROGRAMS)
    return {program: list(judge(plant(case), runs, program)) for program in PROGRAMS}


def _make(number: int, set_aside: bool) -> Case:
    _, make = list(list_cases(set_aside=set_aside))[number]
    return make()


def _choose(options: Namespace) -> list[int]:
    made = list(list_cases(set_aside=options.set_aside))
    return [number for number, (kind, _) in enumerate(made) if kind.startswith(options.only)]


def _print_table(verdicts: Iterable[Verdict]) -> None:
    counts = count(verdicts)
    width = max(map(len, counts))
    print(f"{'planted':{width}}  {'  '.join(f'{each:>11}' for each in VERDICTS)}")
    for kind in sorted(counts):
        cells = "  ".join(f"{counts[kind][each]:>11}" for each in VERDICTS)
        print(f"{kind:{width}}  {cells}")
    ill = [found for kind, found in counts.items() if not kind.startswith("(")]
    total = {each: sum(found[each] for found in ill) for each in VERDICTS}
    judged = sum(total.values()) - total[VERDICTS[-1]]
    shares = ", ".join(f"{each} {total[each] / max(judged, 1):.1%}" for each in VERDICTS[:-1])
    print(f"{judged} groups in trouble: {shares}")


def _write(options: Namespace) -> None:
    """Snapshots in `DIR/CASE`, and `DIR/truth.csv`: case, group, the minute it begins, causes."""
    options.folder.mkdir(parents=True, exist_ok=True)
    with (options.folder / "truth.csv").open("w", newline="") as file:
        truth = csv.writer(file)
        truth.writerow(("case", "group", "begins", "causes"))
        for number in _choose(options):
            case = _make(number, options.set_aside)
            store = FolderStore(options.folder / case.name)
            for snapshot in run_minutes(case.cluster, case.minutes, case.change):
                write_snapshot(store, case.name, snapshot)
            for group in case.cluster.groups:
                right = " ".join(sorted(case.right.get(group.name, ())))
                truth.writerow((case.name, group.name, case.begin, right))


def _judge(options: Namespace) -> None:
    """Reads answers for the cases: a line for each run in which a program names a cause."""
    answers: dict[tuple[str, int], dict[str, str]] = {}
    with options.answers.open(newline="") as file:
        rows = csv.DictReader(file)
        if tuple(rows.fieldnames or ()) != _FIELDS:
            sys.exit(f"{options.answers} must have the columns {', '.join(_FIELDS)}.")
        for row in rows:
            answers.setdefault((row["case"], int(row["minute"])), {})[row["group"]] = row["cause"]
    verdicts: list[Verdict] = []
    for number in _choose(options):
        case = _make(number, options.set_aside)
        runs = []
        for snapshot in run_minutes(case.cluster, case.minutes, case.change):
            minute = (snapshot.taken_at - BEGIN) // MINUTE
            troubled = find_troubled(snapshot) if minute >= case.begin else frozenset[str]()
            runs.append(Run(troubled, {"theirs": answers.get((case.name, minute), {})}))
        verdicts += judge(plant(case), runs, "theirs")
    _print_table(verdicts)


def _run_on_brokers(options: Namespace) -> None:
    chosen = [case for case in CASES if case.name.startswith(options.only)]
    options.folder = options.folder or Path(mkdtemp(prefix="causes-"))
    run_cases(chosen, options.folder, lambda line: print(line, flush=True))
    options.answers = None
    _judge_recorded(options)


def _judge_recorded(options: Namespace) -> None:
    """A line for each group in trouble, then a table for each program."""
    programs = {"rules of now": name_anew(RULES), **PROGRAMS}
    if options.answers is not None:
        programs = {"theirs": read_answers(options.answers), **programs}
    verdicts = judge_recording(Recording(options.folder), programs, options.only)
    first = next(iter(programs))
    for each in verdicts[first]:
        if each.right or each.verdict != VERDICTS[0]:
            said = ", ".join(each.named) or "nothing"
            print(f"{each.case} {each.group}: {each.kind}: {each.verdict}, said {said}")
    for program, every in verdicts.items():
        print(f"\n{program}")
        _print_table(every)
    print(f"\nrecorded in {options.folder}")


if __name__ == "__main__":
    raise SystemExit(main())
