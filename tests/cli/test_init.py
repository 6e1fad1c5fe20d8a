# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import pytest
from moto import mock_aws
from moto.kafka.models import kafka_backends

from kafka_lag.errors import ConfigError, ReporterError
from kafka_lag_cli.command import main
from kafka_lag_cli.doctor.deployment import check_deployment
from kafka_lag_cli.init import draft
from kafka_lag_config.faults import ConfigurationError
from kafka_lag_config.reading import read
from tests.cli.fake_aws import ACCOUNT, ARN, REGION, FakeAccount, without_ids
from tests.golden import Golden, write_once

_SERVERLESS = f"arn:aws:kafka:{REGION}:{ACCOUNT}:cluster/events/3f2a1b0c-5d4e-4f6a-8b7c-9d0e1f2a-s2"


@pytest.fixture
def account() -> Iterator[FakeAccount]:
    with mock_aws():
        yield FakeAccount()


def _draft(account: FakeAccount, arn: str = ARN, **chosen: Any) -> str:
    return draft(arn, account.session, chosen, None)


def _cluster(text: str) -> dict[str, Any]:
    (cluster,) = tomllib.loads(text)["clusters"]
    found: dict[str, Any] = cluster
    return found


def _is_well(account: FakeAccount, text: str, folder: Path) -> bool:
    """Whether the configuration takes the document, and doctor has nothing to say of it."""
    (folder / "deployment.toml").write_text(text)
    deployment = read("deployment.toml", folder)
    findings = check_deployment(deployment, deployment.clusters[0], account.session)
    return {each.severity for each in findings} <= {"ok", "info"}


def _allow(account: FakeAccount, authentication: dict[str, Any]) -> None:
    account.cluster["Provisioned"]["ClientAuthentication"] = authentication


Setup = Callable[[FakeAccount], object]
CA = "arn:aws:acm-pca:ca"


def _speaking(transport: str) -> Setup:
    """A cluster without logins."""

    def setup(account: FakeAccount) -> None:
        _allow(account, {})
        encryption = {"EncryptionInTransit": {"ClientBroker": transport}}
        account.cluster["Provisioned"]["EncryptionInfo"] = encryption

    return setup


def _has_brokers(**changes: Any) -> Setup:
    return lambda account: account.cluster["Provisioned"]["BrokerNodeGroupInfo"].update(changes)


def _without_secret(account: FakeAccount) -> None:
    _allow(account, {"Sasl": {"Scram": {"Enabled": True}, "Iam": {"Enabled": True}}})
    account.msk.secrets[ARN] = []


def _no_way_out(account: FakeAccount) -> None:
    account.cut_off()
    account.remove_gateway()


def _internet_gateway(account: FakeAccount) -> None:
    account.cut_off()
    account.route_to_internet(account.tables)


def _endpoint(account: FakeAccount) -> None:
    account.new_interface("secretsmanager", account.new_group("endpoint"))


def _endpoint_alone(account: FakeAccount) -> None:
    account.cut_off()
    _endpoint(account)


def _one_table_served(account: FakeAccount) -> None:
    account.remove_gateway()
    account.new_gateway(account.tables[:1])


def _brokers_without_nat(account: FakeAccount) -> None:
    brokers = [account.new_subnet(f"10.0.{at}.0/24", zone) for at, zone in ((20, "a"), (21, "b"))]
    _has_brokers(ClientSubnets=brokers)(account)


# Clusters in the usual network, and networks, each of its own.
_CLUSTERS: dict[str, Setup] = {
    "no associated secret": _without_secret,
    "express brokers": _has_brokers(InstanceType="express.m7g.large"),
    "no logins, TLS": _speaking("TLS"),
    "no logins, either": _speaking("TLS_PLAINTEXT"),
    "no logins, plaintext": _speaking("PLAINTEXT"),
    "no security group": _has_brokers(SecurityGroups=[]),
}
_NETWORKS: dict[str, Setup] = {
    "no way out": _no_way_out,
    "an internet gateway alone": _internet_gateway,
    "an endpoint beside NAT": _endpoint,
    "an endpoint alone": _endpoint_alone,
    "a gateway for one table": _one_table_served,
    "brokers without NAT": _brokers_without_nat,
}


def test_the_document_is_what_the_cluster_needs_and_doctor_finds_nothing(
    tmp_path: Path, golden: Golden
) -> None:
    cases = {}

    def write(name: str, setup: Setup, account: FakeAccount) -> None:
        """Notes what the document says and would not say of the usual cluster."""
        usual = _draft(account).splitlines()
        setup(account)
        text = _draft(account)
        assert _is_well(account, text, tmp_path), name
        # Subnets and tables have the numbers of the usual document.
        known = [line for line in usual if "#" not in line]
        more = [line for line in text.splitlines() if line not in usual and "#" not in line]
        masked = without_ids("\n".join([*known, *more])).splitlines()
        cases[name] = "\n".join(masked[len(known) :])

    with mock_aws():
        account = FakeAccount()
        for name, setup in _CLUSTERS.items():
            account.renew_cluster()
            write(name, setup, account)
    for name, setup in _NETWORKS.items():
        with mock_aws():
            write(name, setup, FakeAccount())
    golden.holds_cases("init-clusters.txt", cases)


def test_a_cluster_with_an_associated_secret_is_written_whole(
    account: FakeAccount, tmp_path: Path, golden: Golden
) -> None:
    text = _draft(account, email=("oncall@example.com",))
    assert _is_well(account, text, tmp_path)
    account.cut_off()
    account.remove_gateway()
    cases = {"with NAT": text, "without a way out": _draft(account)}
    masked = {name: without_ids(each) for name, each in cases.items()}
    golden.holds("init.txt", write_once((name, each.splitlines()) for name, each in masked.items()))


def test_serverless_takes_iam(account: FakeAccount, tmp_path: Path) -> None:
    account.new_serverless(_SERVERLESS)
    text = _draft(account, _SERVERLESS)
    assert (_cluster(text)["name"], _cluster(text)["auth"]) == ("events", {"type": "iam"})
    assert _is_well(account, text, tmp_path)


def test_authorities_alone_switch_tls_on(account: FakeAccount) -> None:
    for tls, auth in (
        ({"CertificateAuthorityArnList": [CA]}, "tls"),
        ({"CertificateAuthorityArnList": [CA], "Enabled": False}, "none"),
        ({"CertificateAuthorityArnList": []}, "none"),
    ):
        _allow(account, {"Tls": tls})
        assert _cluster(_draft(account, secret_arn=account.secret))["auth"]["type"] == auth


def test_what_cannot_be_written_is_one_sentence(account: FakeAccount, golden: Golden) -> None:
    lines = []

    def fails(case: str, arn: str = ARN, **chosen: Any) -> None:
        with pytest.raises((ReporterError, ConfigurationError, click.UsageError)) as caught:
            _draft(account, arn, **chosen)
        lines.append(f"{case} -> {without_ids(str(caught.value))}")

    fails("no such cluster", ARN.replace("orders", "absent"))
    fails("a login that is not enabled", auth="iam")
    fails("a name of two words", name="two words")
    for right in ("kafka:DescribeClusterV2", "ec2:DescribeRouteTables", "kafka:ListScramSecrets"):
        account.session.denied = {right}
        fails(f"no right to {right}")
    account.session.denied = set()
    for state in ("CREATING", "DELETING", "FAILED"):
        account.cluster["State"] = state
        fails(f"a cluster that is {state}")
    account.cluster["State"] = "ACTIVE"
    account.msk.secrets[ARN] = []
    fails("no secret")
    golden.holds("init-errors.txt", "\n".join(lines))


def test_private_subnets_are_taken_before_the_brokers_public_ones(account: FakeAccount) -> None:
    account.cut_off()
    public = [account.new_subnet(f"10.0.{at}.0/24", zone) for at, zone in ((20, "a"), (21, "b"))]
    account.route_to_internet([account.new_table(subnet) for subnet in public])
    _has_brokers(ClientSubnets=public)(account)
    assert not set(_cluster(_draft(account))["vpc"]["subnets"]) & set(public)


def test_of_alike_subnets_of_a_zone_the_brokers_own_is_taken(account: FakeAccount) -> None:
    more = [account.new_subnet(f"10.0.{at}.0/24", "a") for at in (20, 21)]
    for subnet in more:
        account.route(account.new_table(subnet), NatGatewayId=account.nat)
    for own in (account.subnets[0], *more):
        brokers = [own, account.subnets[1]]
        _has_brokers(ClientSubnets=brokers)(account)
        assert _cluster(_draft(account))["vpc"]["subnets"] == brokers


def test_several_secrets_are_a_question_and_off_a_terminal_an_option(account: FakeAccount) -> None:
    second = account.new_secret("AmazonMSK_second")
    account.msk.secrets[ARN].append(second)
    with pytest.raises(click.UsageError, match=r"2 secrets .* choose one by --secret-arn"):
        _draft(account)
    assert _cluster(_draft(account, secret_arn=second))["auth"]["secret_arn"] == second
    asked: list[tuple[str, Sequence[str], str | None]] = []

    def answer(label: str, choices: Sequence[str], default: str | None) -> str:
        asked.append((label, choices, default))
        return second if choices else "a@example.com b@example.com"

    text = draft(ARN, account.session, {}, answer)
    assert _cluster(text)["auth"]["secret_arn"] == second
    assert tomllib.loads(text)["shared"]["notify"]["email"] == ["a@example.com", "b@example.com"]
    assert [choices for _, choices, _ in asked] == [(account.secret, second), ()]


def test_of_several_logins_a_person_is_asked(account: FakeAccount) -> None:
    _allow(account, {"Sasl": {"Scram": {"Enabled": True}, "Iam": {"Enabled": True}}})
    asked = []

    def answer(_: str, choices: Sequence[str], default: str | None) -> str:
        asked.append((tuple(choices), default))
        return "iam" if choices else ""

    assert _cluster(draft(ARN, account.session, {}, answer))["auth"] == {"type": "iam"}
    assert asked[0] == (("iam", "scram"), "scram")


@pytest.mark.usefixtures("no_aws")
def test_without_credentials_the_examples_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", ARN]) != 0
    printed = capsys.readouterr().err
    assert "check your AWS credentials" in printed
    assert printed.endswith(
        "Without AWS, copy and edit a configuration of examples/ (scaling-ecs.json has IAM).\n"
    )


def test_without_a_right_on_the_key_it_is_an_option(account: FakeAccount) -> None:
    account.session.denied = {"kms:DescribeKey"}
    with pytest.raises(ConfigError, match="--kms-key-arn"):
        _draft(account)
    assert _cluster(_draft(account, kms_key_arn=account.key))["auth"]["kms_key_arn"] == account.key


@pytest.fixture
def command(
    account: FakeAccount,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> FakeAccount:
    """Moto's MSK has this cluster with IAM, and the command's own session finds it."""
    request.getfixturevalue("aws_keys")
    _allow(account, {"Sasl": {"Iam": {"Enabled": True}}})
    backend = kafka_backends[ACCOUNT][REGION]
    backend.create_cluster_v2("orders", None, {"brokerNodeGroupInfo": {}}, None)
    (cluster,) = backend.clusters.values()
    cluster.arn, cluster.state = ARN, "ACTIVE"
    cluster.client_authentication = {"sasl": {"iam": {"enabled": True}}}
    cluster.broker_node_group_info = {
        "instanceType": "kafka.m7g.large",
        "clientSubnets": account.subnets,
        "securityGroups": [account.brokers],
    }
    backend.clusters = {ARN: cluster}
    profile = "[profile prod]\naws_access_key_id = a\naws_secret_access_key = b\n"
    (tmp_path / "aws-config").write_text(profile)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "aws-config"))
    monkeypatch.chdir(tmp_path)
    return account


def test_the_file_is_written_and_the_next_steps_are_printed(
    command: FakeAccount, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # A file that is there is replaced by force.
    Path("two words.toml").write_text("mine")
    call = ["init", ARN, "--output", "two words.toml", "--profile", "prod", "--force"]
    assert main(call) == 0
    assert _is_well(command, Path("two words.toml").read_text(), tmp_path)
    assert capsys.readouterr().out.splitlines() == [
        "two words.toml is written. Next:",
        "  kafka-lag doctor --config 'two words.toml' --profile prod",
        "  kafka-lag cost --config 'two words.toml'",
        "  AWS_PROFILE=prod make deploy CONFIG='two words.toml'",
    ]
    # A dash writes the document alone to standard output.
    assert main(["init", ARN, "--output", "-", "--email", "on\U0001f600call@example.com"]) == 0
    printed = capsys.readouterr()
    assert _is_well(command, printed.out, tmp_path)
    assert "on\U0001f600call@example.com" in printed.out
    assert "kafka-lag doctor --config deployment.toml" in printed.err
    assert main(["init", ARN, "--output", "absent/mine.toml"]) == 1
    assert "cannot be written" in capsys.readouterr().err
