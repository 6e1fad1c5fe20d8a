# SPDX-License-Identifier: Apache-2.0
"""Whether this machine has what the project needs, said in one sentence per missing thing.

The Makefile runs this before anything is installed, with whatever Python there is. So it imports
the standard library only and keeps to what Python 3.8 understands. Names of tools as arguments ask
for these alone, and Python, which is always asked for.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from typing import Callable, Collection, NamedTuple, Tuple  # noqa: UP035 - Python 3.8, see above

Version = Tuple[int, ...]  # noqa: UP006


class Tool(NamedTuple):
    """A program that must be on the PATH, its least version and how to get it."""

    name: str
    command: tuple[str, ...]
    least: Version
    parse: Callable[[str], Version | None]
    install: str


def parse_java(said: str) -> Version | None:
    """Read what `java -version` says; Java 8 calls itself 1.8. Null when it is not a Java."""
    found = re.search(r'version "(\d+)(?:\.(\d+))?', said)
    if found is None:
        return None
    major, minor = int(found.group(1)), int(found.group(2) or 0)
    return (minor,) if major == 1 else (major, minor)


def parse_maven(said: str) -> Version | None:
    """Read what `mvn --version` says, colours included; null when it is not Maven."""
    return _numbers(r"Apache Maven (\d+)\.(\d+)", said)


def parse_node(said: str) -> Version | None:
    """Read what `node --version` says; null when it is not Node."""
    return _numbers(r"^v(\d+)\.(\d+)", said.strip())


def _numbers(pattern: str, said: str) -> Version | None:
    found = re.search(pattern, said)
    return tuple(int(number) for number in found.groups()) if found else None


PYTHON = (3, 11)
PYTHON_NEWEST = (3, 14)
PYTHON_CHOOSE = "name another, as in make setup PYTHON=python3.13"
VENV_INSTALL = "apt install python3-venv on Debian"
PYTHON_INSTALL = "brew install python@3.13 on macOS, apt install python3 on Debian 12 or later"
TOOLS = (
    Tool(
        "Java",
        ("java", "-version"),
        (17,),
        parse_java,
        "brew install --cask temurin@17 on macOS, apt install openjdk-17-jre-headless on Debian",
    ),
    Tool(
        "Maven",
        ("mvn", "--version"),
        (3,),
        parse_maven,
        "brew install maven on macOS, apt install maven on Debian",
    ),
    Tool(
        "Node",
        ("node", "--version"),
        (20,),
        parse_node,
        "brew install node on macOS, apt install nodejs on Debian 13, or from nodejs.org",
    ),
)


def judge(name: str, found: Version | None, least: Version, install: str) -> str | None:
    """Return the sentence about a missing (null) or too old program; null when it will do."""
    if found is not None and found >= least:
        return None
    wanted = ".".join(map(str, least))
    state = "was not found" if found is None else "is " + ".".join(map(str, found))
    return f"{name} {wanted} or newer is needed and {name} {state}: {install}."


def judge_python(found: Version, can_make_environments: bool) -> str | None:
    """Return the sentence about a Python too old, too new or incomplete; null when it will do."""
    if found > PYTHON_NEWEST:
        newest, mine = (".".join(map(str, version)) for version in (PYTHON_NEWEST, found))
        return f"Python {newest} is the newest supported and this is {mine}: {PYTHON_CHOOSE}."
    if found >= PYTHON and not can_make_environments:
        return f"Python cannot make virtual environments here: {VENV_INSTALL}."
    return judge("Python", found, PYTHON, PYTHON_INSTALL)


def ask(tool: Tool) -> Version | None:
    """Return the version of the tool on the PATH; null when it is missing or does not run."""
    program = shutil.which(tool.command[0])
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, *tool.command[1:]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return tool.parse(done.stdout)


def _makes_environments() -> bool:
    # Debian keeps a part of Python in a package of its own; uv does without it.
    return shutil.which("uv") is not None or find_spec("ensurepip") is not None


def missing(names: Collection[str] = ()) -> list[str]:
    """Return a sentence for each thing this machine lacks, of all or these; empty: it has all."""
    asked = [tool for tool in TOOLS if not names or tool.name in names]
    verdicts = [judge_python(tuple(sys.version_info[:2]), _makes_environments())]
    verdicts += [judge(tool.name, ask(tool), tool.least, tool.install) for tool in asked]
    return [verdict for verdict in verdicts if verdict]


def main(names: Collection[str] = ()) -> int:
    """Print what is missing to stderr; return 1 if anything is, else 0 without a word."""
    sentences = missing(names)
    for sentence in sentences:
        print(sentence, file=sys.stderr)
    return 1 if sentences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
