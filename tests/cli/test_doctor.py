# SPDX-License-Identifier: Apache-2.0
"""What `kafka-lag doctor` makes of what it found: severity, sentence, and the line to copy."""

from __future__ import annotations

import io
import json
import re
import subprocess
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
from kafka_lag.lag.model import Problem, Snapshot, Throttled
from kafka_lag.sinks.budget import plan
from kafka_lag.sinks.config import Levels
from kafka_lag_cdk.cost.prices import load_prices
from kafka_lag_cli.command import main
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
from kafka_lag_cli.doctor.findings_text import findings_json, print_findings
from kafka_lag_cli.doctor.inspection import Clocks, Inspection, Rights, TopicAhead
from kafka_lag_cli.doctor.rights import WantedNames, check_rights
from kafka_lag_cli.doctor.rights_repair import RightsRepair, rights_repair, shell_word
from tests.builders import a_reading, a_report

SERVER = "b-1:9096"
SCRAM = Access((SERVER,), "SASL_SSL", "SCRAM-SHA-512")
TLS = TlsFindings("TLSv1.3", valid_until="Jan  1 00:00:00 2030 GMT")
GOOD = ServerFindings(SERVER, ("10.0.0.1",), tls=TLS, spoken="Kafka", mechanisms=("SCRAM-SHA-512",))
ALL = Rights(cluster=True, topics=True, settings=True, groups=True)
ACL = Acl("topic", "*", "User:monitor", "Describe")
EVERYTHING = WantedNames()
ACLS = f"kafka-acls.sh --bootstrap-server {SERVER} --command-config admin.properties"
OPTIONS: dict[str, Any] = {
    "username": "monitor",
    "password_env": "P",
    **dict.fromkeys(
        ("password_file", "cafile", "certfile", "keyfile", "profile", "role", "region")
    ),
}


def connection(
    *found: ServerFindings, access: Access = SCRAM, options: Any = OPTIONS
) -> list[Finding]:
    return check_connection(access, found, has_certificate=False, options=options)


def severities(findings: list[Finding]) -> dict[str, str]:
    return {each.check: each.severity for each in findings}


def the(findings: list[Finding], severity: str) -> Finding:
    (found,) = [each for each in findings if each.severity == severity]
    return found


def an_inspection(rights: Rights = ALL, acls: tuple[Acl, ...] | None = (ACL,)) -> Inspection:
    listing = AclListing(acls, None if acls is None else True, "CLUSTER_AUTHORIZATION_FAILED")
    login = Credentials("monitor", "secret")
    return Inspection(login, "id", (4, 0), (SERVER,), {}, rights, listing, ("orders",))


def rights(
    inspection: Inspection,
    wanted: WantedNames = EVERYTHING,
    repair: RightsRepair | None = None,
) -> list[Finding]:
    return check_rights(inspection, repair or rights_repair(SCRAM, inspection.login, None), wanted)


def test_what_is_well_is_a_line_for_each_step_of_the_way() -> None:
    found = connection(GOOD, replace(GOOD, server="b-2:9096"))
    assert [(each.severity, each.what) for each in found] == [
        ("ok", "b-1:9096, b-2:9096: 10.0.0.1"),
        ("ok", "b-1:9096, b-2:9096 connects"),
        (
            "ok",
            "b-1:9096, b-2:9096: TLSv1.3, certificate valid until Jan  1 00:00:00 2030 GMT",
        ),
        ("ok", "b-1:9096, b-2:9096 speaks Kafka"),
        ("ok", "b-1:9096, b-2:9096: SCRAM-SHA-512"),
    ]
    assert is_usable(found)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (ServerFindings(SERVER, ()), "name resolution"),
        (ServerFindings(SERVER, ("10.0.0.1",), spoken="controller"), "protocol"),
        (ServerFindings(SERVER, ("1.2.3.4",), "timed out"), "TCP"),
        (replace(GOOD, tls=replace(TLS, fault="expired", verify_code=10)), "TLS"),
        (replace(GOOD, tls=None, mechanisms=()), "TLS"),
        (replace(GOOD, tls=None, spoken="SSH", mechanisms=None), "protocol"),
        (replace(GOOD, tls=None, spoken="no response", mechanisms=None), "protocol"),
        (replace(GOOD, mechanisms=("GSSAPI",)), "mechanisms"),
    ],
)
def test_a_fault_is_one_of_its_step_and_those_behind_it_are_not_known(
    found: ServerFindings, expected: str
) -> None:
    stages = ["name resolution", "TCP", "TLS", "protocol", "mechanisms"]
    findings = connection(found)
    severity = severities(findings)
    assert severity[expected] == "fault"
    assert not is_usable(findings)
    behind = stages[stages.index(expected) + 1 :]
    assert all(severity[stage] == "unknown" for stage in behind)


def test_a_server_of_which_nothing_is_known_is_no_good_one() -> None:
    assert set(severities(connection(ServerFindings(SERVER))).values()) == {"unknown"}


def test_the_printed_options_are_all_that_there_are() -> None:
    found = connection(replace(GOOD, mechanisms=("PLAIN", "SCRAM-SHA-256")))
    assert the(found, "fault").repair == (
        "--bootstrap-servers b-1:9096 --security-protocol SASL_SSL --sasl-mechanism SCRAM-SHA-256 "
        "--username monitor --password-env P"
    )


def test_a_document_is_changed_and_not_the_options() -> None:
    fault = the(connection(replace(GOOD, mechanisms=("PLAIN",)), options=None), "fault")
    assert (fault.repair, fault.why) == (None, "Set sasl_mechanism to it.")


def test_a_name_for_sasl_that_was_not_given_is_in_capitals() -> None:
    plain = Access((SERVER,), "SSL", None)
    fault = the(connection(GOOD, access=plain, options=OPTIONS | {"username": None}), "fault")
    assert fault.repair is not None
    assert "--username USERNAME" in fault.repair


@pytest.mark.parametrize(
    "found",
    [
        replace(GOOD, tls=None),
        replace(GOOD, tls=replace(TLS, fault="self-signed certificate", verify_code=18)),
    ],
    ids=["a password in plain text", "a certificate that nobody vouches for"],
)
def test_what_would_give_a_password_away_is_not_proposed(found: ServerFindings) -> None:
    assert the(connection(found), "fault").repair is None


def test_a_mechanism_with_control_characters_cannot_colour_the_terminal() -> None:
    found = connection(replace(GOOD, mechanisms=("SCRAM-SHA-512", "\x1b[31mX")))
    assert "\x1b" not in "".join(each.what for each in found)


def test_each_right_that_is_missing_has_its_line() -> None:
    none = Rights(cluster=False, topics=False, settings=False, groups=False)
    found = rights(an_inspection(none, None))
    lines = [each.repair for each in found if each.severity == "fault"]
    assert lines == [
        f"{ACLS} --add --allow-principal User:monitor --operation Describe --cluster",
        f"{ACLS} --add --allow-principal User:monitor --operation Describe --topic '*'",
        f"{ACLS} --add --allow-principal User:monitor --operation DescribeConfigs --topic '*'",
        f"{ACLS} --add --allow-principal User:monitor --operation Describe --group '*'",
    ]
    assert {each.check for each in found if each.severity == "unknown"} == {
        "ACLs",
        "hidden topics",
        "hidden groups",
    }


def test_without_the_cluster_but_with_all_groups_nothing_is_hidden_now() -> None:
    found = rights(an_inspection(replace(ALL, cluster=False), None))
    assert severities(found)["Describe on the cluster"] == "warning"
    assert severities(found)["hidden groups"] == "ok"


def test_a_right_on_all_names_is_no_fault_for_who_wants_some() -> None:
    lacking = an_inspection(replace(ALL, topics=False, settings=False, groups=False))
    found = severities(rights(lacking, WantedNames(all_topics=False, all_groups=False)))
    assert found["Describe on topics"] == found["Describe on groups"] == "warning"
    assert found["DescribeConfigs on topics"] == "warning"


def test_what_no_broker_answered_is_unknown() -> None:
    found = severities(rights(an_inspection(Rights(), None)))
    assert set(found.values()) == {"unknown"}


def test_where_there_is_no_acl_it_says_to_add_none_and_prints_no_line() -> None:
    found = the(rights(an_inspection(acls=())), "info")
    assert found.why.startswith("Add none: the first ACL on a topic or group locks everybody else")
    assert found.repair is None


def test_brokers_without_an_authorizer_need_no_acl() -> None:
    inspection = replace(an_inspection(), acls=AclListing((), enforced=False))
    assert the(rights(inspection), "info").what.startswith("the brokers have no authorizer")


@pytest.mark.parametrize(
    ("acl", "removed"),
    [
        (
            Acl("group", "bill", "User:monitor", "Describe", allows=False, prefixed=True),
            "'User:monitor' --operation Describe --group bill --resource-pattern-type prefixed",
        ),
        (
            Acl("group", "billing", "User:*", "All", allows=False),
            "'User:*' --operation All --group billing",
        ),
        (
            Acl("group", "*", "User:monitor", "Describe", allows=False, host="10.0.0.9"),
            "'User:monitor' --deny-host 10.0.0.9 --operation Describe --group '*'",
        ),
    ],
    ids=["by prefix", "everything, to everybody", "from one host"],
)
def test_an_acl_that_denies_is_removed_exactly_as_it_is(acl: Acl, removed: str) -> None:
    inspection = an_inspection(replace(ALL, denied_groups=("billing",)), (acl, ACL))
    line = the(rights(inspection), "fault").repair
    assert line == f"{ACLS} --remove --force --deny-principal {removed}".replace(
        "'User:monitor'", "User:monitor"
    )


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
    inspection = an_inspection(replace(ALL, denied_groups=("billing",)), (acl, ACL))
    line = the(rights(inspection), "fault").repair
    assert line is not None
    assert line.endswith(
        "--add --allow-principal User:monitor --operation Describe --group billing"
    )


def test_one_line_gives_the_right_on_many_groups_and_strangers_names_stay_one_word() -> None:
    names = ("$(reboot)", "a b", "tab\there")
    fault = the(rights(an_inspection(replace(ALL, denied_groups=names))), "fault")
    assert "tab\t" not in fault.what
    assert fault.repair is not None
    assert fault.repair.endswith("--group '$(reboot)' --group 'a b' --group $'tab\\x09here'")


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


def test_iam_gets_a_statement_for_its_policy_and_no_acl() -> None:
    server = "b-1.orders.a1b2c3.c4.kafka.eu-west-1.amazonaws.com:9098"
    access = Access((server,), "SASL_SSL", IAM)
    inspection = an_inspection(replace(ALL, groups=False), None)
    found = rights(inspection, repair=rights_repair(access, None, None))
    line = the(found, "fault").repair
    assert json.loads(line or "") == {
        "Effect": "Allow",
        "Action": ["kafka-cluster:DescribeGroup"],
        "Resource": ["arn:aws:kafka:eu-west-1:*:group/orders/*/*"],
    }
    assert severities(found)["ACLs"] == "info"


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


def test_a_topic_that_is_hidden_is_counted_and_named() -> None:
    found = rights(an_inspection(replace(ALL, hidden_topics=("secret",))))
    assert the(found, "fault").what == "Describe on the topic secret is missing"
    assert the(found, "warning").what == "1 topic hidden: secret"


@pytest.mark.parametrize(
    ("topics", "said"),
    [
        ((), "none known; the filters, which hide Kafka's own, leave no topic to be read"),
        (("orders",), "none known; 1 topic to be read"),
    ],
)
def test_topics_to_be_read_are_those_that_filters_leave(topics: tuple[str, ...], said: str) -> None:
    found = rights(replace(an_inspection(), topics=topics))
    assert said in [each.what for each in found]


def test_members_that_own_hidden_topics_are_said_to() -> None:
    found = rights(an_inspection(replace(ALL, without_members=("billing",))))
    assert the(found, "warning").what == "members of these groups own hidden topics: billing"


def test_on_names_that_no_acl_is_about_none_is_to_be_added() -> None:
    other = Acl("topic", "orders", "User:app", "Read")
    found = [each for each in rights(an_inspection(acls=(other,))) if each.severity == "info"]
    assert [each.what for each in found] == [
        "none is on all topics, and this login may describe them",
        "none is on all groups, and this login may describe them",
    ]


@pytest.mark.parametrize(
    ("by_brokers", "whose"),
    [(True, "Brokers set"), (False, "Producers set"), (None, "Whether brokers or producers")],
)
def test_a_clock_that_is_wrong_is_the_one_that_set_the_time(
    by_brokers: bool | None, whose: str
) -> None:
    (found,) = check_clocks(Clocks(3, 0, 3, (TopicAhead("orders", 60_000, by_brokers),)))
    assert (found.severity, found.repair) == ("warning", None)
    assert found.what.endswith("up to 1 min ahead of this machine's clock: orders")
    assert found.why.startswith(whose)


@pytest.mark.parametrize(
    ("clocks", "severity"),
    [
        (Clocks(1, 2, 3, (TopicAhead("orders", 900, False),), requested=3), "ok"),
        (Clocks(0, 0, 3, requested=3), "unknown"),
        (Clocks(0, 3, 3, requested=3), "ok"),
        (Clocks(1, 1, 3, requested=3), "unknown"),
        (Clocks(1, 1, 3, requested=2), "info"),
        (Clocks(), "info"),
    ],
    ids=[
        *("less than clocks differ by", "no answer", "no records", "some answers"),
        *("more than are looked at", "no topics"),
    ],
)
def test_clocks_are_right_only_where_something_was_read(clocks: Clocks, severity: str) -> None:
    (found,) = check_clocks(clocks)
    assert found.severity == severity


@pytest.mark.parametrize(
    ("version", "severity"),
    [((4, 3), "ok"), ((3, 0), "ok"), ((2, 8), "warning"), (None, "unknown")],
)
def test_brokers_older_than_what_was_tried_are_said_to_be(
    version: tuple[int, ...] | None, severity: str
) -> None:
    assert check_version(version).severity == severity


def test_groups_are_counted_by_kind_and_those_without_lag_named() -> None:
    found = list(check_kinds({"classic": ("a", "b"), "share": ("queue",), None: ("old",)}))
    assert found[0].what == "1 of a kind not said, 2 classic, 1 share"
    assert found[1].what == "no lag is computed of 1 share group: queue"


def test_a_quota_that_costs_rows_is_a_fault_of_the_quota_and_of_no_broker() -> None:
    inspection = replace(an_inspection(), throttled=Throttled(3.0, "monitor"), given_up=(SERVER,))
    lost = Problem("partition", "orders-0", contract.THROTTLED, "offsets: ...")
    reading = a_reading({"g": {"orders": [1]}}, {"orders": [(0, 1)]})
    report = a_report(replace(reading, problems=(lost,)))
    found = check_quota(inspection, report, rights_repair(SCRAM, inspection.login, None))
    assert (found.severity, found.what) == (
        "fault",
        "brokers hold back requests of this login for up to 3 s (request_percentage); "
        "1 thing not read in time",
    )
    (broker,) = check_brokers(SCRAM, inspection, ())
    assert broker.severity == "unknown"
    assert "because of client quota" in broker.what
    iam = replace(SCRAM, sasl_mechanism=IAM)
    assert check_quota(inspection, report, rights_repair(iam, None, None)).repair is None


def test_a_broker_that_does_not_answer_is_named_with_what_its_port_says() -> None:
    inspection = replace(an_inspection(), not_responding={"b-2:9096": "timed out\n"})
    refused = ServerFindings("b-2:9096", ("1.2.3.4",), "Connection refused")
    (found,) = check_brokers(SCRAM, inspection, [refused])
    assert found.what.startswith("b-2:9096 does not answer: nothing listens on this port")
    (found,) = check_brokers(SCRAM, inspection, [])
    assert found.what == "b-2:9096 does not answer: timed out\\n"


@pytest.mark.parametrize(
    ("has_transactions", "severity"), [(None, "unknown"), (False, "ok"), (True, "unknown")]
)
def test_without_a_reading_transactions_are_known_only_where_there_are_none(
    has_transactions: bool | None, severity: str
) -> None:
    (found,) = check_transactions(has_transactions, None, Rules())
    assert found.severity == severity


def _transactions(rules: Rules, **topics: int) -> list[Finding]:
    """With one group so far behind on each topic, and another that is caught up on all."""
    reading = a_reading(
        {
            "behind": {topic: [10 - lag] for topic, lag in topics.items()},
            "caught-up": {topic: [10] for topic in topics},
        },
        {topic: [(0, 10)] for topic in topics},
    )
    return list(check_transactions(True, a_report(reading), rules))


def test_topics_on_which_somebody_rests_one_record_behind_may_be_transactional() -> None:
    (found,) = _transactions(Rules(), **{"a-b.c": 1, "d": 1, "far": 7, "none": 0})
    assert found.severity == "info"
    # One reading proves no transaction, so no setting is proposed.
    assert found.repair is None
    assert "behind on a-b.c, d" in found.what
    assert "allowed" not in found.why


def test_a_topic_that_somebody_else_really_lags_on_is_no_sign_of_markers() -> None:
    reading = a_reading(
        {"one-behind": {"orders": [9]}, "behind": {"orders": [2]}}, {"orders": [(0, 10)]}
    )
    (found,) = check_transactions(True, a_report(reading), Rules())
    assert found.severity == "ok"


def test_topics_whose_markers_are_allowed_are_not_named_again() -> None:
    (found,) = _transactions(Rules(allowed_lag=ByName.of([("^d$", 1)])), d=1)
    assert found.severity == "ok"


@pytest.mark.parametrize(
    ("retention_ms", "policy", "named"),
    [
        (59_999, "delete", True),
        (60_000, "delete", False),
        (0, "compact,delete", True),
        (4_000, "compact", False),
        (-1, "delete", False),
        (None, None, False),
    ],
)
def test_a_topic_kept_for_less_than_an_interval_is_said_to_give_no_warning(
    retention_ms: int | None, policy: str | None, named: bool
) -> None:
    report = a_report(a_reading({"g": {"orders": [9]}}, {"orders": [(0, 10)]}))
    rows = report.snapshot.topic_partitions.with_columns(
        retention_ms=Column.optional([retention_ms]), cleanup_policy=Strings.of([policy])
    )
    report = replace(report, snapshot=replace(report.snapshot, topic_partitions=rows))
    found = list(check_retention(report, 60_000))
    assert [(each.severity, "orders" in each.what) for each in found] == [("info", True)] * named


def test_a_note_on_a_groups_commits_is_no_fault_and_cannot_act_on_the_terminal() -> None:
    report = replace(a_report(a_reading()), notes=("\x1b[2J is odd",))
    (found,) = check_commits(report)
    assert (found.severity, found.what) == ("info", "\\x1b[2J is odd")


def test_partitions_of_commits_are_said_to_be_looked_at() -> None:
    """Of a cluster with no topic else there would be partitions beside "no topic to be read"."""
    (found,) = check_clocks(Clocks(1, 5, 6, of_commits=6, requested=6))
    assert found.what.endswith("6 of 6 partitions were looked at, 6 of them of __consumer_offsets")


@pytest.mark.parametrize(
    ("options", "priced"),
    [
        ([], False),
        (["--iam", "--region", "eu-west-1"], True),
    ],
)
def test_metrics_are_priced_for_those_who_have_aws(
    options: list[str], priced: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["doctor", "-b", "127.0.0.1:1", "--timeout", "1", "--output", "json", *options])
    checks = {each["check"] for each in json.loads(capsys.readouterr().out)}
    assert ("metrics" in checks) is priced
    assert "login" in checks


ALL, NO_TOPICS = Rights(True, True, True, True), Rights(True, False, False, True)
DENIED_GROUP = Problem("group", "it's", contract.DENIED, "commits: GROUP_AUTHORIZATION_FAILED")


@pytest.mark.parametrize(
    ("reads", "problems", "rights", "severity", "what"),
    [
        (True, [], ALL, "ok", "1 group with 1 partition read"),
        (True, [], NO_TOPICS, "info", "1 group with 1 partition read"),
        (False, [], NO_TOPICS, "warning", "1 group with 0 partitions read"),
        (True, [DENIED_GROUP], ALL, "warning", "1 thing not read: group it's (denied)"),
    ],
    ids=["all", "some", "nothing", "denied"],
)
def test_a_reading_is_well_only_where_nothing_is_denied(
    reads: bool, problems: list[Problem], rights: Rights, severity: str, what: str
) -> None:
    commits = {"g": {"orders": [9]}} if reads else {"g": {}}
    report = a_report(a_reading(commits, {"orders": [(0, 9)]}, problems=problems))
    found = check_reading(report, an_inspection(rights))
    assert (found.severity, found.what) == (severity, what)


def test_metrics_and_their_dollars_are_those_of_one_reading() -> None:
    report = a_report(a_reading({"g": {"orders": [9]}}, {"orders": [(0, 10)]}))
    levels = Levels()
    chosen = plan(report, Snapshot.empty(), levels)
    (found,) = check_metrics(chosen, levels, "eu-nowhere-1", load_prices())
    assert chosen.metrics == 16
    assert found.what.startswith("16 custom metrics, $4.80 a month at the prices of us-east-1")


def test_metrics_that_do_not_fit_are_a_warning_with_their_dollars() -> None:
    report = a_report(a_reading({"g": {"orders": [9]}}, {"orders": [(0, 10)]}))
    levels = Levels(max_metrics=14)
    found = the(
        list(check_metrics(plan(report, Snapshot.empty(), levels), levels, None, load_prices())),
        "warning",
    )
    assert found.what == "2 metrics more do not fit into max_metrics (14)"
    assert found.why.startswith("They would cost $0.60 more a month.")


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
        Finding("c", "fault", "bad", "Do it."),
        Finding("d", "warning", "odd", "Look."),
    )
    assert [line.split()[0] for line in lines if line.startswith(tuple("FWIUO"))] == [
        "FAULT",
        "WARNING",
        "INFO",
    ]


def test_checks_that_were_not_made_for_one_reason_are_one_line() -> None:
    lines = printed(
        Finding("login", "unknown", "not looked at"), Finding("ACLs", "unknown", "not looked at")
    )
    assert lines == ["unknown  not looked at: login, ACLs"]


def test_json_has_every_field_of_every_finding() -> None:
    assert json.loads(findings_json([Finding("a", "ok", "fine")])) == [
        {"check": "a", "severity": "ok", "what": "fine", "why": "", "repair": None}
    ]


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


@pytest.fixture(name="no_aws")
def _no_aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nobody's credentials."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


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


def test_a_function_is_started_only_where_a_document_names_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["doctor", "--bootstrap-servers", NOWHERE, "--invoke"]) == 2
    assert "--invoke is for --config." in capsys.readouterr().err


def test_brokers_that_are_not_named_are_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 2
    assert "--bootstrap-servers HOST:PORT, or --config FILE" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--config", str(tmp_path / "none.json")]) == 2
    assert "none.json" in capsys.readouterr().err


def test_a_port_for_client_certificates_is_well_as_far_as_it_is_seen_without_one() -> None:
    wants = replace(
        GOOD, tls=replace(TLS, wants_certificate=True), spoken="closed", mechanisms=None
    )
    found = check_connection(
        Access((SERVER,), "SSL", None), [wants], has_certificate=True, options=OPTIONS
    )
    assert severities(found) == {
        "name resolution": "ok",
        "TCP": "ok",
        "TLS": "ok",
        "protocol": "unknown",
        "mechanisms": "unknown",
    }
    assert is_usable(found)


def test_what_no_broker_answered_is_not_said_to_be_well() -> None:
    assert [each.severity for each in check_clocks(Clocks(), may_describe=None)] == ["unknown"]
    assert [each.severity for each in check_clocks(Clocks(), may_describe=False)] == ["unknown"]
    assert [each.severity for each in check_kinds({})] == ["info"]
    for lacking in (Rights(), Rights(cluster=False, topics=False, groups=False)):
        assert not an_inspection(lacking).lists_all_groups
    silent = replace(an_inspection(), unlisted=("2",))
    assert severities(rights(silent))["hidden groups"] == "unknown"
    report = a_report(a_reading({"g": {}}, {"orders": [(0, 9)]}))
    assert check_reading(report, an_inspection(Rights())).severity == "unknown"
    assert check_reading(report, an_inspection()).severity == "info"
    (transactions,) = check_transactions(True, report, Rules())
    assert transactions.severity == "unknown"
    (kinds,) = check_kinds({}, is_complete=False)
    assert kinds.severity == "unknown"
    assert kinds.what.startswith("no groups listed: others may be hidden")
    inspection = replace(an_inspection(), not_responding={SERVER: "hangs"})
    assert severities(rights(inspection))["hidden groups"] == "unknown"
    no_answer = rights(an_inspection(Rights(), acls=None))
    (listing,) = [each for each in no_answer if each.check == "ACLs"]
    assert (listing.severity, listing.why) == ("unknown", "")


def test_a_prefix_that_is_missing_is_given_once_for_all_that_begins_so() -> None:
    others = Acl("topic", "pay", "User:others", "Read", prefixed=True)
    denied = replace(ALL, hidden_prefixes=("pay", "pay-eu"), hidden_topics=("payments",))
    found = rights(an_inspection(denied, (ACL, others)))
    fault = the(found, "fault")
    assert fault.what == "Describe on topics that begin with pay is missing"
    assert fault.repair is not None
    assert fault.repair.endswith(
        "--operation Describe --topic pay --resource-pattern-type prefixed"
    )


@pytest.mark.parametrize("name", [" billing", "billing ", ""])
def test_no_line_is_printed_for_a_name_that_kafkas_tool_would_cut(name: str) -> None:
    acl = Acl("group", name, "User:monitor", "Describe", allows=False)
    denied = replace(ALL, denied_groups=(name,))
    fault = the(rights(an_inspection(denied, (ACL, acl))), "fault")
    shown = name.replace(" ", r"\x20") or "''"
    assert fault.what == f"an ACL denies Describe on the group {shown}"
    assert fault.repair is None
    assert "deleteAcls" in fault.why
    missing = the(rights(an_inspection(denied)), "fault")
    assert missing.repair is None
    assert "createAcls" in missing.why
