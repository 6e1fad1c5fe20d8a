# SPDX-License-Identifier: Apache-2.0
"""The programs of `programs.toml`, and their answers when they are scraped as Prometheus does.

Kafka's own tool is read beside them.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from http.client import HTTPException
from pathlib import Path
from typing import Any, Self
from urllib.request import Request, urlopen

from prometheus_client.parser import text_string_to_metric_families

from dev.kafka import KafkaCluster, KafkaClusterError
from dev.kafka.cluster import run_group_tool
from dev.kafka.node import HOST, free_ports
from dev.truth.judge import Look, Values

PINNED = Path(__file__).with_name("programs.toml")
INSTALLED = Path(__file__).parents[2] / ".local" / "truth"
OURS, TOOL = "kafka-lag", "kafka-consumer-groups"
# The first is Prometheus' own default.
_ANSWERS_WITHIN, _ENDS_WITHIN = 10.0, 10.0
# Group (which may have spaces), topic, partition, committed offset, log end, lag.
_TOOL_ROW = re.compile(r"(.+?) +(\S+) +(\d+) +(?:\d+|-) +(?:\d+|-) +(-?\d+) ")


@dataclass(frozen=True, slots=True)
class Program:
    """A program of `programs.toml`, which says what the fields are."""

    name: str
    version: str
    home: str
    lag: Sequence[str] = ()
    age: Sequence[str] = ()
    seconds: float = 1.0
    interval: float = 0.0
    chosen: date | None = None
    path: str = "/metrics"
    installed: str = ""
    mode: str = ""
    arguments: Sequence[str] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def executable(self) -> Path:
        """Where it is, or would be."""
        if self.name == OURS:
            return Path(sys.executable).with_name(OURS)
        name = self.installed or self.name
        return INSTALLED / f"{name}-{self.version}" / name


def read_programs(text: str) -> list[Program]:
    """Returns the pinned programs."""
    found: dict[str, dict[str, Any]] = {}
    for each in tomllib.loads(text)["program"]:
        found[each["name"]] = found.get(each.pop("like", ""), {}) | each
    return [Program(**each) for each in found.values()]


def take_programs() -> tuple[list[Program], list[Program]]:
    """Returns the programs that are here, and those that are not, which a line names."""
    pinned = read_programs(PINNED.read_text(encoding="utf-8"))
    missing = [each for each in pinned if each.name != TOOL and not each.executable.is_file()]
    names = ", ".join(f"{each.name} {each.version} ({each.home})" for each in missing)
    if names:
        print(f"Left out, because they are not below {INSTALLED}: {names}.", flush=True)
    return [each for each in pinned if each not in missing], missing


class Running:
    """A context manager for the process of a program, with an empty folder of its own."""

    def __init__(self, program: Program, bootstrap: str, folder: Path) -> None:
        (self._port,) = free_ports(1)
        self.program, self._servers, self._folder = program, bootstrap.split(","), folder

    def __enter__(self) -> Self:
        self._folder.mkdir(parents=True)
        for name, text in self.program.files.items():
            (self._folder / name).write_text(self._fill(text), encoding="utf-8")
        arguments = [
            self._fill(text, server)
            for text in self.program.arguments
            for server in (self._servers if "{server}" in text else [""])
        ]
        variables = {name: self._fill(text) for name, text in self.program.variables.items()}
        self._process = subprocess.Popen(
            [self.program.executable, *arguments],
            env={**os.environ, **variables},
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDS_WITHIN)
        self._process.kill()
        self._process.wait()

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    def _scrape(self) -> str:
        """Returns its answer. Raises OSError if none comes in time, EOFError, HTTPException."""
        began, url = time.monotonic(), f"http://{HOST}:{self._port}{self.program.path}"
        request = Request(url, headers={"Accept-Encoding": "gzip"})
        with urlopen(request, timeout=_ANSWERS_WITHIN) as answer:  # noqa: S310 - it is http
            body: bytes = answer.read()
            packed = answer.headers.get("Content-Encoding") == "gzip"
        if time.monotonic() - began > _ANSWERS_WITHIN:
            raise TimeoutError
        return (gzip.decompress(body) if packed else body).decode()

    def look(self) -> Look:
        """Returns what one scrape shows: nothing if no answer comes in time or in this format."""
        began = time.time()
        shown: tuple[Values, Values] = ({}, {})
        with suppress(OSError, EOFError, HTTPException, ValueError):
            shown = read_lags_and_ages(self._scrape(), self.program)
        return Look(self.program.name, began, time.time(), shown)

    def _fill(self, text: str, server: str = "") -> str:
        names = {"bootstrap": ",".join(self._servers), "servers": json.dumps(self._servers)}
        names |= {"server": server, "mode": self.program.mode, "folder": str(self._folder)}
        return text.format(host=HOST, port=self._port, **names)


def read_lags_and_ages(text: str, program: Program) -> tuple[Values, Values]:
    """Returns lags by partition, and ages by group and topic, of the worst partition.

    A NaN makes the age of its topic NaN: it must not be lost in a maximum. Raises ValueError.
    """
    lags: dict[tuple[object, ...], float] = {}
    ages: dict[tuple[object, ...], float] = {}
    for family in text_string_to_metric_families(text):
        for name, labels, value, *_ in family.samples:
            if name == program.lag[0] and program.lag[3] in labels:
                group, topic, partition = (labels[each] for each in program.lag[1:])
                lags[group, topic, int(partition)] = value
            elif program.age and name == program.age[0]:
                at, age = tuple(labels[each] for each in program.age[1:3]), value * program.seconds
                ages[at] = age if math.isnan(age) else max(ages.get(at, -math.inf), age)
    return lags, ages


def look_with_tool(cluster: KafkaCluster) -> Look:
    """Returns what Kafka's own tool shows of all groups: nothing if a broker does not answer."""
    began, text = time.time(), ""
    with suppress(KafkaClusterError):
        options = ("--describe", "--all-groups", "--timeout", "30000")
        text = run_group_tool(cluster, *options)
    return Look(TOOL, began, time.time(), (read_tool(text), {}))


def read_tool(text: str) -> Values:
    """Returns the lags that `kafka-consumer-groups --describe` printed."""
    rows = (_TOOL_ROW.match(line) for line in text.splitlines())
    return {(row[1], row[2], int(row[3])): float(row[4]) for row in rows if row}
