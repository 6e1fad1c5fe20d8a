# SPDX-License-Identifier: Apache-2.0
"""Run two commits on the same input and print every difference in what they make of it.

EMF lines, columns of snapshots, tables and pages of reports, HTTP answers, messages, CloudFormation
templates; equal commits print nothing. Both run with the libraries that are installed here.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from dev.compare.differences import differences, lines
from kafka_lag_cdk.packaging import find_uv

ROOT = Path(__file__).parents[2]
KINDS = ("emf", "parquet", "http", "messages", "reports", "templates")
SCRIPT = Path("dev/compare/outputs.py")
_LAST_WORDS = 2_000

EPILOG = """\
OLD and NEW are names of commits; a dot is the tree as it is here. Exit code: 0 no difference, 1
differences, 2 a commit that there is not or that could not be run.
"""


class CompareError(Exception):
    """A commit that there is not or whose code fails; the message has its last words."""


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the differences; the exit code."""
    parser = argparse.ArgumentParser("python -m dev.compare", description=__doc__, epilog=EPILOG)
    add = parser.add_argument
    add("old", metavar="OLD")
    add("new", metavar="NEW")
    names = ", ".join(KINDS)
    add("--only", nargs="+", choices=KINDS, default=KINDS, metavar="KIND", help=f"of {names}")
    add("--few", type=int, default=3, metavar="N", help="print N differences of each group (3)")
    options = parser.parse_args(argv)
    try:
        with tempfile.TemporaryDirectory(prefix="compare-") as work, ExitStack() as stack:
            trees = [stack.enter_context(tree_of(each)) for each in (options.old, options.new)]
            found = compare(trees, options.only, options.few, Path(work))
    except CompareError as error:
        print(error, file=sys.stderr)
        return 2
    print("".join(f"{line}\n" for line in found), end="")
    return 1 if found else 0


@contextmanager
def tree_of(name: str) -> Iterator[Path]:
    """Yields the folder of a commit's files; raises CompareError.

    Uses a git worktree that is removed after the block, or this checkout for the name `.`.
    """
    if name == ".":
        yield ROOT
        return
    with tempfile.TemporaryDirectory(prefix="compare-tree-") as folder:
        tree = Path(folder, "tree")
        _git("worktree", "add", "--quiet", "--detach", str(tree), f"{name}^{{commit}}")
        try:
            yield tree
        finally:
            _git("worktree", "remove", "--force", str(tree))


def _git(*words: str) -> None:
    done = subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise CompareError(f"git {words[0]}: {done.stderr.strip()}")


def compare(trees: Sequence[Path], kinds: Sequence[str], few: int, work: Path) -> list[str]:
    """Returns the differences of two trees as lines.

    Empty if there are none. Raises CompareError.
    """
    places = [work / "old", work / "new"]
    running = [_start(tree, place, kinds) for tree, place in zip(trees, places, strict=True)]
    codes = [each.wait() for each in running]
    for tree, place, code in zip(trees, places, codes, strict=True):
        if code:
            words = place.with_suffix(".log").read_text(errors="replace")[-_LAST_WORDS:]
            raise CompareError(f"the {place.name} commit in {tree} could not be run:\n{words}")
    return list(lines(differences(*places), few))


def _start(tree: Path, place: Path, kinds: Sequence[str]) -> subprocess.Popen[bytes]:
    """Starts the commit's process; its packages come before the installed ones."""
    place.mkdir(parents=True)
    roots = sorted({path.parents[1] for path in tree.glob("*/kafka_lag*/__init__.py")})
    # Synthesis packs the job's pure dependencies, and uv brings them.
    tools = [str(Path(uv).parent)] if (uv := find_uv()) else []
    environment = os.environ | {
        "PATH": os.pathsep.join([os.environ.get("PATH", os.defpath), *tools]),
        "PYTHONPATH": os.pathsep.join(map(str, [tree, *roots])),
        "PYTHONHASHSEED": "0",
    }
    # Commits from before it have names that this one's finds.
    script = tree / SCRIPT if (tree / SCRIPT).exists() else ROOT / SCRIPT
    words: list[str | Path] = [sys.executable, "-P", script, tree, place, *kinds]
    with place.with_suffix(".log").open("wb") as log:
        return subprocess.Popen(words, cwd=place, env=environment, stdout=log, stderr=log)


if __name__ == "__main__":
    sys.exit(main())
