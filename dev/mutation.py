# SPDX-License-Identifier: Apache-2.0
"""Mutation testing of the rules that decide what a person sees: a mutant no test notices survives.

mutmut makes one small change at a time in a copy of this tree and runs the tests that reach it. The
score is the share of mutants that some test kills. It changes bodies of functions only, not the
constants of a module: each threshold has a test on either side of it instead.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
_BIN = Path(sys.executable).parent
# Where the copy has them, see `_copied`.
_LAG, _REPORT = "src/kafka_lag/lag", "src/kafka_lag_report"
_SURVIVED = ("survived", "no tests")
_NOT_TESTED = ("skipped", "not checked")


@dataclass(frozen=True, slots=True)
class Target:
    """One kind of rule: where it is written, and the tests that hold it."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]


_RULE_TESTS = (
    "tests/functions/lag/test_carry_over.py",
    "tests/functions/lag/test_evaluate.py",
    "tests/functions/lag/test_offset_lag.py",
    "tests/functions/lag/test_rates.py",
    "tests/functions/lag/test_retention.py",
    "tests/functions/lag/test_rhythms.py",
    "tests/functions/lag/test_status.py",
)
TARGETS = {
    "status": Target(
        tuple(f"{_LAG}/{name}.py" for name in ("status", "ownership", "movement", "pauses")),
        _RULE_TESTS,
    ),
    "retention": Target((f"{_LAG}/retention.py",), _RULE_TESTS),
    "rates": Target((f"{_LAG}/rates.py",), _RULE_TESTS),
    "incidents": Target(
        (f"{_LAG}/incidents.py", f"{_LAG}/rollup.py"),
        (
            "tests/functions/lag/test_evaluate.py",
            "tests/functions/lag/test_incidents.py",
            "tests/functions/lag/test_rollup.py",
        ),
    ),
    "budget": Target(("src/kafka_lag/sinks/budget.py",), ("tests/functions/sinks",)),
    "changes": Target(
        tuple(
            f"src/kafka_lag/notify/{name}.py"
            for name in (
                "backlog",
                "changes",
                "gone_groups",
                "group_change",
                "group_rows",
                "incident_lifecycle",
                "troubles",
            )
        ),
        (
            "tests/functions/notify/test_changes.py",
            "tests/functions/notify/test_messages.py",
        ),
    ),
    "findings": Target(
        (
            f"{_REPORT}/changes.py",
            f"{_REPORT}/findings.py",
            f"{_REPORT}/sentences.py",
        ),
        (
            "tests/glue_jobs/page/test_attention.py",
            "tests/glue_jobs/test_changes.py",
            "tests/glue_jobs/test_findings.py",
            "tests/glue_jobs/test_message.py",
            "tests/glue_jobs/test_sentences.py",
        ),
    ),
    # Those of the page that need no Spark and no browser.
    "page": Target(
        (f"{_REPORT}/page/attention.py",),
        ("tests/glue_jobs/page/test_attention.py", "tests/glue_jobs/page/test_sections.py"),
    ),
    # Not those that simulate days and weeks: each mutant would wait for them.
    "pauses": Target(
        (f"{_LAG}/movement.py", f"{_LAG}/pauses.py"),
        (
            "tests/functions/lag/test_carry_over.py",
            "tests/functions/lag/test_evaluate.py",
            "tests/functions/lag/test_rollup.py",
            "tests/functions/lag/test_status.py",
        ),
    ),
}


class MutationError(Exception):
    """A target that cannot be measured; the message says what to correct."""


def main(argv: Sequence[str] | None = None) -> int:
    """Prints scores and survivors; 1 when a score is below `--least`, or a target has none."""
    parser = argparse.ArgumentParser(prog="python -m dev.mutation", description=__doc__)
    parser.add_argument(
        "targets", nargs="*", type=_target, metavar="TARGET", help=f"of {', '.join(TARGETS)}"
    )
    parser.add_argument("--least", type=float, default=0.0, metavar="SHARE", help="fail below it")
    options = parser.parse_args(argv)
    try:
        scores = [score_of(name, TARGETS[name]) for name in options.targets or TARGETS]
    except MutationError as error:
        print(error, file=sys.stderr)
        return 1
    return int(any(score < options.least for score in scores))


def _target(name: str) -> str:
    # Choices would refuse to have none on the command line, which stands for all.
    if name not in TARGETS:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(TARGETS)}")
    return name


def score_of(name: str, target: Target) -> float:
    """Killed ÷ run of a target's mutants, in a copy of this tree; prints each that survived.

    Raises MutationError.
    """
    with tempfile.TemporaryDirectory(prefix=f"mutation-{name}-") as folder:
        tree = _copied(Path(folder, "tree"))
        if missing := missing_from(tree, target):
            raise MutationError(
                f"{name}: there is no {' and no '.join(missing)}: "
                "correct its target in dev/mutation.py."
            )
        (tree / "setup.cfg").write_text(_config(target))
        _run(tree, "run")
        tested, survivors = outcomes_of(name, _run(tree, "results", "--all", "true"))
        score = 1 - len(survivors) / tested
        print(f"{name}: {tested} mutants, {len(survivors)} survived, {score:.1%} found")
        for each in survivors:
            print(_run(tree, "show", each))
        return score


def outcomes_of(name: str, results: str) -> tuple[int, list[str]]:
    """How many mutants were run, and the names of those that survived. Raises MutationError."""
    lines = [line.strip().rpartition(": ") for line in results.splitlines() if ": " in line]
    tested = [mutant for mutant, _, outcome in lines if outcome not in _NOT_TESTED]
    if not tested:
        raise MutationError(f"{name}: no mutant was run: its score would mean nothing.")
    return len(tested), [mutant for mutant, _, outcome in lines if outcome in _SURVIVED]


def missing_from(tree: Path, target: Target) -> list[str]:
    """Sources and tests of a target that a copied tree does not have."""
    return [name for name in (*target.sources, *target.tests) if not any(tree.glob(name))]


def _copied(tree: Path) -> Path:
    """What git knows of this tree and what is new in it: mutants must not get into the original.

    mutmut takes `src` alone for a source root, so the three packages are put there.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            place = tree / re.sub(r"^(functions|cli|infra|glue_jobs)/", "src/", name)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, place)
    return tree


def _config(target: Target) -> str:
    settings = {
        "source_paths": ["src"],
        "only_mutate": list(target.sources),
        "also_copy": ["dev", "docs", "README.md"],
        "pytest_add_cli_args": ["-n", "0", "-p", "no:cacheprovider"],
        "pytest_add_cli_args_test_selection": list(target.tests),
    }
    lines = ["[mutmut]"]
    for name, values in settings.items():
        lines += [f"{name}=", *(f"    {value}" for value in values)]
    return "\n".join(lines) + "\n"


def _run(tree: Path, *arguments: str) -> str:
    done = subprocess.run(
        [str(_BIN / "mutmut"), *arguments], cwd=tree, check=False, capture_output=True, text=True
    )
    if done.returncode:
        last = (done.stdout + done.stderr).splitlines()[-15:]
        raise MutationError(f"mutmut {arguments[0]} failed:\n" + "\n".join(last))
    return done.stdout


if __name__ == "__main__":
    raise SystemExit(main())
