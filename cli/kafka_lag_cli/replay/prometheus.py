# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus on recorded samples: `promtool` stores them, and a server answers queries.

The server listens on this machine alone, scrapes nothing, and ends with the block that started it.
"""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import ProxyHandler, build_opener

from kafka_lag.errors import ReporterError
from kafka_lag_config.faults import ConfigurationError

_HERE = "127.0.0.1"
_STORAGE = (
    # Blocks stay as they are written, however old they are.
    *("--storage.tsdb.retention.time=100y", "--storage.tsdb.min-block-duration=2h"),
    "--storage.tsdb.max-block-duration=2h",
    # Samples are a minute apart: a series that the next minute lacks has ended, as after a scrape.
    "--query.lookback-delta=59999ms",
)
_START_SECONDS, _STOP_SECONDS, _ANSWER_SECONDS = 120, 10, 300


class PrometheusError(ReporterError):
    """Prometheus did not do what it was called for; the text has its own sentence."""


class Prometheus:
    """Samples in a folder, about which a server answers while it is `serving`."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._data = folder, folder / "data"
        # A proxy of the environment does not reach this machine.
        self._opener, self._url = build_opener(ProxyHandler({})), ""

    def add(self, lines: Iterable[str]) -> None:
        """Stores samples, each a line of the text format with its time in seconds.

        Samples of days take far longer at once than two hours by two hours. Raises PrometheusError.
        """
        samples = self._folder / "samples"
        with samples.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)
            file.write("# EOF\n")
        command = ("tsdb", "create-blocks-from", "openmetrics", str(samples), str(self._data))
        if fault := _run_promtool(*command):
            raise PrometheusError(f"promtool cannot store the history: {fault}")

    def read_rules(self, file: Path) -> list[dict[str, Any]]:
        """Returns the groups of a rule file as Prometheus' API has them.

        Raises ConfigurationError with promtool's sentence, PrometheusError.
        """
        if fault := _run_promtool("check", "rules", str(file)):
            raise ConfigurationError(str(file), [fault.removeprefix(f"FAILED: {file}: ")])
        # The name of the file may have wildcards. Samples would be changed by what rules record.
        (self._folder / "rules.yml").write_bytes(file.read_bytes())
        with self.serving("empty", rule_files=["rules.yml"]):
            groups: list[dict[str, Any]] = self.ask("rules")["groups"]
            return groups

    @contextmanager
    def serving(self, samples: str = "data", **config: Any) -> Iterator[None]:
        """Has a server with this configuration answer. Raises PrometheusError."""
        (self._folder / "prometheus.yml").write_text(json.dumps(config))
        with socket.socket() as free:
            free.bind((_HERE, 0))
            address = f"{_HERE}:{free.getsockname()[1]}"
        self._url = f"http://{address}/api/v1/"
        command = [
            "prometheus",
            f"--config.file={self._folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={self._folder / samples}",
            f"--web.listen-address={address}",
            *_STORAGE,
        ]
        log = self._folder / "log"
        with log.open("wb") as out:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        try:
            ends = time.monotonic() + _START_SECONDS
            while not self._is_ready():
                if process.poll() is not None or time.monotonic() > ends:
                    *_, last = ["", *log.read_text(errors="replace").splitlines()]
                    raise PrometheusError(f"prometheus does not start: {last}")
                time.sleep(0.1)
            yield
        finally:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def ask(self, path: str, **form: str) -> Any:
        """Returns the data of its API's answer. Raises PrometheusError with its sentence."""
        data = urlencode(form).encode() if form else None
        try:
            with self._opener.open(f"{self._url}{path}", data, _ANSWER_SECONDS) as response:
                return json.load(response)["data"]
        except HTTPError as error:
            body = error.read()
            sentence = json.loads(body)["error"] if body.startswith(b"{") else str(error)
            raise PrometheusError(sentence) from error
        except (OSError, HTTPException, ValueError) as error:
            raise PrometheusError(f"prometheus does not answer ({error})") from error

    def _is_ready(self) -> bool:
        try:
            self.ask("labels")
        except PrometheusError:
            return False
        return True


@contextmanager
def open_prometheus() -> Iterator[Prometheus]:
    """Gives one without samples; its folder goes with the block, also if the process is ended."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with TemporaryDirectory(prefix="kafka-lag-") as folder:
            yield Prometheus(Path(folder))
    finally:
        signal.signal(signal.SIGTERM, before)


def _run_promtool(*arguments: str) -> str:
    """Returns what it complains of, on one line; nothing if it succeeds."""
    done = subprocess.run(
        ["promtool", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    return " ".join(done.stderr.split()) if done.returncode else ""
