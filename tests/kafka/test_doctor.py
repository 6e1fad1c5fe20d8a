# SPDX-License-Identifier: Apache-2.0
"""Faults made on real brokers: doctor finds each one, and its printed line repairs it.

Lines of kafka-acls go through a shell to Kafka's own tool, options to the command itself.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from confluent_kafka import Consumer
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from kafka import OffsetAndMetadata
from kafka import TopicPartition as KafkaPartition
from kafka.admin import KafkaAdminClient

from dev.kafka import KafkaCluster
from dev.kafka.access import acl, monitor_acls, new_users
from dev.kafka.cluster import quick_start
from dev.kafka.jars import kafka_server
from kafka_lag_cli.command import main
from tests.kafka.looking import ANSWERED_WITHIN, commit, create, delete, delete_group, produce

pytestmark = [pytest.mark.kafka, pytest.mark.thorough]

Found: TypeAlias = dict[str, Any]
NOWHERE = "127.0.0.1:1"
DESCRIBE, CONFIGS = AclOperation.DESCRIBE, AclOperation.DESCRIBE_CONFIGS


@pytest.fixture(name="cluster", scope="module")
def _cluster() -> Iterator[KafkaCluster]:
    """One broker that allows everything that no ACL is about, as MSK does."""
    settings = {"allow.everyone.if.no.acl.found": "true"}
    cluster = KafkaCluster(brokers=1, settings=settings)
    cluster.users |= new_users("newcomer")
    with cluster:
        create(cluster, "orders", 1, replication_factor=1)
        create(cluster, "secret", 1, replication_factor=1)
        produce(cluster, "orders", {0: 9})
        commit(cluster, "billing", "orders", [9])
        commit(cluster, "it's $(hidden)", "orders", [9])
        yield cluster


@dataclass(frozen=True, slots=True)
class Bench:
    """Runs the command as a user of a cluster, and what it prints as that cluster's admin."""

    cluster: KafkaCluster
    folder: Path
    capsys: pytest.CaptureFixture[str]

    def options(self, user: str = "monitor") -> list[str]:
        """Those of a user who does everything right."""
        return [
            *("--bootstrap-servers", self.cluster.bootstrap()),
            *("-X", "security.protocol=SASL_SSL", "-X", "request.timeout.ms=120000"),
            *("--username", user, "--password-env", f"PASSWORD_OF_{user.upper()}"),
            *("-X", f"ssl.truststore.location={self.cluster.cafile}"),
        ]

    def doctor(self, options: list[str]) -> list[Found]:
        """The findings, whose exit code fits them."""
        code = main(["doctor", *options, "--output", "json"])
        printed = self.capsys.readouterr()
        findings: list[Found] = json.loads(printed.out)
        severities = {each["severity"] for each in findings}
        assert code == (1 if "fault" in severities else 4 if "unknown" in severities else 0), (
            printed.err
        )
        return findings

    def doctor_until(
        self,
        options: list[str],
        holds: Callable[[list[Found]], bool],
        seconds: float = ANSWERED_WITHIN,
    ) -> list[Found]:
        """The first findings for which this holds, as brokers hear of ACLs a moment later."""
        deadline = time.monotonic() + seconds
        while not holds(findings := self.doctor(options)):
            assert time.monotonic() < deadline, findings
        return findings

    def run(self, *lines: str) -> None:
        """Lines for a shell as they are printed, all at once."""
        environ = os.environ | {"PATH": f"{self.folder}:{os.environ['PATH']}"}
        started = [
            subprocess.Popen(
                ["/bin/bash", "-c", line],
                cwd=self.folder,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for line in lines
        ]
        for process, line in zip(started, lines, strict=True):
            said, _ = process.communicate(timeout=ANSWERED_WITHIN)
            assert process.returncode == 0, f"{line}\n{said}"


@pytest.fixture(name="bench")
def _bench(
    cluster: KafkaCluster,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Bench:
    """With the admin's login where the printed lines expect it, and Kafka's tools by name."""
    for name, user in cluster.users.items():
        monkeypatch.setenv(f"PASSWORD_OF_{name.upper()}", user.password)
    admin = cluster.users["admin"]
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    (tmp_path / "admin.properties").write_text(
        "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n"
        f"ssl.truststore.type=PEM\nssl.truststore.location={cluster.cafile}\n"
        f'sasl.jaas.config={module} required username="{admin.username}" '
        f'password="{admin.password}";\n'
    )
    server = kafka_server()
    options = " ".join(map(shlex.quote, quick_start(server)))
    commands = {
        "kafka-acls.sh": _find_class(server.jars, "AclCommand"),
        "kafka-configs.sh": _find_class(server.jars, "ConfigCommand"),
    }
    for name, command in commands.items():
        tool = tmp_path / name
        tool.write_text(
            f'#!/bin/sh\nexec java {options} -cp {shlex.quote(server.class_path)} {command} "$@"\n'
        )
        tool.chmod(0o755)
    return Bench(cluster, tmp_path, capsys)


def _find_class(jars: Path, name: str) -> str:
    """Returns the class behind one of Kafka's tools, which moved when it was written in Java."""
    (tools,) = jars.glob("kafka-tools-[0-9]*.jar")
    with zipfile.ZipFile(tools) as jar:
        is_moved = f"org/apache/kafka/tools/{name}.class" in jar.namelist()
    return f"org.apache.kafka.tools.{name}" if is_moved else f"kafka.admin.{name}"


def bad(findings: list[Found], check: str | None = None) -> list[Found]:
    """Those that need somebody, of one check or all."""
    return [
        each
        for each in findings
        if each["severity"] in ("fault", "warning") and check in (None, each["check"])
    ]


def one(findings: list[Found], check: str) -> Found:
    (found,) = bad(findings, check)
    return found


def test_nothing_is_bad_where_nothing_is_wrong(bench: Bench) -> None:
    findings = bench.doctor(bench.options())
    assert bad(findings) == []
    assert [each["what"] for each in findings if each["severity"] == "unknown"] == []


@pytest.mark.parametrize(
    ("check", "severity", "change"),
    [
        ("name resolution", "warning", "--bootstrap-servers no-such-host.invalid:9092,{good}"),
        ("TCP", "warning", f"--bootstrap-servers {NOWHERE},{{good}}"),
        ("TLS", "fault", "--bootstrap-servers {plain}"),
        ("TLS", "fault", "-X security.protocol=SASL_PLAINTEXT"),
        ("mechanisms", "fault", "-X sasl.mechanism=PLAIN"),
    ],
)
def test_options_that_do_not_fit_are_printed_as_they_would(
    check: str, severity: str, change: str, bench: Bench
) -> None:
    servers = {"good": bench.cluster.bootstrap(), "plain": bench.cluster.bootstrap("PLAINTEXT")}
    # The last of an option counts.
    found = one(bench.doctor([*bench.options(), *change.format(**servers).split()]), check)
    assert found["severity"] == severity
    assert bad(bench.doctor(shlex.split(found["repair"]))) == []


def show(bench: Bench, options: list[str]) -> str:
    """What `kafka-lag show` says, and that it ends well."""
    assert main(["show", *options, "--gap", "0", "--state", str(bench.folder / "state")]) == 0
    printed = bench.capsys.readouterr()
    return " ".join((printed.out + printed.err).split())


def test_a_mechanism_for_which_the_user_has_no_password_is_named_and_the_right_one_printed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSWORD_OF_OLDER", "right-for-one")
    kind = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
    user = UserScramCredentialUpsertion("older", kind, b"right-for-one")
    of_older = (
        *((ResourceType.BROKER, "kafka-cluster", DESCRIBE), (ResourceType.GROUP, "*", DESCRIBE)),
        *((ResourceType.TOPIC, "*", DESCRIBE), (ResourceType.TOPIC, "*", CONFIGS)),
    )
    rights = [acl("older", *each) for each in of_older]
    bench.cluster.add_acl(*rights)
    for future in bench.cluster.admin().alter_user_scram_credentials([user]).values():
        future.result(ANSWERED_WITHIN)
    found = one(bench.doctor(bench.options("older")), "login")
    assert found["severity"] == "fault"
    assert "right-for-one" not in json.dumps(found)
    assert bad(bench.doctor(shlex.split(found["repair"]))) == []
    bench.cluster.remove_acl(*rights)


def test_negative_offsets_that_brokers_stored_are_noted_and_cost_the_group_nothing(
    bench: Bench,
) -> None:
    # librdkafka sends no negative offset.
    admin = KafkaAdminClient(bootstrap_servers=bench.cluster.bootstrap("PLAINTEXT"))
    create(bench.cluster, "odd", 3, replication_factor=1)
    produce(bench.cluster, "odd", {0: 9, 1: 9, 2: 9})
    offsets = {
        KafkaPartition("odd", number): OffsetAndMetadata(offset, "", -1)
        for number, offset in enumerate((4, -2, -1001))
    }
    admin.alter_group_offsets("oddly", offsets)
    admin.close()
    note = "group 'oddly' committed offset -2 on odd-1"
    state = str(bench.folder / "state")
    main(["show", *bench.options(), "--gap", "0", "--state", state, "--output", "json"])
    printed = bench.capsys.readouterr()
    (row,) = [each for each in json.loads(printed.out) if each["consumer_group"] == "oddly"]
    assert (row["lag"], row["partitions_unknown"], row["partitions_uncommitted"]) == (5, 0, 2)
    assert printed.err.count(note) == 1
    found = {each["check"]: each for each in bench.doctor(bench.options())}
    assert found["commits"]["what"].startswith(note)
    assert found["reading"]["severity"] == "ok"
    delete_group(bench.cluster, "oddly")
    delete(bench.cluster, "odd")


def test_each_right_that_is_missing_is_given_by_the_printed_line(bench: Bench) -> None:
    options = bench.options("newcomer")
    findings = bench.doctor(options)
    missing = {each["check"]: each for each in findings if each["severity"] == "fault"}
    assert set(missing) == {
        "Describe on the cluster",
        "Describe on topics",
        "DescribeConfigs on topics",
        "Describe on groups",
    }
    unknown = {each["check"] for each in findings if each["severity"] == "unknown"}
    assert {"ACLs", "hidden topics", "hidden groups"} <= unknown
    bench.run(*(each["repair"] for each in missing.values()))
    findings = bench.doctor_until(options, lambda found: not bad(found))
    severity = {each["check"]: each["severity"] for each in findings}
    assert severity["hidden groups"] == "ok"


@contextmanager
def member_of(cluster: KafkaCluster, group: str, topic: str) -> Iterator[None]:
    """While this lasts a consumer of the group owns the topic's partitions."""
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap("PLAINTEXT"),
            "group.id": group,
            "log_level": 0,
        }
    )
    try:
        consumer.subscribe([topic])
        deadline = time.monotonic() + ANSWERED_WITHIN
        while not consumer.assignment():
            consumer.poll(0.1)
            assert time.monotonic() < deadline
        yield
    finally:
        consumer.close()


def test_each_acl_that_denies_is_taken_back_by_the_printed_line(bench: Bench) -> None:
    whom, deny = "User:monitor", AclPermissionType.DENY
    group, topic = ResourceType.GROUP, ResourceType.TOPIC
    prefixed, literal = ResourcePatternType.PREFIXED, ResourcePatternType.LITERAL
    everything = AclOperation.ALL
    bench.cluster.add_acl(
        AclBinding(topic, "secr", prefixed, whom, "*", DESCRIBE, deny),
        AclBinding(topic, "orders", literal, "User:*", "*", CONFIGS, deny),
        AclBinding(group, "it's $(", prefixed, whom, "127.0.0.1", everything, deny),
    )
    with member_of(bench.cluster, "reader", "secret"):
        findings = bench.doctor_until(
            bench.options(),
            lambda found: sum(each["severity"] == "fault" for each in found) == 3,
        )
    faults = [each for each in findings if each["severity"] == "fault"]
    names = ("secret", "orders", "it's $(hidden)")
    assert [name in each["what"] for name, each in zip(names, faults, strict=True)] == [True] * 3
    assert [each["check"] for each in findings if "hidden: secret" in each["what"]] != []
    bench.run(*(each["repair"] for each in faults))
    bench.doctor_until(bench.options(), lambda found: not bad(found))


def test_a_quota_on_the_login_is_named_and_the_printed_line_wins_over_it(bench: Bench) -> None:
    plain = bench.cluster.bootstrap("PLAINTEXT")
    alter = f"kafka-configs.sh --bootstrap-server {plain} --alter"
    of_user = f"{alter} --entity-type users --entity-name monitor"
    bench.run(f"{of_user} --add-config request_percentage=0.01")
    findings = bench.doctor_until(bench.options(), lambda found: bool(bad(found, "client quota")))
    assert [each["check"] for each in bad(findings)] == ["client quota"]
    found = one(findings, "client quota")
    assert "(request_percentage)" in found["what"]
    assert "client quota request_percentage" in show(bench, bench.options())
    bench.run(found["repair"])
    bench.doctor_until(bench.options(), lambda found: not bad(found))
    delete = "--delete-config request_percentage"
    of_client = "--entity-type clients --entity-name msk-lag-reporter"
    bench.run(f"{of_user} {of_client} {delete}", f"{of_user} {delete}")


def test_a_right_that_only_some_topics_lack_is_given_for_these_alone(bench: Bench) -> None:
    """Without an ACL on all topics, one on all of them would shut everybody else out."""
    everything = acl("monitor", ResourceType.TOPIC, "*", DESCRIBE)
    settings = acl("monitor", ResourceType.TOPIC, "*", CONFIGS)
    others = acl("somebody", ResourceType.TOPIC, "orders", AclOperation.READ)
    newcomers = [acl("newcomer", ResourceType.TOPIC, "*", each) for each in (DESCRIBE, CONFIGS)]
    bench.cluster.remove_acl(everything, settings, *newcomers)
    bench.cluster.add_acl(others)
    findings = bench.doctor_until(
        bench.options(), lambda found: "fault" in {each["severity"] for each in found}
    )
    faults = [each for each in findings if each["severity"] == "fault"]
    assert ["orders" in each["what"] for each in faults] == [True, True]
    severities = {each["severity"] for each in findings if each["check"] == "ACLs"}
    assert "info" in severities
    bench.run(*(each["repair"] for each in faults))
    bench.doctor_until(bench.options(), lambda found: not bad(found))


def remove_all_acls(cluster: KafkaCluster) -> None:
    """Leaves a cluster on which everybody may do everything."""
    nothing: Any = None  # which the library takes, and its types do not
    every = ResourceType.ANY, nothing, ResourcePatternType.ANY, nothing, nothing
    everything = AclBindingFilter(*every, AclOperation.ANY, AclPermissionType.ANY)
    for future in cluster.admin().delete_acls([everything]).values():
        future.result(ANSWERED_WITHIN)


def test_a_line_for_what_prefixes_of_others_hide_shuts_nobody_out(bench: Bench) -> None:
    """A name that nobody has could begin like one of them, and be denied for that alone."""
    remove_all_acls(bench.cluster)
    topic, prefixed = ResourceType.TOPIC, ResourcePatternType.PREFIXED
    read = "User:somebody", "*", AclOperation.READ, AclPermissionType.ALLOW
    prefixes = "0123456789abcdefghijklmnopqrstuvwxyz"
    bench.cluster.add_acl(*(AclBinding(topic, each, prefixed, *read) for each in prefixes))
    findings = bench.doctor_until(
        bench.options("newcomer"),
        lambda found: any(each["what"] == "there are 36" for each in found),
    )
    faults = bad(findings)
    assert all(each["repair"].endswith(" --resource-pattern-type prefixed") for each in faults)
    bench.run(*(each["repair"] for each in faults))
    bench.doctor_until(bench.options("newcomer"), lambda found: not bad(found))


def test_on_a_cluster_without_acls_it_says_to_add_none(bench: Bench) -> None:
    remove_all_acls(bench.cluster)
    findings = bench.doctor_until(
        bench.options("newcomer"),
        lambda found: any(each["what"].startswith("there is none") for each in found),
    )
    assert bad(findings) == []
    (found,) = [each for each in findings if each["check"] == "ACLs"]
    assert (found["severity"], found["repair"]) == ("info", None)
    # And it is so: the line for one user shuts out all others.
    bench.cluster.add_acl(*monitor_acls())
    bench.doctor_until(bench.options("newcomer"), lambda found: len(bad(found)) >= 4)
