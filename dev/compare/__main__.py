# SPDX-License-Identifier: Apache-2.0
"""The command line: compare two commits, or record new readings for the comparison."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path

from rich.console import Console

from dev.compare.checkouts import ROOT, CheckoutError, ProbeError, check_out, compared, resolve
from dev.compare.differences import Difference, Findings, Rules
from dev.compare.orders import HTTP, KINDS, PARQUET, RECORDED, REPORTS, TEMPLATES, Orders, Step

WORK = ROOT / ".local" / "compare"
DAYS, SEED = 30.0, 16

DESCRIPTION = """\
Run two commits on the same input and print every difference in what they publish, store, send,
answer, report and synthesise: EMF lines, Parquet columns, messages, HTTP answers, report tables,
CloudFormation templates. Rows are matched by their keys, so that their order is no difference.
"""
EPILOG = """\
input: readings recorded from real brokers with faults, a simulated cluster with every pattern of
consumers at a run a minute, a cluster of hostile names, two days for the report, requests to the
views about each cluster, and the deployments in OLD's examples/. 30 simulated days are 43,200 runs
a commit, at some 20 ms of a core each; --days 2 is for while you work.

examples:
  python -m dev.compare HEAD~1 HEAD --days 2
  python -m dev.compare v0.1.0 HEAD --only templates --renamed functions.=kafka_lag.
  python -m dev.compare record

exit code: 0 no difference, 1 differences or a commit that could not be run, 2 wrong usage.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Compares or records; the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    console = Console(stderr=True)
    if words[:1] == ["record"]:
        return _record(words[1:], console)
    options = _parse(words)
    try:
        return _compare(options, console)
    except CheckoutError as error:
        console.print(str(error), style="red", markup=False, soft_wrap=True)
        return 2
    except KeyboardInterrupt:
        return 130


def _parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m dev.compare",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("old", metavar="OLD", help="a commit")
    add("new", metavar="NEW", help="another one")
    add("--only", nargs="+", choices=KINDS, metavar="KIND", help=f"of {', '.join(KINDS)}")
    add("--days", type=_days, default=DAYS, metavar="N", help="simulated days (30); 0: none")
    add("--seed", type=int, default=SEED, metavar="N", help="of the simulated cluster (16)")
    add(
        "--tolerance",
        type=float,
        default=0.0,
        metavar="X",
        help="relative difference of numbers in report tables that is none (0)",
    )
    add(
        "--renamed",
        action="append",
        type=_rename,
        default=[],
        metavar="OLD=NEW",
        help="text in templates that is meant to have changed; several times for several",
    )
    add("--few", type=int, metavar="N", help="print N differences of each sort, not all")
    add("--work", type=Path, default=WORK, metavar="DIR", help="for checkouts (.local/compare)")
    return parser.parse_args(words)


def _compare(options: argparse.Namespace, console: Console) -> int:
    began = time.monotonic()
    work = options.work.resolve()
    commits = [resolve(name) for name in (options.old, options.new)]
    rules = Rules(options.tolerance, tuple(options.renamed))
    findings, counts = Findings(options.few), Counter[str]()
    with console.status("Checking out") as status:
        old, new = (check_out(each, work, status.update) for each in commits)
        orders = _orders(options, work, old.folder)

        def progress(step: Step) -> None:
            counts.update(_counted(step))
            status.update(f"{step.name[:70]} ({len(findings):,} differences)")

        error = collect(findings, compared((old, new), orders, work, rules, progress))
    for line in (*findings.lines(), *_notes(rules)):
        print(line)
    took = timedelta(seconds=round(time.monotonic() - began))
    what = ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()))
    print(
        f"{commits[0][:9]} and {commits[1][:9]}: {len(findings):,} differences in {what} ({took})"
    )
    if isinstance(error, ProbeError):
        console.print(str(error), style="red", markup=False, soft_wrap=True)
    if isinstance(error, KeyboardInterrupt):
        return 130
    return 1 if error or len(findings) else 0


def collect(
    findings: Findings, differences: Iterable[Difference]
) -> ProbeError | KeyboardInterrupt | None:
    """Adds the differences as far as they come; what ended them early.

    Hours of a comparison are not lost to its last step.
    """
    try:
        for one in differences:
            findings.add(one)
    except (ProbeError, KeyboardInterrupt) as error:
        return error
    return None


def _notes(rules: Rules) -> Iterator[str]:
    """What was let pass, so that nobody need wonder."""
    for part, count in sorted(rules.same.items()):
        yield f"{part}: bytes differ, same meaning: {count:,}"
    for rename, count in sorted(rules.used.items()):
        yield f"renamed {rename}: {count:,} times"
    for rename in (f"{a}={b}" for a, b in rules.renamed):
        if rename not in rules.used:
            yield f"renamed {rename}: never needed"


def _orders(options: argparse.Namespace, work: Path, old: Path) -> Orders:
    # Loads this checkout's own packages, which wrong usage should not wait for.
    from dev.compare import report_days  # noqa: PLC0415

    kinds = tuple(options.only or KINDS)
    days = report_days.make(work / "report_days") if set(kinds) - {TEMPLATES} else ()
    return Orders(
        kinds=kinds,
        days=options.days,
        seed=options.seed,
        folder="",
        report_days=days,
        reported=report_days.DATES,
        # The old commit's, as it may not know keys that were added since.
        examples=tuple(map(str, sorted((old / "examples").glob("*.json")))),
        context=str(ROOT / "cdk.json"),
    )


def _counted(step: Step) -> dict[str, int]:
    """What a step adds to the sum that is printed at the end."""
    kinds = Counter(part.partition("/")[0] for part in step.parts)
    if kinds[HTTP] or kinds[TEMPLATES] or kinds[REPORTS]:
        names = {HTTP: "answers", TEMPLATES: "templates", REPORTS: "tables and pages of reports"}
        return {name: kinds[kind] for kind, name in names.items() if kinds[kind]}
    if not step.parts:
        return {}
    lines = step.parts.get("emf", b"").count(b"\n")
    sent = step.parts.get("messages", b"").count(b'"operation"')
    return {"runs": 1, "EMF lines": lines, "Parquet files": kinds[PARQUET], "messages": sent}


def _record(words: list[str], console: Console) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m dev.compare record",
        description="Record seven minutes of three real brokers under traffic and faults.",
    )
    parser.add_argument("--folder", type=Path, default=RECORDED, help="where to (the committed)")
    options = parser.parse_args(words)
    # Needs brokers and their client library, which a comparison does not.
    from dev.compare.record import record  # noqa: PLC0415

    record(options.folder, lambda line: console.print(line, markup=False, soft_wrap=True))
    return 0


def _rename(text: str) -> tuple[str, str]:
    old, sign, new = text.partition("=")
    if not old or not sign:
        raise argparse.ArgumentTypeError(f"{text!r} is not OLD=NEW")
    return old, new


def _days(text: str) -> float:
    days = float(text)
    if not 0 <= days <= 366:  # noqa: PLR2004
        raise argparse.ArgumentTypeError("from 0 to 366")
    return days


if __name__ == "__main__":
    sys.exit(main())
