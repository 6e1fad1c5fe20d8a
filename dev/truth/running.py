# SPDX-License-Identifier: Apache-2.0
"""A program's process, and what it answers when it is scraped as Prometheus does."""

from __future__ import annotations

import gzip
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Self
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from dev.kafka.node.settings import HOST, free_ports
from dev.truth.exposition import lags_and_ages
from dev.truth.judge import Look
from dev.truth.planted import GroupPartition
from dev.truth.programs import Place, Program

# Prometheus' own default.
SCRAPE_TIMEOUT = 10.0
_ENDS_WITHIN = 10.0
# As Prometheus asks.
_PACKED = {"Accept-Encoding": "gzip"}
_POLLS_EVERY = 0.25


class Running:
    """A context manager for one program; it writes `output.log` into its folder."""

    def __init__(self, program: Program, bootstrap: str, folder: Path) -> None:
        folder.mkdir(parents=True)
        (port,) = free_ports(1)
        self.program = program
        self.place = Place(bootstrap, port, folder)
        self.started = 0.0
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        start = self.program.start(self.place)
        for name, text in start.files.items():
            (self.place.folder / name).write_text(text, encoding="utf-8")
        command = [*self.program.executable(), *start.arguments]
        with (self.place.folder / "output.log").open("wb") as log:
            self.started = time.time()
            self._process = subprocess.Popen(
                command,
                env={**os.environ, **start.variables},
                cwd=self.place.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is None:
            return
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDS_WITHIN)
        self._process.kill()
        self._process.wait()

    @property
    def pid(self) -> int:
        """Of its only process; 0 before it starts."""
        return self._process.pid if self._process else 0

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.poll() is None

    def look(self) -> Look:
        """One scrape. A program that does not answer in time, or in this format, shows nothing."""
        began = time.time()
        program = self.program
        url = f"http://{HOST}:{self.place.port}{program.path}"
        try:
            with urlopen(Request(url, headers=_PACKED), timeout=SCRAPE_TIMEOUT) as answer:
                body = answer.read()
                packed = answer.headers.get("Content-Encoding") == "gzip"
                text = (gzip.decompress(body) if packed else body).decode()
            took = time.time()
            if took - began > SCRAPE_TIMEOUT:
                return Look(program.name, began, took, error="no answer in time")
            lags, ages = lags_and_ages(text, program.lag, program.age)
        except HTTPError as error:
            return Look(program.name, began, time.time(), error=f"HTTP {error.code}")
        except (OSError, EOFError, HTTPException, ValueError) as error:
            return Look(program.name, began, time.time(), error=type(error).__name__)
        return Look(program.name, began, took, lags, ages)

    def first_look(self, key: GroupPartition, within: float) -> Look:
        """The first answer that has the lag of `key`, or the last one before the time is over."""
        deadline = self.started + within
        while True:
            look = self.look()
            if key in look.lags or time.time() > deadline or not self.alive:
                return look
            time.sleep(_POLLS_EVERY)


def look_at_all(running: list[Running]) -> list[Look]:
    """Scrapes all at the same time."""
    with ThreadPoolExecutor(len(running)) as pool:
        return list(pool.map(Running.look, running))
