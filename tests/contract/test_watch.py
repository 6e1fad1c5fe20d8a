# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag show` and `watch` as strangers type them, against real brokers and without AWS."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from dev.kafka import KafkaCluster
from kafka_lag import contract
from kafka_lag_cli.command import main
from tests.kafka.looking import ANSWERED_WITHIN, commit, create, produce

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]

VARIABLE = "MONITOR_PASSWORD"
SHOW = ("show", "--gap", "0")
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
        *("--security-protocol", "SASL_SSL", "--username", "monitor"),
        *("--password-env", VARIABLE, "--cafile", str(shared_cluster.cafile)),
        *("--timeout", "120"),
        *("--groups-allow", "^watchers$", "--topics-allow", "^watched$"),
        *("--state", str(tmp_path / "state")),
    ]


def test_json_is_one_array_of_rows_with_the_snapshots_columns(
    shared_cluster: KafkaCluster, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SHOW, *arguments, "--output", "json", "--by", "partition"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert list(first) == ["cluster", *contract.COLUMNS[contract.GROUP_PARTITIONS]]
    assert first["cluster"] == shared_cluster.cluster_id
    assert (first["consumer_group"], first["partition_id"], first["lag"]) == ("watchers", 0, 6)
    assert first["taken_at"].endswith("Z")
    assert (second["committed_offset"], second["lag"], second["status"]) == (None, None, None)


def test_a_second_run_knows_the_status(arguments: list[str]) -> None:
    options = ["--interval", "1", "--output", "json"]
    command = [*PROGRAM, "watch", *arguments, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as watching:
        assert watching.stdout is not None
        statuses = [json.loads(watching.stdout.readline())[0]["status"] for _ in range(2)]
        watching.terminate()
    assert statuses == [None, "OK"]


def test_the_cluster_is_called_by_kafkas_own_id_unless_named(
    shared_cluster: KafkaCluster, arguments: list[str], tmp_path: Path
) -> None:
    main([*SHOW, *arguments])
    main([*SHOW, *arguments, "--cluster", "mine"])
    folders = {path.name for path in (tmp_path / "state").glob("snapshots/groups/*")}
    assert folders == {f"cluster={shared_cluster.cluster_id}", "cluster=mine"}


def test_a_group_is_shown_with_its_partitions_and_offsets(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SHOW, *arguments, "--group", "watchers"]) == 0
    lines = [re.split(r" {2,}", line.strip()) for line in capsys.readouterr().out.splitlines()]
    (first,) = [line for line in lines if line[:2] == ["watched", "0"]]
    assert first[2:5] == ["4", "10", "6"]


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
