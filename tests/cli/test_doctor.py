# SPDX-License-Identifier: Apache-2.0
"""Findings of `kafka-lag doctor`: severity, sentence, and the line to copy."""

from __future__ import annotations

import io
import json
import re
import shlex
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from kafka_lag import contract
from kafka_lag.brokers.access import IAM, Access, Credentials
from kafka_lag.brokers.diagnosis.ports import ServerFindings, TlsFindings
from kafka_lag.lag.columns import Column, Strings
from kafka_lag.lag.group_settings import ByName, Rules
from kafka_lag.lag.model import LagReport, Problem, Snapshot, Throttled
from kafka_lag.sinks.budget import plan
from kafka_lag.sinks.config import Levels
from kafka_lag_cli.command import main
from kafka_lag_cli.connecting.login_options import brokers_of
from kafka_lag_cli.doctor.acls import Acl, AclListing
from kafka_lag_cli.doctor.cluster import (
    check_brokers,
    check_clocks,
    check_commits,
    check_kinds,
    check_metrics,
    check_quota,
    check_reading,
    check_retention,
    check_transactions,
    check_version,
)
from kafka_lag_cli.doctor.connection import check_connection, is_usable
from kafka_lag_cli.doctor.findings import Finding
from kafka_lag_cli.doctor.findings_text import print_findings
from kafka_lag_cli.doctor.inspection import Clocks, Inspection, Rights, TopicAhead
from kafka_lag_cli.doctor.rights import check_rights
from kafka_lag_cli.doctor.rights_repair import RightsRepair, rights_repair, shell_word
from kafka_lag_cli.show import show
from kafka_lag_config.cost.cost import load_prices
from tests.builders import a_reading, a_report
from tests.golden import Golden, write_once

SERVER = "b-1:9096"
SCRAM = Access((SERVER,), "SASL_SSL", "SCRAM-SHA-512")
SIGNED = Access(("b-1.orders.a1b2c3.c4.kafka.eu-west-1.amazonaws.com:9098",), "SASL_SSL", IAM)
TLS = TlsFindings("TLSv1.3", valid_until="Jan  1 00:00:00 2030 GMT")
GOOD = ServerFindings(SERVER, ("10.0.0.1",), tls=TLS, spoken="Kafka", mechanisms=("SCRAM-SHA-512",))
ALL = Rights(cluster=True, topics=True, settings=True, groups=True)
NONE = Rights(cluster=False, topics=False, settings=False, groups=False)
ACL = Acl("topic", "*", "User:monitor", "Describe")
OPTIONS: dict[str, Any] = {
    "username": "monitor",
    "properties": (),
    "password_env": "P",
    **dict.fromkeys(("password_file", "profile")),
}


def connection(
    *found: ServerFindings, access: Access = SCRAM, options: Any = OPTIONS
) -> list[Finding]:
    return check_connection(access, found, has_certificate=False, options=options)


def severities(findings: list[Finding]) -> dict[str, str]:
    return {each.check: each.severity for each in findings}


def the(findings: Iterable[Finding], severity: str) -> Finding:
    (found,) = [each for each in findings if each.severity == severity]
    return found


def an_inspection(
    rights: Rights = ALL, acls: tuple[Acl, ...] | None = (ACL,), **more: Any
) -> Inspection:
    listing = AclListing(acls, None if acls is None else True, "CLUSTER_AUTHORIZATION_FAILED")
    login = Credentials("monitor", "secret")
    found = Inspection(login, "id", (4, 0), (SERVER,), {}, rights, listing, ("orders",))
    return replace(found, **more)


def rights(
    inspection: Inspection, repair: RightsRepair | None = None, **wanted: bool
) -> list[Finding]:
    repair = repair or rights_repair(SCRAM, inspection.login, None)
    return check_rights(inspection, repair, **wanted)


def denying(acl: Acl, name: str = "billing") -> list[Finding]:
    """What is found where an ACL denies one group."""
    return rights(an_inspection(replace(ALL, denied_groups=(name,)), (ACL, acl)))


def written(*findings: Finding) -> str:
    """Each finding with what follows from it, and the line that repairs it."""
    lines = []
    for each in findings:
        lines.append(f"{each.severity} {each.check}: {each.what}")
        lines += [f"    {each.why}"] if each.why else []
        lines += [f"    $ {each.repair}"] if each.repair else []
    return "\n".join(lines)


def _of_the_way() -> Iterator[tuple[str, list[Finding]]]:
    wants = replace(
        GOOD, tls=replace(TLS, wants_certificate=True), spoken="closed", mechanisms=None
    )
    strange = replace(GOOD, tls=None, mechanisms=None)
    yield "two servers are well", connection(GOOD, replace(GOOD, server="b-2:9096"))
    yield "one of two is", connection(GOOD, ServerFindings("b-2:9096", ("1.2.3.4",), "timed out"))
    yield "nothing is known", connection(ServerFindings(SERVER))
    for name, found in {
        "no such name": ServerFindings(SERVER, ()),
        "no TCP": ServerFindings(SERVER, ("1.2.3.4",), "timed out"),
        "a controller": ServerFindings(SERVER, ("10.0.0.1",), spoken="controller"),
        "expired": replace(GOOD, tls=replace(TLS, fault="expired", verify_code=10)),
        "self-signed": replace(GOOD, tls=replace(TLS, fault="self-signed", verify_code=18)),
        "without TLS": replace(GOOD, tls=None),
        "not Kafka": replace(strange, spoken="SSH"),
        "silent": replace(strange, spoken="no response"),
        "another mechanism": replace(GOOD, mechanisms=("PLAIN", "SCRAM-SHA-256")),
        "no mechanism of ours": replace(GOOD, mechanisms=("GSSAPI", "\x1b[31mX")),
    }.items():
        yield name, connection(found)
    yield "by a document", connection(replace(GOOD, mechanisms=("PLAIN",)), options=None)
    plain = Access((SERVER,), "SSL", None)
    yield "SASL unasked", connection(GOOD, access=plain, options=OPTIONS | {"username": None})
    well = check_connection(plain, [wants], has_certificate=True, options=OPTIONS)
    yield "a certificate is wanted", well


def _of_rights() -> Iterator[tuple[str, list[Finding]]]:
    others = Acl("topic", "pay", "User:others", "Read", prefixed=True)
    yield "all rights", rights(an_inspection())
    yield "none", rights(an_inspection(NONE, None))
    yield "no answer", rights(an_inspection(Rights(), None))
    yield "all but the cluster", rights(an_inspection(replace(ALL, cluster=False), None))
    few = an_inspection(replace(ALL, topics=False, settings=False, groups=False))
    yield "some names are wanted", rights(few, all_topics=False, all_groups=False)
    yield "no ACL", rights(an_inspection(acls=()))
    open_to_all = replace(an_inspection(), acls=AclListing((), enforced=False))
    yield "no authorizer", rights(open_to_all)

    of_others = (Acl("topic", "orders", "User:app", "Read"),)
    yield "ACLs of others", rights(an_inspection(acls=of_others))
    for name, acl in {
        "denied by prefix": Acl(
            "group", "bill", "User:monitor", "Describe", allows=False, prefixed=True
        ),
        "denied to all": Acl("group", "billing", "User:*", "All", allows=False),
        "denied from a host": Acl(
            "group", "*", "User:monitor", "Describe", allows=False, host="10.0.0.9"
        ),
        "another is denied": Acl("group", "billing", "User:other", "Describe", allows=False),
    }.items():
        yield name, denying(acl)
    cut = Acl("group", " billing", "User:monitor", "Describe", allows=False)
    yield "a name that is cut", denying(cut, " billing")
    hidden = replace(ALL, hidden_prefixes=("pay", "pay-eu"), hidden_topics=("payments",))
    yield "hidden by prefix", rights(an_inspection(hidden, (ACL, others)))
    yield "a hidden topic", rights(an_inspection(replace(ALL, hidden_topics=("secret",))))
    names = ("$(reboot)", "a b", "tab\there")
    yield "strangers' groups", rights(an_inspection(replace(ALL, denied_groups=names)))
    yield "filters leave nothing", rights(an_inspection(topics=()))
    ownerless = replace(ALL, without_members=("billing",))
    yield "members of hidden topics", rights(an_inspection(ownerless))
    yield "a broker that lists none", rights(an_inspection(unlisted=("2",)))
    yield "a silent broker", rights(an_inspection(not_responding={SERVER: "hangs"}))
    signed = rights_repair(SIGNED, None, None)
    yield "IAM", rights(an_inspection(replace(ALL, groups=False), None), repair=signed)


def _share_group_of_old_brokers() -> LagReport:
    report = a_report(a_reading({"queue": {}}, {}))
    groups = report.snapshot.groups.with_columns(
        group_type=Strings.of(["share"]), read_at=Column.unknown(1)
    )
    return replace(report, snapshot=replace(report.snapshot, groups=groups))


def a_report_of(lag: int = 1, **problems: Any) -> LagReport:
    return a_report(a_reading({"g": {"orders": [10 - lag]}}, {"orders": [(0, 10)]}, **problems))


def _transactions(rules: Rules, **topics: int) -> Iterable[Finding]:
    """With one group so far behind on each topic, and another that is caught up on all."""
    reading = a_reading(
        {
            "behind": {topic: [10 - lag] for topic, lag in topics.items()},
            "caught-up": {topic: [10] for topic in topics},
        },
        {topic: [(0, 10)] for topic in topics},
    )
    return check_transactions(True, a_report(reading), rules)


def kept_for(retention_ms: int | None, policy: str | None) -> Iterable[Finding]:
    """Of a topic that keeps records for so long, with a run a minute."""
    report = a_report_of()
    rows = report.snapshot.topic_partitions.with_columns(
        retention_ms=Column.optional([retention_ms]), cleanup_policy=Strings.of([policy])
    )
    snapshot = replace(report.snapshot, topic_partitions=rows)
    return check_retention(replace(report, snapshot=snapshot), 60_000)


def _of_the_cluster() -> Iterator[tuple[str, Iterable[Finding]]]:
    gone = {"b-2:9096": "timed out\n"}
    refused = ServerFindings("b-2:9096", ("1.2.3.4",), "Connection refused")
    silent = an_inspection(not_responding=gone)
    yield "a port is closed", check_brokers(SCRAM, silent, [refused])
    yield "a broker is silent", check_brokers(SCRAM, silent, [])
    slow = an_inspection(throttled=Throttled(3.0, "monitor"), given_up=(SERVER,))
    lost = Problem("partition", "orders-0", contract.THROTTLED, "offsets: ...")
    report = a_report_of(problems=[lost])
    yield (
        "a quota costs rows",
        [
            check_quota(slow, report, rights_repair(SCRAM, slow.login, None)),
            check_quota(slow, report, rights_repair(SIGNED, None, None)),
            *check_brokers(SCRAM, slow, ()),
        ],
    )
    for version in ((4, 3), (3, 0), (2, 8), None):
        yield f"version {version}", [check_version(version)]
    for by_brokers in (True, False, None):
        ahead = TopicAhead("orders", 60_000, by_brokers)
        yield f"ahead by brokers: {by_brokers}", check_clocks(Clocks(3, 0, 3, (ahead,)))
    for name, clocks in {
        "less than clocks differ by": Clocks(
            1, 2, 3, (TopicAhead("orders", 900, False),), requested=3
        ),
        "no answer": Clocks(0, 0, 3, requested=3),
        "no records": Clocks(0, 3, 3, requested=3),
        "some answers": Clocks(1, 1, 3, requested=3),
        "more than are looked at": Clocks(1, 1, 3, requested=2),
        "of commits": Clocks(1, 5, 6, of_commits=6, requested=6),
        "no topics": Clocks(),
    }.items():
        yield name, check_clocks(clocks)
    yield "no topics, unknown", check_clocks(Clocks(), may_describe=None)
    yield "no topics, denied", check_clocks(Clocks(), may_describe=False)
    kinds = {"classic": ("a", "b"), "share": ("queue",), None: ("old",)}
    yield "kinds", check_kinds(kinds, _share_group_of_old_brokers())
    yield "no kinds", [*check_kinds({}), *check_kinds({}, is_complete=False)]
    for known in (None, False, True):
        yield f"transactions: {known}", check_transactions(known, None, Rules())
    yield "one behind", _transactions(Rules(), **{"a-b.c": 1, "d": 1, "far": 7, "none": 0})
    also_far = {"one-behind": {"orders": [9]}, "behind": {"orders": [2]}}
    far = a_report(a_reading(also_far, {"orders": [(0, 10)]}))
    yield "one behind beside one that really lags", check_transactions(True, far, Rules())
    yield "one behind is allowed", _transactions(Rules(allowed_lag=ByName.of([("^d$", 1)])), d=1)
    yield "a topic of short life", kept_for(59_999, "delete")
    yield "an odd commit", check_commits(replace(a_report_of(), notes=("\x1b[2J is odd",)))
    no_topics = Rights(True, False, False, True)
    denied = Problem("group", "it's", contract.DENIED, "commits: GROUP_AUTHORIZATION_FAILED")
    empty = a_report(a_reading({"g": {}}, {"orders": [(0, 9)]}))
    for name, report, may in (
        ("all is read", a_report_of(), ALL),
        ("some is read", a_report_of(), no_topics),
        ("nothing is read", empty, ALL),
        ("nothing is read, rights are missing", empty, no_topics),
        ("nothing is read, rights unknown", empty, Rights()),
        ("a group is denied", a_report_of(problems=[denied]), ALL),
    ):
        yield name, [check_reading(report, an_inspection(may))]
    for levels, region in ((Levels(), "eu-nowhere-1"), (Levels(max_metrics=14), None)):
        chosen = plan(a_report_of(), Snapshot.empty(), levels)
        found = check_metrics(chosen, levels, region, load_prices())
        yield f"metrics in {region}", found


@pytest.mark.parametrize(
    ("name", "cases"),
    [
        ("doctor-way.txt", _of_the_way),
        ("doctor-rights.txt", _of_rights),
        ("doctor-cluster.txt", _of_the_cluster),
    ],
)
def test_what_is_found_is_printed_with_what_follows_and_what_repairs_it(
    name: str, cases: Callable[[], Iterator[tuple[str, Iterable[Finding]]]], golden: Golden
) -> None:
    texts = ((title, written(*findings).splitlines()) for title, findings in cases())
    golden.holds(name, write_once(texts))


def test_brokers_are_usable_once_no_step_to_them_fails() -> None:
    found = dict(_of_the_way())
    for name in ("no such name", "no TCP", "expired", "not Kafka"):
        assert not is_usable(found[name])
    assert all(is_usable(found[name]) for name in ("one of two is", "a certificate is wanted"))


def test_the_printed_options_are_taken_by_the_command_and_log_in_as_the_broker_wants() -> None:
    found = connection(replace(GOOD, mechanisms=("PLAIN", "SCRAM-SHA-256")))
    repair = shlex.split(str(the(found, "fault").repair))
    with show.make_context("show", repair) as ctx:
        access = brokers_of(ctx.params, {"P": "word"}).access
    assert access == Access((SERVER,), "SASL_SSL", "SCRAM-SHA-256")


def test_no_name_of_a_stranger_colours_the_terminal() -> None:
    for cases in (_of_the_way(), _of_rights(), _of_the_cluster()):
        for _, findings in cases:
            assert all(line.isprintable() for line in written(*findings).splitlines())


@pytest.mark.parametrize(
    "acl",
    [
        Acl("group", "billing", "User:other", "Describe", allows=False),
        Acl("group", "billing", "User:monitor", "Read", allows=False),
        Acl("topic", "billing", "User:monitor", "Describe", allows=False),
        Acl("group", "shipping", "User:monitor", "Describe", allows=False),
        Acl("group", "billing", "User:monitor", "Describe"),
    ],
    ids=["another user", "another operation", "a topic", "another group", "it allows"],
)
def test_an_acl_that_is_not_to_blame_stays(acl: Acl) -> None:
    line = str(the(denying(acl), "fault").repair)
    assert "--add --allow-principal User:monitor --operation Describe --group billing" in line


@pytest.mark.parametrize("name", [" billing", "billing ", ""])
def test_no_line_is_printed_for_a_name_that_kafkas_tool_would_cut(name: str) -> None:
    acl = Acl("group", name, "User:monitor", "Describe", allows=False)
    for found in (
        denying(acl, name),
        rights(an_inspection(replace(ALL, denied_groups=(name,)))),
    ):
        assert the(found, "fault").repair is None


@pytest.mark.parametrize(
    "name",
    ["plain", "it's", '$(id) `id` "x"', "tab\tline\nend", "\x1b[31m\\'", "\u202eolé", "*", ""],
)
def test_a_shell_reads_a_name_as_it_is(name: str) -> None:
    done = subprocess.run(
        ["/bin/bash", "-c", f"printf %s {shell_word(name)}"], capture_output=True, check=True
    )
    assert done.stdout.decode() == name
    assert shell_word(name).isprintable()


def test_a_certificates_subject_is_worked_out_by_the_line_itself() -> None:
    class Certificate:
        def client_options(self) -> dict[str, Any]:
            return {}

    repair = rights_repair(Access((SERVER,), "SSL", None), Certificate(), "my own.pem")
    line = repair.allow(["Describe"], "cluster", [])
    assert (
        '--allow-principal "User:$(openssl x509 -noout -subject -nameopt RFC2253 '
        "-in 'my own.pem' | sed 's/^subject=//')\"" in line
    )


@pytest.mark.parametrize(
    ("retention_ms", "policy", "is_named"),
    [
        (59_999, "delete", True),
        (60_000, "delete", False),
        (0, "compact,delete", True),
        (4_000, "compact", False),
        (-1, "delete", False),
        (None, None, False),
    ],
)
def test_a_topic_kept_for_less_than_an_interval_gives_no_warning_in_time(
    retention_ms: int | None, policy: str | None, is_named: bool
) -> None:
    assert bool([*kept_for(retention_ms, policy)]) is is_named


@pytest.mark.parametrize(("options", "priced"), [([], False), (["--iam"], True)])
def test_metrics_are_priced_for_those_who_have_aws(
    options: list[str],
    priced: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    main(
        [
            "doctor",
            "-b",
            "127.0.0.1:1",
            "-X",
            "request.timeout.ms=1000",
            "--output",
            "json",
            *options,
        ]
    )
    found = json.loads(capsys.readouterr().out)
    assert {*found[0]} == {"check", "severity", "what", "why", "repair"}
    checks = {each["check"] for each in found}
    assert ("metrics" in checks) is priced
    assert "login" in checks


def printed(*findings: Finding, width: int = 40) -> list[str]:
    file = io.StringIO()
    print_findings(findings, Console(file=file, width=width, force_terminal=True, no_color=True))
    return [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in file.getvalue().splitlines()]


def test_a_line_that_repairs_is_alone_and_whole_however_narrow_the_terminal() -> None:
    line = "kafka-acls.sh --topic '[red]*' " + "x" * 100
    lines = printed(Finding("ACLs", "fault", "w" * 60, "Because [bold]of it.", line))
    assert lines == [
        f"fault    ACLs  {'w' * 60}",
        "",
        f"FAULT ACLs: {'w' * 60}",
        "Because [bold]of it.",
        f"    {line}",
    ]


def test_what_needs_somebody_first_is_explained_first() -> None:
    lines = printed(
        Finding("a", "ok", "fine"),
        Finding("b", "info", "so", "As it is."),
        Finding("login", "unknown", "not looked at"),
        Finding("ACLs", "unknown", "not looked at"),
        Finding("c", "fault", "bad", "Do it."),
        Finding("d", "warning", "odd", "Look."),
    )
    assert [line.split()[0] for line in lines if line.startswith(tuple("FWIUO"))] == [
        "FAULT",
        "WARNING",
        "INFO",
    ]
    # Checks that were not made for one reason are one line.
    assert "unknown  not looked at: login, ACLs" in lines


NOWHERE = "no-such-host.invalid:9096"
DEPLOYMENT: dict[str, Any] = {
    "defaults": {"region": "eu-west-1"},
    "clusters": [
        {
            "name": "orders",
            "bootstrap_servers": [NOWHERE],
            "vpc": {
                "id": "vpc-0123456789abcdef0",
                "subnets": ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
                "brokers_security_group": "sg-0123456789abcdef0",
            },
            "auth": {"type": "none"},
        }
    ],
}


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, str]]:
    """The exit code, and the severity of each check."""
    code = main(["doctor", *arguments, "--output", "json"])
    found = json.loads(capsys.readouterr().out)
    return code, {each["check"]: each["severity"] for each in found}


@pytest.mark.usefixtures("no_aws")
def test_brokers_of_a_deployment_that_cannot_be_reached_from_here_are_no_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "deployment.json").write_text(json.dumps(DEPLOYMENT))
    code, found = run(capsys, "--config", str(tmp_path / "deployment.json"))
    assert code == 4
    assert found["AWS credentials"] != "ok"
    assert found["name resolution"] == found["login"] == found["metrics"] == "unknown"


def test_brokers_of_a_collectors_own_document_are_to_be_reached(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = {"cluster": "c", "bootstrap_servers": [NOWHERE], "security_protocol": "PLAINTEXT"}
    (tmp_path / "c.json").write_text(json.dumps(document))
    code, found = run(capsys, "--config", str(tmp_path / "c.json"))
    assert (code, found["name resolution"]) == (1, "fault")
    assert "AWS credentials" not in found


@pytest.mark.usefixtures("no_aws")
def test_brokers_that_nobody_names_are_unknown_and_so_is_all_behind_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arn = (
        "arn:aws:kafka:eu-west-1:111122223333:cluster/orders/3f2a1b0c-5d4e-4f6a-8b7c-9d0e1f2a3b4c-7"
    )
    cluster = {**DEPLOYMENT["clusters"][0], "arn": arn}
    del cluster["bootstrap_servers"]
    (tmp_path / "d.json").write_text(json.dumps({**DEPLOYMENT, "clusters": [cluster]}))
    _, found = run(capsys, "--config", str(tmp_path / "d.json"))
    assert found["name resolution"] == found["TCP"] == found["metrics"] == "unknown"
