# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.rivals`: says which facts of docs/migrating.md about other tools may be old.

Compares the versions whose facts were read with the newest ones in package registries, which it
asks with cargo and go as they are set up. For a tool that no registry has, it says how old the last
look by hand is. Prints a line for each tool; exits with 1 if a fact may be old.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime

from dev.truth.programs import PINNED, read_programs

# A look by hand counts for so many days.
_LASTS_DAYS = 90
_ANSWERS_WITHIN = 120.0


@dataclass(frozen=True, slots=True)
class Rival:
    """A tool that the page compares.

    `version` is the one whose facts were read on the day `read`, from `source`. `registry` is the
    command of a registry's client and the name there; empty if no registry has the tool.
    """

    name: str
    version: str
    source: str
    read: date
    registry: tuple[str, str] | None = None


_HAND = date(2026, 11, 30)
# Versions that `dev.truth` runs stand in programs.toml.
_RUN = {each.name: each.version for each in read_programs(PINNED.read_text(encoding="utf-8"))}
RIVALS = (
    Rival("kminion", _RUN["kminion"], "README, docs/reference-config.yaml", _HAND),
    Rival("kafka_exporter", _RUN["kafka_exporter"], "README, kafka_exporter.go", _HAND),
    Rival("burrow", _RUN["burrow"], "README, core/internal/httpserver", _HAND),
    Rival("klag", _RUN["klag"], "README, website/ in its repository", _HAND),
    Rival(
        "klag-exporter",
        _RUN["klag-exporter"],
        "README of the crate",
        _HAND,
        ("cargo", "klag-exporter"),
    ),
    Rival("kafka-lag-exporter", "0.8.2", "README; archived in 2024", _HAND),
    Rival("KEDA", "2.21.0", "page Apache Kafka", _HAND, ("go", "github.com/kedacore/keda/v2")),
    Rival("MSK's metrics", "", "AWS: Monitor consumer lags", _HAND),
    Rival("AWS's Kafka exporter", "", "AWS: KafkaExporterConfiguration", _HAND),
    Rival("kafka_consumer", "", "Datadog: README, metadata.csv", _HAND),
)


def _ask_cargo(name: str) -> str | None:
    found = re.search(r"^version: (\S+)", _run("cargo", "info", name), re.MULTILINE)
    return found and found[1]


def _ask_go(name: str) -> str | None:
    text = _run("go", "list", "-m", "-json", f"{name}@latest")
    return str(json.loads(text)["Version"]).removeprefix("v") if text else None


ASK: Mapping[str, Callable[[str], str | None]] = {"cargo": _ask_cargo, "go": _ask_go}


def _run(*words: str) -> str:
    """Returns what a client prints; nothing if it is missing or fails."""
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, timeout=_ANSWERS_WITHIN
        )
    except (FileNotFoundError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def find_doubt(rival: Rival, newest: str | None, today: date) -> str | None:
    """Returns why facts about the tool may be old, or None."""
    if newest is not None:
        return None if newest == rival.version else f"the newest version is {newest}"
    days = (today - rival.read).days
    return f"nobody has looked for {days} days" if days > _LASTS_DAYS else None


def compare(today: date) -> Iterator[tuple[Rival, str | None, str | None]]:
    """Yields each tool, its newest version if a registry says it, and a doubt."""
    for rival in RIVALS:
        newest = ASK[rival.registry[0]](rival.registry[1]) if rival.registry else None
        yield rival, newest, find_doubt(rival, newest, today)


def main() -> int:
    """Prints the tools; returns 1 if a fact may be old."""
    doubts = 0
    for rival, newest, doubt in compare(datetime.now(UTC).date()):
        doubts += doubt is not None
        how = "asked now" if newest else f"by hand on {rival.read}"
        said = doubt or "as it was read"
        print(f"{rival.name:22} {rival.version:18} {how:22} {said} ({rival.source})")
    return 1 if doubts else 0


if __name__ == "__main__":
    sys.exit(main())
