# SPDX-License-Identifier: Apache-2.0
"""A bill of materials of what is installed, and known weaknesses in it.

The bill is CycloneDX, of every package in `uv.lock`. pip-audit asks the database of advisories for
them; without a way to it nothing is judged, which is said in a line and is no failure.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kafka_lag.wording.formatting import format_quantity

_FOLDER = Path(".local/audit")
_PIP_AUDIT = "pip-audit>=2.10"
_NOT_REACHED = "No database of advisories could be reached: nothing was audited."


def judge(found: Mapping[str, Any] | None) -> tuple[list[str], int]:
    """What pip-audit found, in lines, and the exit code: 1 where a weakness is known.

    None, and packages that are all unknown to the database, mean that it was not reached.
    """
    packages = found["dependencies"] if found else []
    audited = [each for each in packages if "vulns" in each]
    if not audited:
        return [_NOT_REACHED], 0
    lines = [
        f"{package['name']} {package['version']}: {weakness['id']}, {_repaired_in(weakness)}"
        for package in audited
        for weakness in package["vulns"]
    ]
    skipped = len(packages) - len(audited)
    unknown = f", {skipped} not in the database" if skipped else ""
    weaknesses = format_quantity(len(lines), "known weakness", "known weaknesses")
    total = f"{format_quantity(len(audited), 'package')} audited{unknown}: {weaknesses}."
    return [*lines, total], 1 if lines else 0


def _repaired_in(weakness: Mapping[str, Any]) -> str:
    versions = weakness.get("fix_versions")
    return f"repaired in {', '.join(versions)}" if versions else "not repaired yet"


def _export(uv: str, form: str, path: Path, *more: str) -> bool:
    """Whether uv could write the lock file in this form; its own words are on stderr."""
    every = ("--frozen", "--all-extras", "--all-groups")
    done = subprocess.run(
        [uv, "export", "--quiet", *every, *more, "--format", form, "--output-file", str(path)],
        check=False,
        stdout=subprocess.DEVNULL,
    )
    return done.returncode == 0


def _ask(uv: str, requirements: Path, answer: Path) -> Mapping[str, Any] | None:
    """pip-audit's answer; None where it could not be had."""
    answer.unlink(missing_ok=True)
    options = ("--disable-pip", "--no-deps", "--progress-spinner", "off", "--timeout", "10")
    files = ("--requirement", str(requirements), "--format", "json", "--output", str(answer))
    subprocess.run(
        [uv, "tool", "run", "--quiet", _PIP_AUDIT, *options, *files],
        check=False,
        capture_output=True,
    )
    try:
        found: Mapping[str, Any] = json.loads(answer.read_text())
    except (OSError, ValueError):
        return None
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the bill and the findings below .local/audit; 1 where a weakness is known."""
    parser = argparse.ArgumentParser(description="a bill of materials, and known weaknesses in it")
    parser.add_argument("--uv", default="uv", help="the uv to use (uv)")
    uv: str = parser.parse_args(argv).uv
    _FOLDER.mkdir(parents=True, exist_ok=True)
    bill, requirements = _FOLDER / "sbom.cdx.json", _FOLDER / "requirements.txt"
    if not _export(uv, "cyclonedx1.5", bill, "--preview-features", "sbom-export"):
        print("No bill of materials: this uv cannot write CycloneDX, newer ones can.")
    else:
        print(f"{bill}: the bill of materials (CycloneDX 1.5).")
    if not _export(uv, "requirements.txt", requirements, "--no-emit-project"):
        return 1
    lines, code = judge(_ask(uv, requirements, _FOLDER / "advisories.json"))
    print("\n".join(lines))
    return code


if __name__ == "__main__":
    sys.exit(main())
