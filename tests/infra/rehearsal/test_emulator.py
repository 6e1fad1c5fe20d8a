# SPDX-License-Identifier: Apache-2.0
"""The emulator's process, and the resources that are added to it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from dev.rehearse.command_line import ROOT
from dev.rehearse.emulator import ACCOUNT, Emulator
from dev.rehearse.errors import RehearsalError
from dev.rehearse.resources import KINDS, check

TRUSTED = (
    '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "sts:AssumeRole",'
    ' "Principal": {"Service": "lambda.amazonaws.com"}}]}'
)
HELD = """\
import sys
from pathlib import Path
from dev.rehearse.emulator import Emulator
with Emulator(Path(sys.argv[1])) as emulator:
    print(emulator._process.pid, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(name="emulator", scope="module")
def _emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    with Emulator(tmp_path_factory.mktemp("emulator")) as emulator:
        yield emulator


def test_it_is_an_empty_account(emulator: Emulator) -> None:
    assert emulator.client("sts").get_caller_identity()["Account"] == ACCOUNT
    assert emulator.client("s3").list_buckets()["Buckets"] == []


def test_a_call_without_a_right_is_denied_and_reported(emulator: Emulator) -> None:
    role = emulator.client("iam").create_role(RoleName="poor", AssumeRolePolicyDocument=TRUSTED)
    credentials = emulator.assume(role["Role"]["Arn"], "nobody")
    with pytest.raises(ClientError, match="AccessDenied"):
        emulator.client("s3", credentials).list_buckets()
    event = emulator.wait_for("denied", lambda _: True, 10)
    assert event["action"] == "s3:ListAllMyBuckets"
    assert event["principal"].endswith("/poor/nobody")


def test_an_event_that_does_not_come_is_an_error(emulator: Emulator) -> None:
    with pytest.raises(RehearsalError, match="no event resource"):
        emulator.wait_for("resource", lambda _: True, 0.1)


@pytest.mark.skipif(sys.platform != "linux", reason="a process is awaited by its descriptor")
def test_it_ends_with_whoever_started_it_even_when_that_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HELD, str(tmp_path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        emulator = int(holder.stdout.readline())
        watched = os.pidfd_open(emulator)
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    # Readable once the process has ended.
    assert _ended_within(watched, seconds=240)


def _ended_within(watched: int, seconds: float) -> bool:
    try:
        return select.select([watched], [], [], seconds)[0] == [watched]
    finally:
        os.close(watched)


def test_an_unknown_parameter_or_a_wrong_value_is_refused() -> None:
    query = {"Name": "all", "Database": "kafka_lag", "QueryString": "SELECT 1"}
    check("athena", "CreateNamedQuery", query)
    with pytest.raises(ValueError, match="takes no Text"):
        check("athena", "CreateNamedQuery", {**query, "Text": "SELECT 1"})
    with pytest.raises(ValueError, match="QueryString"):
        check("athena", "CreateNamedQuery", {**query, "QueryString": 1})


def test_a_rule_of_a_security_group_is_held_against_the_call_that_makes_it() -> None:
    rule = {
        "GroupId": "sg-1",
        "IpProtocol": "tcp",
        "FromPort": 9096,
        "ToPort": 9096,
        "SourceSecurityGroupId": "sg-2",
        "Description": "to the brokers",
    }
    kind = KINDS["AWS::EC2::SecurityGroupIngress"]
    made = kind.parameters(rule)
    check(kind.service, kind.operation, made)
    (permission,) = made["IpPermissions"]
    assert permission["UserIdGroupPairs"] == [{"GroupId": "sg-2", "Description": "to the brokers"}]
