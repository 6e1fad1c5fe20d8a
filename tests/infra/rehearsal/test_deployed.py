# SPDX-License-Identifier: Apache-2.0
"""A deployment from bootstrap to destroy, by the real command line, in an emulator of AWS.

Each fixture goes one step further than the one before, so that the tests stand in that order.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.kafka import KafkaCluster
from dev.rehearse import backlog, checks
from dev.rehearse.account import SHARED_STACK
from dev.rehearse.app import LACKED
from dev.rehearse.command_line import install
from dev.rehearse.emulator import Emulator
from dev.rehearse.errors import RehearsalError
from dev.rehearse.outside import Attempt, attempt_inside, attempt_outside
from dev.rehearse.rehearsal import Rehearsal
from tests.infra.conftest import Synthesised
from tests.programs import find_program, lacking

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.thorough,
    pytest.mark.timeout(900),
    pytest.mark.skipif(sys.platform != "linux", reason="Lambda's packages are Linux's"),
]


@pytest.fixture(name="deployed", scope="module")
def _deployed(
    shared_cluster: KafkaCluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Rehearsal]:
    folder = _prepared(tmp_path_factory)
    backlog.leave_backlog(shared_cluster)
    with Emulator(folder, shared_cluster.bootstrap("PLAINTEXT")) as emulator:
        rehearsal = Rehearsal(emulator, shared_cluster, folder)
        rehearsal.bootstrap()
        rehearsal.deploy()
        yield rehearsal


@pytest.fixture(name="deployed_twice", scope="module")
def _deployed_twice(deployed: Rehearsal) -> tuple[dict[str, str], dict[str, str]]:
    """When each stack was changed last, before and after the same was deployed again."""
    before = checks.versions(deployed)
    deployed.deploy_again()
    return before, checks.versions(deployed)


def _prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for program, package in (("node", "nodejs"), ("npm", "npm"), ("make", "make")):
        find_program(program, package=package)
    try:
        install()
    except RehearsalError as error:
        lacking(str(error))
    return tmp_path_factory.mktemp("rehearsal")


@pytest.fixture(name="run", scope="module")
def _run(deployed: Rehearsal) -> Rehearsal:
    deployed.run()
    return deployed


@pytest.fixture(name="attempts", scope="module")
def _attempts(run: Rehearsal) -> list[Attempt]:
    return list(attempt_outside(run))


@pytest.fixture(name="changed", scope="module")
def _changed(run: Rehearsal) -> tuple[Rehearsal, dict[str, str], dict[str, str]]:
    """The rehearsal, and what was there before the change and after it."""
    before = checks.identities(run)
    run.change()
    return run, before, checks.identities(run)


@pytest.fixture(name="destroyed", scope="module")
def _destroyed(run: Rehearsal) -> tuple[Rehearsal, str]:
    """The rehearsal, and the bucket."""
    bucket = run.output(SHARED_STACK, "Bucket")
    run.destroy()
    return run, bucket


def test_all_stacks_are_deployed(deployed: Rehearsal) -> None:
    assert checks.stacks(deployed) == []


def test_every_kind_of_resource_is_rehearsed(
    deployed: Rehearsal, examples: dict[str, Synthesised]
) -> None:
    kinds = {
        resource["Type"]
        for example in examples.values()
        for template in example.templates.values()
        for resource in template["Resources"].values()
    }
    made = {each["ResourceType"] for _, each in checks.resources(deployed)}
    assert kinds - LACKED <= made
    assert not made & LACKED


def test_the_bucket_is_there_with_all_that_protects_it(deployed: Rehearsal) -> None:
    s3, bucket = deployed.emulator.client("s3"), deployed.output(SHARED_STACK, "Bucket")
    assert "AES256" in json.dumps(s3.get_bucket_encryption(Bucket=bucket), default=str)
    blocked = s3.get_public_access_block(Bucket=bucket)["PublicAccessBlockConfiguration"]
    assert set(blocked.values()) == {True}
    assert "aws:SecureTransport" in s3.get_bucket_policy(Bucket=bucket)["Policy"]


def test_the_same_deployed_again_changes_nothing(
    deployed_twice: tuple[dict[str, str], dict[str, str]],
) -> None:
    before, after = deployed_twice
    assert len(before) == 6
    assert before == after


def test_the_deployed_functions_do_their_work(run: Rehearsal) -> None:
    assert checks.answers(run) == []


def test_the_collector_writes_its_snapshots_to_the_deployed_bucket(run: Rehearsal) -> None:
    assert checks.snapshots(run) == []


def test_the_collector_logs_the_lag_that_kafka_has(run: Rehearsal) -> None:
    assert checks.metrics(run) == []


def test_cloudwatch_gets_each_partition_by_otlp(run: Rehearsal) -> None:
    assert checks.otlp_metrics(run) == []


def test_a_changed_status_reaches_the_deployed_topic_and_the_bus(run: Rehearsal) -> None:
    assert checks.messages(run) == []


def test_nothing_is_denied_under_the_deployed_roles(run: Rehearsal) -> None:
    assert checks.denials(run) == []


def test_calls_outside_the_rights_are_denied(attempts: list[Attempt]) -> None:
    assert [str(each) for each in attempts if not each.denied] == []
    callers = Counter(each.by for each in attempts)
    assert min(callers[name] for name in ("collector", "messages", "views", "glue")) >= 3
    assert min(callers[name] for name in ("scheduler", "events")) >= 2


def test_services_may_do_what_their_roles_are_for(run: Rehearsal) -> None:
    attempts = list(attempt_inside(run))
    assert {each.by for each in attempts} == {"scheduler", "events"}
    assert [str(each) for each in attempts if each.error] == []


@pytest.mark.parametrize(
    ("error", "denied"), [("AccessDenied", True), ("NoSuchKey", False), (None, False)]
)
def test_only_what_a_policy_refuses_is_denied(error: str | None, denied: bool) -> None:
    assert Attempt("views", "s3 put_object", "a snapshot", error).denied is denied


def test_the_daily_job_reports_with_its_role_alone(run: Rehearsal) -> None:
    run.report()
    assert checks.report(run) == []


def test_a_change_reaches_what_is_deployed(
    changed: tuple[Rehearsal, dict[str, str], dict[str, str]],
) -> None:
    assert checks.changes(changed[0]) == []
    assert checks.stacks(changed[0]) == []


def test_a_change_makes_nothing_anew_that_has_a_state(
    changed: tuple[Rehearsal, dict[str, str], dict[str, str]],
) -> None:
    _, before, after = changed
    assert len(before) > 20
    assert {name: after.get(name) for name in before} == before


def test_the_changed_collector_goes_on(
    changed: tuple[Rehearsal, dict[str, str], dict[str, str]],
) -> None:
    assert checks.answers(changed[0]) == []
    assert checks.snapshots(changed[0]) == []
    assert checks.denials(changed[0]) == []


def test_of_a_cluster_that_is_removed_only_snapshots_are_left(run: Rehearsal) -> None:
    run.remove()
    assert checks.removal(run) == []


def test_of_all_stacks_only_the_bucket_is_left(destroyed: tuple[Rehearsal, str]) -> None:
    assert checks.destruction(*destroyed) == []


def test_it_is_deployed_again_on_the_bucket_that_was_kept(destroyed: tuple[Rehearsal, str]) -> None:
    rehearsal, bucket = destroyed
    assert rehearsal.kept_buckets() == [bucket]
    rehearsal.deploy_on(bucket)
    assert checks.on_kept_bucket(rehearsal, bucket) == []
