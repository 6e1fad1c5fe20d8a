# SPDX-License-Identifier: Apache-2.0
"""Runs two commits on the same input and prints every difference in their output.

The output is metrics, snapshots, HTTP answers, and tables and pages of reports. Both commits run
with the libraries that are installed here.
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

ROOT = Path(__file__).parents[2]
SCRIPT = Path("dev/compare/outputs.py")
_LAST_WORDS = 2_000


class CompareError(Exception):
    """A commit that there is not or whose code fails; the message has its last words."""


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the differences; returns 0 for none, 1 for some, 2 if a commit could not be run."""
    parser = argparse.ArgumentParser("python -m dev.compare", description=__doc__)
    for name in ("old", "new"):
        parser.add_argument(name, help="name of a commit; a dot is the tree as it is here")
    options = parser.parse_args(argv)
    try:
        with tempfile.TemporaryDirectory(prefix="compare-") as work, ExitStack() as stack:
            trees = [stack.enter_context(tree_of(each)) for each in (options.old, options.new)]
            found = compare(trees, Path(work), "reports")
    except CompareError as error:
        print(error, file=sys.stderr)
        return 2
    print(found, end="")
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


def compare(trees: Sequence[Path], work: Path, *kinds: str) -> str:
    """Returns the differences of what two trees make, as git prints them; raises CompareError.

    The name of a difference is the line of the thing whose values differ. Reports are compared if
    they are among the `kinds`.
    """
    places = [work / "old", work / "new"]
    running = [_start(tree, place, kinds) for tree, place in zip(trees, places, strict=True)]
    codes = [each.wait() for each in running]
    for tree, place, code in zip(trees, places, codes, strict=True):
        if code:
            words = place.with_suffix(".log").read_text(errors="replace")[-_LAST_WORDS:]
            raise CompareError(f"the {place.name} commit in {tree} could not be run:\n{words}")
    form = ["--no-index", "--no-ext-diff", "--no-prefix", "--no-color", "-U0"]
    command = ["git", "diff", *form, "old", "new"]
    done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    if done.returncode != bool(done.stdout):
        raise CompareError(f"git diff: {done.stderr.strip()}")
    return done.stdout


def _start(tree: Path, place: Path, kinds: Sequence[str]) -> subprocess.Popen[bytes]:
    """Starts the commit's process; its packages come before the installed ones."""
    place.mkdir(parents=True)
    roots = sorted({path.parents[1] for path in tree.glob("*/kafka_lag*/__init__.py")})
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, [tree, *roots])),
        "PYTHONHASHSEED": "0",
    }
    words: list[str | Path] = [sys.executable, "-P", tree / SCRIPT, place, *kinds]
    with place.with_suffix(".log").open("wb") as log:
        return subprocess.Popen(words, cwd=place, env=environment, stdout=log, stderr=log)


if __name__ == "__main__":
    sys.exit(main())
