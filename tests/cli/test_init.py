# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import pytest
from moto import mock_aws
from moto.kafka.models import kafka_backends

from kafka_lag.errors import ConfigError
from kafka_lag_cdk.config.faults import ConfigurationError
from kafka_lag_cdk.config.reading import read
from kafka_lag_cli.account.errors import AwsError
from kafka_lag_cli.command import main
from kafka_lag_cli.doctor.deployment import check_deployment
from kafka_lag_cli.init import InitOptions, draft
from tests.cli.fake_aws import ACCOUNT, ARN, REGION, FakeAccount

_SERVERLESS = f"arn:aws:kafka:{REGION}:{ACCOUNT}:cluster/events/3f2a1b0c-5d4e-4f6a-8b7c-9d0e1f2a-s2"


@pytest.fixture
def account() -> Iterator[FakeAccount]:
    with mock_aws():
        yield FakeAccount()


def _draft(account: FakeAccount, arn: str = ARN, **chosen: Any) -> str:
    return draft(arn, account.session, InitOptions(**chosen), None)


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


def test_a_cluster_with_an_associated_secret_is_written_whole(
    account: FakeAccount, tmp_path: Path
) -> None:
    text = _draft(account, email=("oncall@example.com",))
    document = tomllib.loads(text)
    assert document["shared"]["notify"]["email"] == ["oncall@example.com"]
    assert _cluster(text) == {
        "name": "orders",
        "arn": ARN,
        "groups": {"deny": "^console-consumer-"},
        "vpc": {
            "id": account.vpc,
            "subnets": account.subnets,
            "brokers_security_group": account.brokers,
            "nat": True,
        },
        "auth": {"type": "scram", "secret_arn": account.secret, "kms_key_arn": account.key},
    }
    assert "# In two zones, so that one may fail." in text
    assert _is_well(account, text, tmp_path)


def test_without_an_associated_secret_iam_is_taken(account: FakeAccount, tmp_path: Path) -> None:
    _allow(account, {"Sasl": {"Scram": {"Enabled": True}, "Iam": {"Enabled": True}}})
    account.msk.secrets[ARN] = []
    text = _draft(account)
    assert _cluster(text)["auth"] == {"type": "iam"}
    assert _is_well(account, text, tmp_path)


def test_serverless_takes_iam(account: FakeAccount, tmp_path: Path) -> None:
    account.new_serverless(_SERVERLESS)
    text = _draft(account, _SERVERLESS)
    assert _cluster(text)["name"] == "events"
    assert _cluster(text)["auth"] == {"type": "iam"}
    assert _cluster(text)["vpc"]["brokers_security_group"] == account.brokers
    assert _is_well(account, text, tmp_path)


def test_express_brokers_are_said_to_be_such(account: FakeAccount, tmp_path: Path) -> None:
    account.cluster["Provisioned"]["BrokerNodeGroupInfo"]["InstanceType"] = "express.m7g.large"
    text = _draft(account)
    assert _cluster(text)["broker_type"] == "express"
    assert _is_well(account, text, tmp_path)


@pytest.mark.parametrize(
    ("transport", "auth"),
    [
        ("TLS", {"type": "none"}),
        ("TLS_PLAINTEXT", {"type": "none"}),
        ("PLAINTEXT", {"type": "none", "plaintext": True}),
    ],
)
def test_a_cluster_without_logins_is_reached_by_tls_if_it_speaks_that(
    transport: str, auth: dict[str, Any], account: FakeAccount, tmp_path: Path
) -> None:
    _allow(account, {})
    account.cluster["Provisioned"]["EncryptionInfo"] = {
        "EncryptionInTransit": {"ClientBroker": transport}
    }
    text = _draft(account)
    assert _cluster(text)["auth"] == auth
    assert _is_well(account, text, tmp_path)


def test_endpoints_are_made_where_there_is_no_way_out(account: FakeAccount, tmp_path: Path) -> None:
    account.cut_off()
    account.remove_gateway()
    text = _draft(account)
    vpc = _cluster(text)["vpc"]
    assert vpc["endpoints"] == {"s3": True, "secrets_manager": True}
    assert vpc["route_tables"] == account.tables
    assert vpc["cidr"] == "10.0.0.0/16"
    assert vpc["nat"] is False
    assert _is_well(account, text, tmp_path)


def test_subnets_with_an_internet_gateway_get_endpoints(
    account: FakeAccount, tmp_path: Path
) -> None:
    account.cut_off()
    account.route_to_internet(account.tables)
    text = _draft(account)
    assert _cluster(text)["vpc"]["endpoints"]["secrets_manager"] is True
    assert _cluster(text)["vpc"]["nat"] is False
    assert _is_well(account, text, tmp_path)


def test_no_endpoint_is_made_twice(account: FakeAccount, tmp_path: Path) -> None:
    account.cut_off()
    group = account.new_group("endpoint")
    account.new_interface("secretsmanager", group)
    text = _draft(account)
    vpc = _cluster(text)["vpc"]
    assert "endpoints" not in vpc
    assert vpc["endpoint_security_groups"] == [group]
    assert vpc["existing_endpoints"] == ["s3", "secrets_manager"]
    assert _is_well(account, text, tmp_path)


def test_an_endpoint_is_opened_even_beside_nat(account: FakeAccount, tmp_path: Path) -> None:
    group = account.new_group("endpoint")
    account.new_interface("secretsmanager", group)
    text = _draft(account)
    assert _cluster(text)["vpc"]["endpoint_security_groups"] == [group]
    assert "existing_endpoints" not in _cluster(text)["vpc"]
    assert _is_well(account, text, tmp_path)


def test_s3_alone_is_made_for_the_route_tables_that_lack_it(
    account: FakeAccount, tmp_path: Path
) -> None:
    account.remove_gateway()
    account.new_gateway(account.tables[:1])
    text = _draft(account)
    assert _cluster(text)["vpc"]["endpoints"] == {"s3": True}
    assert _cluster(text)["vpc"]["route_tables"] == account.tables[1:]
    assert _is_well(account, text, tmp_path)


def test_subnets_with_nat_are_taken_before_the_brokers_own(
    account: FakeAccount, tmp_path: Path
) -> None:
    brokers = [account.new_subnet(f"10.0.{at}.0/24", zone) for at, zone in ((20, "a"), (21, "b"))]
    account.cluster["Provisioned"]["BrokerNodeGroupInfo"]["ClientSubnets"] = brokers
    text = _draft(account)
    assert _cluster(text)["vpc"]["subnets"] == account.subnets
    assert _is_well(account, text, tmp_path)


def test_private_subnets_are_taken_before_the_brokers_public_ones(account: FakeAccount) -> None:
    account.cut_off()
    public = [account.new_subnet(f"10.0.{at}.0/24", zone) for at, zone in ((20, "a"), (21, "b"))]
    account.route_to_internet([account.new_table(subnet) for subnet in public])
    account.cluster["Provisioned"]["BrokerNodeGroupInfo"]["ClientSubnets"] = public
    assert not set(_cluster(_draft(account))["vpc"]["subnets"]) & set(public)


def test_of_alike_subnets_of_a_zone_the_brokers_own_is_taken(account: FakeAccount) -> None:
    more = [account.new_subnet(f"10.0.{at}.0/24", "a") for at in (20, 21)]
    for subnet in more:
        account.route(account.new_table(subnet), NatGatewayId=account.nat)
    for own in (account.subnets[0], *more):
        brokers = [own, account.subnets[1]]
        account.cluster["Provisioned"]["BrokerNodeGroupInfo"]["ClientSubnets"] = brokers
        assert _cluster(_draft(account))["vpc"]["subnets"] == brokers


def test_without_a_group_of_their_own_brokers_have_the_vpcs(
    account: FakeAccount, tmp_path: Path
) -> None:
    account.cluster["Provisioned"]["BrokerNodeGroupInfo"]["SecurityGroups"] = []
    groups = account.ec2.describe_security_groups(
        Filters=[
            {"Name": "vpc-id", "Values": [account.vpc]},
            {"Name": "group-name", "Values": ["default"]},
        ]
    )["SecurityGroups"]
    text = _draft(account)
    assert _cluster(text)["vpc"]["brokers_security_group"] == groups[0]["GroupId"]
    assert _is_well(account, text, tmp_path)


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

    text = draft(ARN, account.session, InitOptions(), answer)
    assert _cluster(text)["auth"]["secret_arn"] == second
    assert tomllib.loads(text)["shared"]["notify"]["email"] == ["a@example.com", "b@example.com"]
    assert [choices for _, choices, _ in asked] == [(account.secret, second), ()]


def test_of_several_logins_a_person_is_asked(account: FakeAccount) -> None:
    _allow(account, {"Sasl": {"Scram": {"Enabled": True}, "Iam": {"Enabled": True}}})
    asked = []

    def answer(_: str, choices: Sequence[str], default: str | None) -> str:
        asked.append((tuple(choices), default))
        return "iam" if choices else ""

    assert _cluster(draft(ARN, account.session, InitOptions(), answer))["auth"] == {"type": "iam"}
    assert asked[0] == (("iam", "scram"), "scram")


def test_a_secret_that_is_missing_is_one_sentence(account: FakeAccount) -> None:
    account.msk.secrets[ARN] = []
    with pytest.raises(click.UsageError, match=r"^--secret-arn is missing: .*none is associated"):
        _draft(account)


def test_a_login_that_is_not_enabled_is_refused_with_those_that_are(account: FakeAccount) -> None:
    with pytest.raises(ConfigError, match="does not let iam in: it has enabled scram"):
        _draft(account, auth="iam")


@pytest.mark.parametrize(
    ("tls", "auth"),
    [
        ({"CertificateAuthorityArnList": ["arn:aws:acm-pca:ca"]}, "tls"),
        ({"CertificateAuthorityArnList": ["arn:aws:acm-pca:ca"], "Enabled": False}, "none"),
        ({"CertificateAuthorityArnList": []}, "none"),
    ],
)
def test_authorities_alone_switch_tls_on(
    tls: dict[str, Any], auth: str, account: FakeAccount
) -> None:
    _allow(account, {"Tls": tls})
    assert _cluster(_draft(account, secret_arn=account.secret))["auth"]["type"] == auth


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ("CREATING", "orders is being created: run this again when it is ACTIVE"),
        ("DELETING", "orders is being deleted: there is nothing to deploy"),
        ("FAILED", r"orders could not be created or deleted \(FAILED\)"),
    ],
)
def test_a_cluster_that_cannot_be_watched_yet_or_any_more_is_refused(
    state: str, sentence: str, account: FakeAccount
) -> None:
    account.cluster["State"] = state
    with pytest.raises(ConfigError, match=f"^{sentence}"):
        _draft(account)


def test_what_options_say_is_checked_as_a_document_is(account: FakeAccount) -> None:
    with pytest.raises(ConfigurationError, match=r"clusters\[0\].name"):
        _draft(account, name="two words")


@pytest.mark.parametrize(
    "right", ["kafka:DescribeClusterV2", "ec2:DescribeRouteTables", "kafka:ListScramSecrets"]
)
def test_a_right_that_is_missing_is_named(right: str, account: FakeAccount) -> None:
    account.session.denied = {right}
    with pytest.raises(AwsError, match=f"AWS denies the right to {right}"):
        _draft(account)


def test_without_credentials_the_examples_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.chdir(tmp_path)
    assert main(["init", ARN]) != 0
    printed = capsys.readouterr().err
    assert "check your AWS credentials" in printed
    assert printed.endswith(
        "Without AWS, copy and edit a document of examples/ (scaling-ecs.json has IAM).\n"
    )


def test_without_a_right_on_the_key_it_is_an_option(account: FakeAccount) -> None:
    account.session.denied = {"kms:DescribeKey"}
    with pytest.raises(ConfigError, match="--kms-key-arn"):
        _draft(account)
    assert _cluster(_draft(account, kms_key_arn=account.key))["auth"]["kms_key_arn"] == account.key


def test_an_arn_that_msk_does_not_know_is_one_sentence(account: FakeAccount) -> None:
    with pytest.raises(ConfigError, match="MSK has no cluster"):
        _draft(account, ARN.replace("orders", "absent"))


def test_wrong_arns_and_files_that_are_there_are_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["init", "orders"]) == 2
    assert "an MSK cluster's ARN" in capsys.readouterr().err
    Path("deployment.toml").write_text("mine")
    assert main(["init", ARN]) == 2
    printed = capsys.readouterr().err
    assert "deployment.toml is there" in printed
    assert "--force" in printed
    assert Path("deployment.toml").read_text() == "mine"


@pytest.fixture
def command(account: FakeAccount, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeAccount:
    """Moto's MSK has this cluster with IAM, and the command's own session finds it."""
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
    folder = tmp_path / "aws"
    folder.mkdir()
    (folder / "config").write_text(
        "[profile prod]\naws_access_key_id = a\naws_secret_access_key = b\n"
    )
    monkeypatch.setenv("AWS_CONFIG_FILE", str(folder / "config"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    monkeypatch.chdir(tmp_path)
    return account


def test_the_file_is_written_and_the_next_steps_are_printed(
    command: FakeAccount, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", ARN, "--output", "two words.toml", "--profile", "prod"]) == 0
    assert _is_well(command, Path("two words.toml").read_text(), tmp_path)
    assert capsys.readouterr().out.splitlines() == [
        "two words.toml is written. Next:",
        "  kafka-lag doctor --config 'two words.toml' --profile prod",
        "  kafka-lag cost --config 'two words.toml'",
        "  AWS_PROFILE=prod make deploy CONFIG='two words.toml'",
    ]


def test_a_dash_writes_the_document_alone_to_standard_output(
    command: FakeAccount, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", ARN, "--output", "-"]) == 0
    printed = capsys.readouterr()
    assert _is_well(command, printed.out, tmp_path)
    assert "kafka-lag doctor --config deployment.toml" in printed.err


@pytest.mark.usefixtures("command")
def test_force_replaces_a_file() -> None:
    Path("mine.toml").write_text("mine")
    assert main(["init", ARN, "--output", "mine.toml", "--force"]) == 0
    assert Path("mine.toml").read_text().startswith("# The deployment")


@pytest.mark.usefixtures("command")
def test_a_folder_that_is_not_there_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", ARN, "--output", "absent/mine.toml"]) == 1
    assert "cannot be written" in capsys.readouterr().err
