# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag show` and `watch` as strangers type them, on real brokers and without AWS."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from dev.kafka import KafkaCluster
from tests.kafka.looking import ANSWERED_WITHIN, commit, create, produce

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]

VARIABLE = "MONITOR_PASSWORD"
PROGRAM = (sys.executable, "-m", "kafka_lag_cli.command")


@pytest.fixture(scope="module", autouse=True)
def _traffic(shared_cluster: KafkaCluster) -> None:
    create(shared_cluster, "watched", 2)
    produce(shared_cluster, "watched", {0: 10, 1: 20})
    commit(shared_cluster, "watchers", "watched", [4])


@pytest.fixture(name="arguments")
def _arguments(
    shared_cluster: KafkaCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    monkeypatch.setenv(VARIABLE, shared_cluster.users["monitor"].password)
    return [
        *("--bootstrap-servers", shared_cluster.bootstrap("SASL_SSL")),
        *("-X", "security.protocol=SASL_SSL", "--username", "monitor"),
        *("--password-env", VARIABLE, "-X", f"ssl.truststore.location={shared_cluster.cafile}"),
        *("-X", "request.timeout.ms=120000"),
        *("--set", "groups.allow=^watchers$", "--set", "topics.allow=^watched$"),
        *("--state", str(tmp_path / "state")),
    ]


def test_a_second_run_knows_the_status(arguments: list[str]) -> None:
    options = ["--interval", "1", "--output", "json"]
    command = [*PROGRAM, "watch", *arguments, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as watching:
        assert watching.stdout is not None
        statuses = [json.loads(watching.stdout.readline())[0]["status"] for _ in range(2)]
        watching.terminate()
    assert statuses == [None, "OK"]


def test_a_process_serves_what_it_collects(arguments: list[str]) -> None:
    call = [*PROGRAM, "serve", *arguments, "--cluster", "mine", "--interval", "1", "--listen", "0"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, text=True) as serving:
        assert serving.stdout is not None
        url = serving.stdout.readline().split()[0]
        found = _wait_for(f"{url}metrics", b'group="watchers"')
        with urlopen(f"{url}healthz") as answer:  # noqa: S310  # our own
            health = answer.status, answer.read()
        serving.send_signal(signal.SIGTERM)
        ended = serving.wait(timeout=ANSWERED_WITHIN)
    assert b'"mine"' in found
    assert (health, ended) == ((200, b"ok\n"), 0)


def _wait_for(url: str, words: bytes) -> bytes:
    """The first answer with these words."""
    end = time.monotonic() + ANSWERED_WITHIN
    while time.monotonic() < end:
        try:
            with urlopen(url) as answer:  # noqa: S310  # our own
                body: bytes = answer.read()
        except HTTPError:
            body = b""
        if words in body:
            return body
        time.sleep(0.2)
    raise AssertionError(f"{url} never had {words!r}")
