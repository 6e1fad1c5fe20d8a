# SPDX-License-Identifier: Apache-2.0
"""Checks whether a tag may be a release, and prints the notes of a release.

    python dev/release.py check v0.3.0     # 1 and a sentence if something does not fit
    python dev/release.py notes v0.3.0     # the changelog's section

It uses only the standard library, because no package is installed when a release is built.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
_CHART = Path("examples/exporter/chart/Chart.yaml")


def find_faults(tag: str, root: Path = ROOT) -> list[str]:
    """Returns the faults that keep a tag from being a release, a sentence each."""
    version = tag.removeprefix("v")
    faults = []
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]["version"]
    if version != project:
        faults.append(f"The tag {tag} is not v{project}, the version in pyproject.toml.")
    chart = (root / _CHART).read_text()
    for key in ("version", "appVersion"):
        found = re.search(rf"^{key}: (\S+)$", chart, re.MULTILINE)
        if found is None or found[1] != project:
            faults.append(f"{_CHART}: {key} must be {project}.")
    if read_notes(tag, root) is None:
        faults.append(f"CHANGELOG.md has no section [{version}] with a date.")
    return faults


def read_notes(tag: str, root: Path = ROOT) -> str | None:
    """Returns the changelog's section of a version, None without one that has a date."""
    version = re.escape(tag.removeprefix("v"))
    found = re.search(
        rf"^## \[{version}\] - \d{{4}}-\d\d-\d\d\n(.*?)(?=^## |\Z)",
        (root / "CHANGELOG.md").read_text(),
        re.MULTILINE | re.DOTALL,
    )
    return found and found[1].strip()


def main(argv: Sequence[str]) -> int:
    """Does `check TAG` or `notes TAG`; returns 1 if the tag is not a release."""
    task, tag = argv
    faults = find_faults(tag)
    for fault in faults:
        print(fault, file=sys.stderr)
    if task == "notes" and not faults:
        print(read_notes(tag))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
