# SPDX-License-Identifier: Apache-2.0
"""Two exporters in processes of their own, measured in turn."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from dev.benchmarks.exporters import (
    Exporter,
    ExporterError,
    main,
    measure,
    pace,
    series_in,
)

# Arguments: CPU seconds a scrape, megabytes held, series, 1 to pack the answer.
PROGRAM = """
import gzip, sys, time
from http.server import BaseHTTPRequestHandler, HTTPServer
busy, megabytes, series, packed = float(sys.argv[1]), *map(int, sys.argv[2:])
held = b"x" * (megabytes << 20)
lines = ["# HELP up a help", "# TYPE up gauge", "", *(f'up{{n="{n}"}} 1' for n in range(series))]
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        until = time.process_time() + busy
        while time.process_time() < until:
            pass
        body = "\\n".join(lines).encode()
        self.send_response(200 if self.path == "/metrics" else 404)
        if packed:
            body = gzip.compress(body)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *args):
        pass
server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


@contextmanager
def an_exporter(
    name: str, *, busy: float = 0.0, megabytes: int = 0, series: int = 3, packed: bool = False
) -> Iterator[Exporter]:
    words = [str(busy), str(megabytes), str(series), str(int(packed))]
    command = [sys.executable, "-c", PROGRAM, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        yield Exporter(name, f"http://127.0.0.1:{port}/metrics", process.pid)
        process.terminate()


def test_each_exporter_has_its_own_time_cpu_memory_and_series() -> None:
    with (
        an_exporter("cheap") as cheap,
        an_exporter("heavy", busy=0.1, megabytes=64, series=500, packed=True) as heavy,
    ):
        first, second = measure([cheap, heavy], scrapes=5)
    assert (first.name, first.series, first.scrapes) == ("cheap", 3, 5)
    assert (second.name, second.series, second.scrapes) == ("heavy", 500, 5)
    assert first.cpu_seconds < 0.05
    assert 0.09 < second.cpu_seconds < 0.2
    assert second.seconds >= 0.09
    assert second.slowest >= second.seconds
    assert second.resident_bytes - first.resident_bytes > 48 << 20
    assert second.peak_bytes >= second.resident_bytes


def test_a_round_begins_at_the_end_of_its_interval_or_at_once_where_it_is_late() -> None:
    now, began = [100.0], []
    for number in pace(4, 15.0, lambda: now[0], lambda seconds: now.insert(0, now[0] + seconds)):
        began.append(now[0])
        now.insert(0, now[0] + (40.0 if number == 1 else 5.0))

    assert began == [115.0, 130.0, 170.0, 175.0]


def test_comments_and_empty_lines_are_no_series() -> None:
    assert series_in(b'# HELP a b\n# TYPE a gauge\n\na 1\n  b{c="#"} 2\n') == 2


def test_the_command_prints_both_and_shows_strange_names_as_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with an_exporter("ours") as ours, an_exporter("peer") as peer:
        words = [f"--ours=[red]ours={ours.url},{ours.pid}", f"--peer=peer={peer.url},{peer.pid}"]
        assert main([*words, "--scrapes", "1"]) == 0
        text = capsys.readouterr().out
        assert main([*words, "--scrapes", "1", "--json"]) == 0
    assert "[red]ours" in text
    assert [each["name"] for each in json.loads(capsys.readouterr().out)] == ["[red]ours", "peer"]


def test_an_exporter_that_does_not_answer_ends_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    with an_exporter("peer") as peer:
        wrong = peer.url.replace("/metrics", "/nothing")
        assert main([f"--peer=peer={wrong},{peer.pid}", "--scrapes=1"]) == 1
    assert "HTTP Error 404" in capsys.readouterr().err


def test_a_process_that_is_not_there_ends_the_run() -> None:
    with an_exporter("peer") as peer, pytest.raises(ExporterError, match="process 999999999"):
        measure([Exporter("peer", peer.url, 999_999_999)], scrapes=1)


@pytest.mark.parametrize(
    "text", ["", "a", "a=http://x", "=http://x,1", "a=file:///etc/passwd,1", "a=http://x,y"]
)
def test_what_is_no_exporter_is_wrong_usage(text: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main([f"--peer={text}"])
    assert ended.value.code == 2
