# SPDX-License-Identifier: Apache-2.0
"""The watcher as a stranger types it, against real brokers and without AWS."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dev.kafka import KafkaCluster
from kafka_lag import contract
from kafka_lag.cli import watch
from tests.kafka.looking import commit, create, produce

pytestmark = pytest.mark.kafka

VARIABLE = "MONITOR_PASSWORD"


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
        *("--groups-allow", "^watchers$", "--topics-allow", "^watched$"),
        *("--state", str(tmp_path / "state"), "--once"),
    ]


def test_json_is_one_array_of_rows_with_the_snapshots_columns(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert watch.main([*arguments, "--output", "json"]) == 0
    first, second = json.loads(capsys.readouterr().out)
    assert list(first) == list(contract.COLUMNS[contract.GROUP_PARTITIONS])
    assert (first["consumer_group"], first["partition_id"], first["lag"]) == ("watchers", 0, 6)
    assert first["taken_at"].endswith("Z")
    assert (second["committed_offset"], second["lag"], second["status"]) == (None, None, None)


def test_the_table_names_the_group_its_lag_its_age_and_its_worst_partition(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert watch.main(arguments) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "watchers" in line]
    assert re.search(r"watchers +\? +6 +[\d.]+ (s|min)", line)
    assert "watched-0" in line


def test_a_second_run_knows_the_status(arguments: list[str]) -> None:
    options = [option for option in arguments if option != "--once"]
    # A window of many minutes: the records were written a while ago on a slow machine.
    options += ["--interval", "1", "--window", "600"]
    command = [sys.executable, "-m", "kafka_lag.cli.watch", *options]
    with subprocess.Popen([*command, "--output", "json"], stdout=subprocess.PIPE) as watching:
        assert watching.stdout is not None
        statuses = [json.loads(watching.stdout.readline())[0]["status"] for _ in range(2)]
        watching.terminate()
    assert statuses == [None, "OK"]


def test_a_topic_may_have_a_lag_that_is_none(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    watch.main([*arguments, "--output", "json", "--allowed-lag", "^watched$=6"])
    row = json.loads(capsys.readouterr().out)[0]
    assert (row["lag"], row["time_lag_seconds"], row["status"]) == (6, 0.0, "OK")


def test_the_cluster_is_called_by_kafkas_own_id_unless_named(
    shared_cluster: KafkaCluster, arguments: list[str], tmp_path: Path
) -> None:
    watch.main(arguments)
    watch.main([*arguments, "--cluster", "mine"])
    folders = {path.name for path in (tmp_path / "state").glob("snapshots/groups/*")}
    assert folders == {f"cluster={shared_cluster.cluster_id}", "cluster=mine"}


def test_a_wrong_password_is_one_sentence_and_exit_code_one(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "hunter2")
    assert watch.main(arguments) == 1
    captured = capsys.readouterr()
    assert "refused the login" in captured.err
    assert "Traceback" not in captured.err
    assert "hunter2" not in captured.err


def test_a_state_that_cannot_be_written_is_one_sentence_and_exit_code_one(
    arguments: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    assert watch.main([*arguments, "--state", str(tmp_path / "file" / "state")]) == 1
    assert "Cannot write" in capsys.readouterr().err


def test_a_reader_that_has_seen_enough_is_no_error(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "kafka_lag.cli.watch", *arguments, "--output", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as watching:
        assert watching.stdout is not None
        assert watching.stderr is not None
        watching.stdout.close()
        assert watching.stderr.read() == b""
    assert watching.returncode == 0


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (["--groups-deny", "("], "no regular expression"),
        (["--bootstrap-servers", "somewhere"], "host:port"),
        (["--password-env", "NOT_SET"], "NOT_SET is not set"),
        (["--cafile", "nowhere.pem"], "no file nowhere.pem"),
        (["--cafile", __file__], "holds no certificates in PEM"),
        (["--interval", "0"], "at least 1"),
        (["--cluster", "a/b"], "must be letters"),
        (["--intervall", "5"], "unrecognized"),
        (["--timeout", "nan"], "must be seconds"),
        (["--security-protocol", "SSL"], "are for SASL"),
        (["--state", __file__], "is no folder"),
    ],
)
def test_wrong_usage_is_reported_before_any_request(
    arguments: list[str], capsys: pytest.CaptureFixture[str], changed: list[str], expected: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        watch.main([*arguments, *changed])
    assert caught.value.code == 2
    assert expected in capsys.readouterr().err


def test_a_client_certificate_is_a_login(
    shared_cluster: KafkaCluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pair = shared_cluster.client_pair("monitor")
    certificate, key = tmp_path / "monitor.pem", tmp_path / "monitor.key"
    certificate.write_text(pair.certificate)
    key.write_text(pair.private_key)
    call = [
        *("--bootstrap-servers", shared_cluster.bootstrap("SSL")),
        *("--certfile", str(certificate), "--keyfile", str(key)),
        *("--cafile", str(shared_cluster.cafile), "--groups-allow", "^watchers$"),
        *("--state", str(tmp_path / "state"), "--once", "--output", "json"),
    ]
    assert watch.main(call) == 0
    assert {row["consumer_group"] for row in json.loads(capsys.readouterr().out)} == {"watchers"}
