# SPDX-License-Identifier: Apache-2.0
"""Checks what the project needs on this machine: one sentence for each missing program.

The Makefile runs this before anything is installed, with any Python from 3.8 on, so it imports the
standard library only. Arguments name the programs to check; Python is always checked.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence
from importlib.util import find_spec

# A program, the command that prints its version, the least version, and how to install it.
TOOLS = (
    ("Java", "java -version", 17, "apt install openjdk-17-jre-headless, or brew install temurin"),
    ("Maven", "mvn --version", 3, "apt install maven, or brew install maven"),
    ("Node", "node --version", 20, "apt install nodejs on Debian 13, or brew install node"),
)
_PYTHON, _PYTHON_NEWEST = (3, 11), (3, 14)
_CHOOSE = "name another one, for example make setup PYTHON=python3.13"


def find_missing(names: Collection[str]) -> Iterator[str]:
    """Return a sentence for each missing or too old program, of those named or of all."""
    found = sys.version_info[:2]
    if not _PYTHON <= found <= _PYTHON_NEWEST:
        yield "Python 3.11 to 3.14 is needed, this is {}.{}: {}.".format(*found, _CHOOSE)
    # Debian keeps this part of Python in a package of its own; uv does without it.
    elif not (shutil.which("uv") or find_spec("ensurepip")):
        yield "Python cannot make virtual environments here: apt install python3-venv."
    for name, command, least, install in TOOLS:
        version = _major_version(command.split()) if not names or name in names else least
        if version is None or version < least:
            state = "was not found" if version is None else f"is {version}"
            yield f"{name} {least} or newer is needed and {name} {state}: {install}."


def _major_version(command: Sequence[str]) -> int | None:
    """Return the number that the program prints first; null if it is missing or does not run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    # Java 8 calls itself 1.8; macOS has a `java` that only says that there is none.
    found = re.search(r"(?:version \"|Maven |^v)(?:1\.)?(\d+)", done.stdout + done.stderr)
    return int(found.group(1)) if found else None


if __name__ == "__main__":
    sentences = list(find_missing(sys.argv[1:]))
    print(*sentences, sep="\n", end="\n" if sentences else "", file=sys.stderr)
    sys.exit(bool(sentences))
