# SPDX-License-Identifier: Apache-2.0
"""Mutation testing of some modules: mutants that no test notices survive, and are printed.

`python -m dev.mutation functions/kafka_lag/lag/status.py --tests tests/functions/lag`

mutmut makes one small change at a time in a copy of this tree and runs the tests that reach it. It
changes bodies of functions only, not the constants of a module.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
_PACKAGES = re.compile(r"^(functions|cli|infra|glue_jobs)/")
_FAILED = (": survived", ": no tests")


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the survivors and their number; 1 if nothing could be run."""
    parser = argparse.ArgumentParser(prog="python -m dev.mutation", description=__doc__)
    parser.add_argument("sources", nargs="+", metavar="SOURCE", help="modules to change")
    parser.add_argument("--tests", nargs="+", required=True, help="files or folders of tests")
    options = parser.parse_args(argv)
    if missing := [n for n in (*options.sources, *options.tests) if not Path(ROOT, n).exists()]:
        parser.error(f"there is no {' and no '.join(missing)}")
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        tree = Path(folder, "tree")
        _copy(tree)
        _configure(tree, options.sources, options.tests)
        try:
            _run(tree, "run")
            results = _run(tree, "results", "--all", "true").splitlines()
            survivors = [line.strip().partition(": ")[0] for line in results if _survived(line)]
            for name in survivors:
                print(_run(tree, "show", name))
        except subprocess.CalledProcessError as error:
            print(error.stdout, error.stderr, sep="\n", file=sys.stderr)
            return 1
    print(f"{len(survivors)} of {len(results)} mutants survived")
    return 0


def _survived(line: str) -> bool:
    return line.rstrip().endswith(_FAILED)


def _copy(tree: Path) -> None:
    """Copies what git knows, and what is new; mutmut takes only `src` for a root of packages."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    for name in filter(None, listed.stdout.split("\0")):
        if Path(ROOT, name).is_file():
            place = tree / _PACKAGES.sub("src/", name)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, place)


def _configure(tree: Path, sources: Sequence[str], tests: Sequence[str]) -> None:
    settings = {
        "source_paths": ["src"],
        "only_mutate": [_PACKAGES.sub("src/", name) for name in sources],
        "also_copy": ["dev", "docs", "README.md"],
        "pytest_add_cli_args": ["-n", "0", "-p", "no:cacheprovider", "-m", "not thorough"],
        "pytest_add_cli_args_test_selection": tests,
    }
    lines = [f"{name}=\n" + "".join(f"    {v}\n" for v in vs) for name, vs in settings.items()]
    (tree / "setup.cfg").write_text("[mutmut]\n" + "".join(lines))


def _run(tree: Path, *arguments: str) -> str:
    command = [str(Path(sys.executable).parent / "mutmut"), *arguments]
    return subprocess.run(command, cwd=tree, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    raise SystemExit(main())
