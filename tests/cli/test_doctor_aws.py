# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import io
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import NoCredentialsError
from moto import mock_aws

from kafka_lag.errors import ConfigError
from kafka_lag_cdk.config.reading import check
from kafka_lag_cli.doctor.deployment import check_deployment, check_document
from kafka_lag_cli.doctor.findings import Finding, exit_code
from tests.cli.fake_aws import (
    ACCOUNT,
    ARN,
    PASSWORD,
    REGION,
    FakeAccount,
    FakeLambda,
    client_error,
    run_aws_line,
    write_key,
)
from tests.documents import GOOD

_OTHER_ARN = ARN.replace("3f2a1b0c", "4f2a1b0c")
_TLS_FIELDS = {"certificate": "-----BEGIN", "private_key": "-----BEGIN"}

Document = dict[str, Any]
Breaks = Callable[[FakeAccount, Document], None]


@pytest.fixture
def account() -> Iterator[FakeAccount]:
    with mock_aws():
        yield FakeAccount()


def _find(account: FakeAccount, document: Document, **options: Any) -> list[Finding]:
    deployment = check(document, "the test's document", Path())
    return check_deployment(deployment, deployment.clusters[0], account.session, **options)


def _bad(findings: list[Finding]) -> list[Finding]:
    return [each for each in findings if each.severity in ("fault", "warning", "unknown")]


def _the(findings: list[Finding], name: str) -> Finding:
    (found,) = [each for each in findings if each.check == name]
    return found


@pytest.mark.parametrize(("state", "severity"), [("DELETING", "fault"), ("UPDATING", "warning")])
def test_a_cluster_that_is_being_deleted_is_a_fault(
    state: str, severity: str, account: FakeAccount
) -> None:
    account.cluster["State"] = state
    assert _the(_find(account, account.document()), "MSK cluster").severity == severity


def test_nothing_is_found_where_all_is_well(account: FakeAccount) -> None:
    findings = _find(account, account.document())
    assert {each.severity for each in findings} == {"ok"}
    assert {each.check for each in findings} == {
        "clock",
        "AWS credentials",
        "MSK cluster",
        "login enabled",
        "secret",
        "secret's key",
        "secret of the cluster",
        "login in the secret",
        "subnets",
        "brokers' security group",
        "way to S3",
        "way to Secrets Manager",
        "concurrency",
        "alarms",
        "network interfaces",
    }


def _vpc(document: Document) -> dict[str, Any]:
    vpc: dict[str, Any] = document["clusters"][0]["vpc"]
    return vpc


def _auth(document: Document) -> dict[str, Any]:
    auth: dict[str, Any] = document["clusters"][0]["auth"]
    return auth


def _disable_scram(account: FakeAccount, _: Document) -> None:
    account.cluster["Provisioned"]["ClientAuthentication"] = {"Sasl": {"Iam": {"Enabled": True}}}


def _ask_for_iam(_: FakeAccount, document: Document) -> None:
    document["clusters"][0]["auth"] = {"type": "iam"}


def _ask_for_nothing(account: FakeAccount, document: Document) -> None:
    account.cluster["Provisioned"]["ClientAuthentication"] = {"Sasl": {"Iam": {"Enabled": True}}}
    document["clusters"][0]["auth"] = {"type": "none"}


def _ask_for_plaintext(account: FakeAccount, document: Document) -> None:
    account.cluster["Provisioned"]["ClientAuthentication"] = {}
    document["clusters"][0]["auth"] = {"type": "none", "plaintext": True}


def _speak_plaintext_alone(account: FakeAccount, _: Document) -> None:
    provisioned = account.cluster["Provisioned"]
    provisioned["ClientAuthentication"] = {}
    provisioned["EncryptionInfo"] = {"EncryptionInTransit": {"ClientBroker": "PLAINTEXT"}}


def _make_cluster_anew(account: FakeAccount, document: Document) -> None:
    # Of another name that begins alike.
    clusters = account.msk.clusters
    account.new_cluster(ARN.replace("orders", "orders-2"), {})
    account.msk.clusters = dict(reversed(clusters.items()))
    document["clusters"][0]["arn"] = _OTHER_ARN


def _take_express(account: FakeAccount, _: Document) -> None:
    account.cluster["Provisioned"]["BrokerNodeGroupInfo"]["InstanceType"] = "express.m7g.large"


def _take_secret_away(account: FakeAccount, _: Document) -> None:
    account.msk.secrets[ARN] = []


def _delete_secret(account: FakeAccount, _: Document) -> None:
    account.secrets.delete_secret(SecretId=account.secret)


def _disable_key(account: FakeAccount, _: Document) -> None:
    account.kms.disable_key(KeyId=account.key_id)


def _use_key_of_aws(account: FakeAccount, _: Document) -> None:
    account.secrets.update_secret(SecretId=account.secret, KmsKeyId="alias/aws/secretsmanager")


def _name_another_key(account: FakeAccount, document: Document) -> None:
    _auth(document)["kms_key_arn"] = account.kms.create_key()["KeyMetadata"]["Arn"]


def _write_text(account: FakeAccount, _: Document) -> None:
    account.secrets.put_secret_value(SecretId=account.secret, SecretString=PASSWORD)


def _forget_password(account: FakeAccount, _: Document) -> None:
    account.secrets.put_secret_value(
        SecretId=account.secret, SecretString=json.dumps({"username": PASSWORD})
    )


def _empty_password(account: FakeAccount, _: Document) -> None:
    account.secrets.put_secret_value(
        SecretId=account.secret, SecretString=json.dumps({"username": "u", "password": ""})
    )


def _end_password_with_a_line(account: FakeAccount, _: Document) -> None:
    text = json.dumps({"username": "lag-monitor", "password": PASSWORD + "\n"})
    account.secrets.put_secret_value(SecretId=account.secret, SecretString=text)


def _name_absent_subnet(account: FakeAccount, document: Document) -> None:
    _vpc(document)["subnets"] = [account.subnets[0], "subnet-0a1b2c3d4e5f60718"]


def _name_subnet_elsewhere(account: FakeAccount, document: Document) -> None:
    other = account.new_subnet("10.1.0.0/24", "b", account.new_vpc("10.1.0.0/16"))
    _vpc(document)["subnets"] = [account.subnets[0], other]


def _take_one_zone(account: FakeAccount, document: Document) -> None:
    _vpc(document)["subnets"] = account.subnets[:1]


def _name_vpc_elsewhere(_: FakeAccount, document: Document) -> None:
    _vpc(document)["id"] = "vpc-0a1b2c3d4e5f60718"


def _name_absent_group(_: FakeAccount, document: Document) -> None:
    _vpc(document)["brokers_security_group"] = "sg-0a1b2c3d4e5f60718"


def _name_foreign_group(account: FakeAccount, document: Document) -> None:
    other = account.new_group("elsewhere", account.new_vpc("10.1.0.0/16"))
    _vpc(document)["brokers_security_group"] = other


def _name_group_of_others(account: FakeAccount, document: Document) -> None:
    _vpc(document)["brokers_security_group"] = account.new_group("of others")


def _name_no_group(_: FakeAccount, document: Document) -> None:
    del _vpc(document)["brokers_security_group"]


def _cut_off(account: FakeAccount, document: Document) -> None:
    account.cut_off()
    _vpc(document)["cidr"] = "10.0.0.0/16"


def _cut_off_s3(account: FakeAccount, document: Document) -> None:
    account.cut_off()
    account.remove_gateway()
    document["clusters"][0]["auth"] = {"type": "iam"}
    account.cluster["Provisioned"]["ClientAuthentication"] = {"Sasl": {"Iam": {"Enabled": True}}}


def _leave_out_tables(account: FakeAccount, document: Document) -> None:
    _cut_off_s3(account, document)
    _vpc(document).update(endpoints={"s3": True}, route_tables=account.tables[:1])


def _serve_one_table(account: FakeAccount, document: Document) -> None:
    _cut_off_s3(account, document)
    account.s3 = account.new_gateway(account.tables[:1])


def _make_s3_twice(account: FakeAccount, document: Document) -> None:
    _vpc(document).update(endpoints={"s3": True}, route_tables=account.tables)


def _make_secrets_manager_twice(account: FakeAccount, document: Document) -> None:
    group = account.new_group("endpoint")
    account.let_in(group, "10.0.0.0/16", 443)
    account.new_interface("secretsmanager", group)
    _vpc(document).update(endpoints={"secrets_manager": True}, cidr="10.0.0.0/16")


def _close_endpoint(account: FakeAccount, _: Document) -> None:
    account.new_interface("secretsmanager", account.new_group("endpoint"))


def _turn_names_off(account: FakeAccount, document: Document) -> None:
    account.ec2.modify_vpc_attribute(VpcId=account.vpc, EnableDnsHostnames={"Value": False})
    _vpc(document).update(endpoints={"secrets_manager": True}, cidr="10.0.0.0/16")


def _make_two_in_a_zone(account: FakeAccount, document: Document) -> None:
    more = account.new_subnet("10.0.7.0/24", "a")
    _vpc(document).update(
        endpoints={"secrets_manager": True},
        endpoint_subnets=[*account.subnets, more],
        cidr="10.0.0.0/16",
    )


def _publish_from_nowhere(account: FakeAccount, document: Document) -> None:
    _cut_off(account, document)
    _vpc(document).update(endpoints={"secrets_manager": True})
    document["clusters"][0]["sinks"] = ["cloudwatch"]


# What is broken, the check that says so, and how the line that repairs it begins.
_FAULTS: list[tuple[Breaks, str, str]] = [
    (_disable_scram, "login enabled", "aws kafka update-security "),
    (_ask_for_iam, "login enabled", "aws kafka update-security "),
    (_ask_for_nothing, "login enabled", 'auth = { type = "iam" }'),
    (_ask_for_plaintext, "login enabled", 'auth = { type = "none" }'),
    (_speak_plaintext_alone, "login enabled", "aws kafka update-security "),
    (_make_cluster_anew, "MSK cluster", "arn = "),
    (_take_express, "MSK cluster", 'broker_type = "express"'),
    (_take_secret_away, "secret of the cluster", "aws kafka batch-associate-scram-secret "),
    (_delete_secret, "secret", "aws secretsmanager restore-secret "),
    (_disable_key, "secret's key", "aws kms enable-key "),
    (_use_key_of_aws, "secret's key", "aws secretsmanager update-secret "),
    (_name_another_key, "secret's key", "auth.kms_key_arn = "),
    (_write_text, "login in the secret", "aws secretsmanager put-secret-value "),
    (_forget_password, "login in the secret", "aws secretsmanager put-secret-value "),
    (_end_password_with_a_line, "login in the secret", "aws secretsmanager put-secret-value "),
    (_empty_password, "login in the secret", "aws secretsmanager put-secret-value "),
    (_name_absent_subnet, "subnets", "vpc.subnets = "),
    (_name_subnet_elsewhere, "subnets", "vpc.subnets = "),
    (_take_one_zone, "subnets", "vpc.subnets = "),
    (_name_vpc_elsewhere, "subnets", "vpc.id = "),
    (_name_absent_group, "brokers' security group", "vpc.brokers_security_group = "),
    (_name_foreign_group, "brokers' security group", "vpc.brokers_security_group = "),
    (_name_group_of_others, "brokers' security group", "vpc.brokers_security_group = "),
    (_name_no_group, "brokers' security group", "vpc.brokers_security_group = "),
    (_cut_off, "way to Secrets Manager", "vpc.endpoints.secrets_manager = true"),
    (_cut_off_s3, "way to S3", "aws ec2 create-vpc-endpoint "),
    (_leave_out_tables, "way to S3", "vpc.route_tables = "),
    (_serve_one_table, "way to S3", "aws ec2 modify-vpc-endpoint "),
    (_make_s3_twice, "endpoint of S3", "vpc.endpoints.s3 = false"),
    (
        _make_secrets_manager_twice,
        "endpoint of Secrets Manager",
        "vpc.endpoints.secrets_manager = false",
    ),
    (_close_endpoint, "way to Secrets Manager", "vpc.endpoint_security_groups = "),
    (_turn_names_off, "endpoint of Secrets Manager", "aws ec2 modify-vpc-attribute "),
    (_make_two_in_a_zone, "endpoint of Secrets Manager", "vpc.endpoint_subnets = "),
    (_publish_from_nowhere, "way to CloudWatch", "vpc.endpoints.monitoring = true"),
]


@pytest.mark.parametrize(
    ("break_it", "where", "begins"), _FAULTS, ids=[each.__name__[1:] for each, *_ in _FAULTS]
)
def test_the_line_that_is_printed_repairs_the_fault(
    break_it: Breaks, where: str, begins: str, account: FakeAccount, tmp_path: Path
) -> None:
    document = account.document()
    break_it(account, document)
    (found,) = _bad(_find(account, document))
    assert found.check == where
    assert found.what
    assert found.why
    assert found.repair is not None
    assert found.repair.startswith(begins)
    (tmp_path / "login.json").write_text('{"username": "lag-monitor", "password": "new"}')
    if found.repair.startswith("aws "):
        run_aws_line(account.session, found.repair, tmp_path)
    else:
        write_key(document, found.repair)
    assert _bad(_find(account, document)) == []


def test_a_key_that_is_to_be_deleted_is_brought_back_in_two_steps(
    account: FakeAccount, tmp_path: Path
) -> None:
    account.kms.schedule_key_deletion(KeyId=account.key_id)
    for begins in ("aws kms cancel-key-deletion ", "aws kms enable-key "):
        found = _the(_bad(_find(account, account.document())), "secret's key")
        assert found.repair is not None
        assert found.repair.startswith(begins)
        run_aws_line(account.session, found.repair, tmp_path)
    assert _bad(_find(account, account.document())) == []


@pytest.mark.parametrize("was_there", [True, False], ids=["another name", "none"])
def test_a_secret_is_made_by_the_line_that_is_printed(
    was_there: bool, account: FakeAccount, tmp_path: Path
) -> None:
    document = account.document()
    if was_there:
        _auth(document)["secret_arn"] = account.new_secret("lag_monitor_2")
        name = "AmazonMSK_lag_monitor_2"
    else:
        _auth(document)["secret_arn"] = account.secret.replace("lag_monitor-", "absent-")
        name = "AmazonMSK_absent"
    (found,) = _bad(_find(account, document))
    assert found.repair is not None
    assert found.repair.startswith(f"aws secretsmanager create-secret --name {name} ")
    (tmp_path / "login.json").write_text('{"username": "lag-monitor", "password": "new"}')
    made = run_aws_line(account.session, found.repair, tmp_path)
    _auth(document)["secret_arn"] = made["ARN"]
    # MSK does not know the new one yet.
    (next_one,) = _bad(_find(account, document))
    run_aws_line(account.session, str(next_one.repair), tmp_path)
    assert _bad(_find(account, document)) == []


def test_no_secret_is_shown(account: FakeAccount) -> None:
    for break_it in (_write_text, _forget_password):
        break_it(account, {})
        assert PASSWORD not in repr(_find(account, account.document()))


def test_enabling_a_login_leaves_the_others_enabled(account: FakeAccount, tmp_path: Path) -> None:
    account.cluster["Provisioned"]["ClientAuthentication"] = {
        "Sasl": {"Iam": {"Enabled": True}, "Scram": {"Enabled": False}},
        "Tls": {"Enabled": False, "CertificateAuthorityArnList": []},
    }
    (found,) = _bad(_find(account, account.document()))
    run_aws_line(account.session, str(found.repair), tmp_path)
    assert account.cluster["Provisioned"]["ClientAuthentication"] == {
        "Sasl": {"Iam": {"Enabled": True}, "Scram": {"Enabled": True}}
    }


def test_enabling_a_login_locks_nobody_out_of_an_open_cluster(
    account: FakeAccount, tmp_path: Path
) -> None:
    account.cluster["Provisioned"]["ClientAuthentication"] = {}
    (found,) = _bad(_find(account, account.document()))
    run_aws_line(account.session, str(found.repair), tmp_path)
    assert account.cluster["Provisioned"]["ClientAuthentication"] == {
        "Sasl": {"Scram": {"Enabled": True}},
        "Unauthenticated": {"Enabled": True},
    }


def test_a_cluster_is_never_opened_to_everybody(account: FakeAccount) -> None:
    for auth in ({"type": "none"}, {"type": "none", "plaintext": True}):
        found = _the(_bad(_find(account, account.document(auth=auth))), "login enabled")
        assert found.severity == "fault"
        assert found.repair is None


def test_a_client_certificate_is_looked_for_in_its_secret(account: FakeAccount) -> None:
    account.cluster["Provisioned"]["ClientAuthentication"] = {"Tls": {"Enabled": True}}
    document = account.document()
    _auth(document).update(type="tls", secret_arn=account.new_secret("certificate"))
    assert _the(_bad(_find(account, document)), "login in the secret").what == (
        "it has no certificate and no private_key"
    )
    _auth(document)["secret_arn"] = account.new_secret("other", json.dumps(_TLS_FIELDS))
    assert _bad(_find(account, document)) == []


@pytest.mark.parametrize(
    ("right", "where"),
    [
        ("kafka:DescribeClusterV2", "MSK cluster"),
        ("kafka:ListScramSecrets", "secret of the cluster"),
        ("secretsmanager:DescribeSecret", "secret"),
        ("secretsmanager:GetSecretValue", "login in the secret"),
        ("kms:DescribeKey", "secret's key"),
        ("ec2:DescribeSecurityGroups", "brokers' security group"),
    ],
)
def test_a_right_that_is_missing_is_named_and_its_check_is_not_ok(
    right: str, where: str, account: FakeAccount
) -> None:
    account.session.denied = {right}
    findings = _find(account, account.document())
    (found,) = [each for each in findings if each.check == where and each.severity != "ok"]
    assert found.severity == "unknown"
    assert right in found.what
    assert right in found.why
    assert [each for each in _bad(findings) if each.severity != "unknown"] == []


def test_without_a_right_on_subnets_no_check_of_the_network_is_ok(account: FakeAccount) -> None:
    account.session.denied = {"ec2:DescribeSubnets"}
    findings = _find(account, account.document())
    for where in ("subnets", "way to S3", "way to Secrets Manager"):
        assert _the(findings, where).severity == "unknown"
        assert "ec2:DescribeSubnets" in _the(findings, where).what


def test_credentials_of_another_account_end_the_look(account: FakeAccount) -> None:
    elsewhere = ARN.replace(ACCOUNT, "210987654321")
    secret = account.secret.replace(ACCOUNT, "210987654321")
    document = account.document(arn=elsewhere)
    _auth(document)["secret_arn"] = secret
    findings = _find(account, document)
    assert [each.check for each in findings[:2]] == ["clock", "AWS credentials"]
    assert {each.severity for each in findings[2:]} == {"unknown"}
    assert ACCOUNT in findings[1].what
    assert "210987654321" in findings[1].what
    assert findings[1].severity == "fault"


@pytest.mark.parametrize(
    ("seconds", "severity"), [(0, "ok"), (-20, "ok"), (120, "warning"), (-400, "fault")]
)
def test_the_clock_is_compared_with_aws(seconds: int, severity: str, account: FakeAccount) -> None:
    findings = _find(account, account.document(), clock=lambda: time.time() + seconds)
    found = _the(findings, "clock")
    assert found.severity == severity
    if severity != "ok":
        assert ("ahead of" if seconds > 0 else "behind") in found.what
        assert found.repair == "sudo timedatectl set-ntp true"


class _RejectedSts:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def get_caller_identity(self) -> None:
        raise self.error


def test_without_credentials_nothing_is_ok_and_nothing_at_fault(account: FakeAccount) -> None:
    account.session.fakes["sts"] = _RejectedSts(NoCredentialsError())
    findings = _find(account, account.document())
    assert findings[0].repair == "aws configure"
    assert {each.severity for each in findings} == {"unknown"}
    assert {"MSK cluster", "secret", "subnets", "alarms"} < {each.check for each in findings}
    assert exit_code(findings) == 4


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Credentials that moto takes, and a folder."""
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    return tmp_path


def test_a_document_is_looked_at_by_its_file(account: FakeAccount, environment: Path) -> None:
    # Moto knows no cluster of ours.
    cluster = {
        **account.document()["clusters"][0],
        "arn": None,
        "region": REGION,
        "bootstrap_servers": ["b-1:9096"],
    }
    document = {"clusters": [cluster, {**cluster, "name": "second"}]}
    path = environment / "deployment.json"
    path.write_text(json.dumps(document))
    with pytest.raises(ConfigError, match="choose one by --cluster"):
        check_document(path, None, None)
    findings = check_document(path, "second", None)
    assert _the(findings, "MSK cluster").severity == "info"
    assert _the(findings, "subnets").severity == "ok"


def test_the_document_of_one_collector_says_nothing_of_aws(tmp_path: Path) -> None:
    (tmp_path / "shop.json").write_text(json.dumps(GOOD))
    assert check_document(tmp_path / "shop.json", None, None) == []


def test_a_document_with_faults_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "faulty.toml").write_text("clusters = []")
    with pytest.raises(ConfigError, match="faults"):
        check_document(tmp_path / "faulty.toml", None, None)


@pytest.mark.parametrize(
    ("code", "repair"),
    [
        ("ExpiredToken", "aws sso login"),
        ("InvalidClientTokenId", "aws configure list"),
    ],
)
def test_credentials_that_aws_does_not_take_are_a_fault(
    code: str, repair: str, account: FakeAccount
) -> None:
    account.session.fakes["sts"] = _RejectedSts(client_error(code, "GetCallerIdentity"))
    findings = _find(account, account.document())
    assert _the(findings, "AWS credentials").repair == repair
    assert _the(findings, "AWS credentials").severity == "fault"
    assert _the(findings, "clock").severity == "unknown"


def test_an_internet_gateway_is_no_way_out(account: FakeAccount) -> None:
    account.cut_off()
    account.route_to_internet(account.tables)
    found = _the(_find(account, account.document()), "way to Secrets Manager")
    assert found.severity == "fault"
    assert "no public address" in found.what


class _DeadNat:
    """EC2 whose NAT gateways were deleted, which moto does not show in routes."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def get_paginator(self, operation: str) -> Any:
        if operation == "describe_route_tables":
            return self
        return self._client.get_paginator(operation)

    def paginate(self, **request: Any) -> Iterator[Any]:
        for page in self._client.get_paginator("describe_route_tables").paginate(**request):
            for table in page["RouteTables"]:
                for route in table["Routes"]:
                    route["State"] = "blackhole" if "NatGatewayId" in route else "active"
            yield page


def test_a_nat_gateway_that_is_gone_is_no_way_out(account: FakeAccount) -> None:
    account.session.fakes["ec2"] = _DeadNat(account.ec2)
    found = _the(_find(account, account.document()), "way to Secrets Manager")
    assert found.severity == "fault"
    assert "the target of the default route is gone" in found.what


def test_a_transit_gateway_is_said_to_lead_somewhere_unseen(account: FakeAccount) -> None:
    account.cut_off()
    transit = account.ec2.create_transit_gateway()["TransitGateway"]["TransitGatewayId"]
    for table in account.tables:
        account.route(table, TransitGatewayId=transit)
    found = _the(_find(account, account.document()), "way to Secrets Manager")
    assert found.severity == "unknown"


def test_brokers_that_let_the_subnets_in_need_no_group_in_the_document(
    account: FakeAccount,
) -> None:
    account.let_in(account.brokers, "10.0.0.0/16", 9096)
    document = account.document()
    _name_no_group(account, document)
    assert _bad(_find(account, document)) == []


@pytest.mark.parametrize(
    ("cidr", "port"), [("10.0.0.0/16", 9094), ("10.0.0.0/24", 9096)], ids=["port", "one subnet"]
)
def test_brokers_that_let_part_of_it_in_are_a_fault(
    cidr: str, port: int, account: FakeAccount
) -> None:
    account.let_in(account.brokers, cidr, port)
    document = account.document()
    _name_no_group(account, document)
    assert _the(_bad(_find(account, document)), "brokers' security group").severity == "fault"


def test_a_group_of_another_vpc_is_a_fault_where_msk_is_not_asked(account: FakeAccount) -> None:
    document = account.document(arn=None, region=REGION, bootstrap_servers=["b-1:9096"])
    assert _bad(_find(account, document)) == []
    _name_foreign_group(account, document)
    (found,) = _bad(_find(account, document))
    assert f"not of {account.vpc}" in found.what


def test_an_endpoint_without_a_private_name_is_no_way_and_in_nobodys_way(
    account: FakeAccount, tmp_path: Path
) -> None:
    endpoint = account.new_interface(
        "secretsmanager", account.new_group("endpoint"), private_name=False
    )
    assert _bad(_find(account, account.document())) == []
    account.cut_off()
    (found,) = _bad(_find(account, account.document()))
    assert f"{endpoint} has no private name" in found.what
    assert str(found.repair).startswith("aws ec2 modify-vpc-endpoint ")
    # Moto takes the line, and does not do what it says.
    run_aws_line(account.session, str(found.repair), tmp_path)


def _deploy(account: FakeAccount, resources: dict[str, Any] | None = None) -> None:
    template = {
        "Resources": resources or {"Topic": {"Type": "AWS::SNS::Topic"}},
        "Outputs": {"Function": {"Value": "the-function"}, "LogGroup": {"Value": "/the/log"}},
    }
    account.session.client("cloudformation").create_stack(
        StackName="kafka-lag-orders", TemplateBody=json.dumps(template)
    )


def test_an_endpoint_of_the_stack_itself_is_not_made_twice(account: FakeAccount) -> None:
    account.remove_gateway()
    endpoint = {
        "Type": "AWS::EC2::VPCEndpoint",
        "Properties": {
            "VpcId": account.vpc,
            "VpcEndpointType": "Gateway",
            "ServiceName": f"com.amazonaws.{REGION}.s3",
            "RouteTableIds": account.tables,
        },
    }
    _deploy(account, {"Endpoint": endpoint})
    document = account.document()
    _make_s3_twice(account, document)
    assert _bad(_find(account, document)) == []


class _FakeLambda(FakeLambda):
    """Answers each event with one payload, or an error."""

    def __init__(self, payload: Any = None, *, failed: bool = False, error: str = "") -> None:
        super().__init__()
        self.payload, self.failed, self.error = payload, failed, error
        self.events: list[tuple[str, Any]] = []

    def invoke(self, **request: Any) -> dict[str, Any]:
        if self.error:
            raise client_error(self.error, "Invoke")
        self.events.append((request["FunctionName"], json.loads(request["Payload"])))
        body = {"Payload": io.BytesIO(json.dumps(self.payload).encode())}
        return {**body, "FunctionError": "Unhandled"} if self.failed else body


def _run(account: FakeAccount, answer: _FakeLambda) -> Finding:
    _deploy(account)
    account.session.fakes["lambda"] = answer
    return _the(_find(account, account.document(), invoke=True, clock=lambda: _NOW), "run")


_NOW = 1_769_860_812.5


def test_a_run_is_started_for_the_minute_of_now(account: FakeAccount) -> None:
    answer = _FakeLambda({"groups": 7, "objects_written": 4})
    found = _run(account, answer)
    event = {"cluster": "orders", "scheduled_time": "2026-01-31T12:00:00Z"}
    assert answer.events == [("the-function", event)]
    assert found.severity == "ok"
    assert found.what == "it succeeded: 7 groups, and it wrote 4 objects"


def test_a_run_is_started_on_request_alone(account: FakeAccount) -> None:
    _deploy(account)
    account.session.fakes["lambda"] = answer = _FakeLambda({"groups": 7, "objects_written": 4})
    _find(account, account.document())
    assert answer.events == []


@pytest.mark.parametrize(
    ("payload", "what", "why"),
    [
        (
            {"errorType": "LoginError", "errorMessage": "The brokers rejected the login."},
            "The brokers rejected the login.",
            "login and secret",
        ),
        (
            {
                "errorType": "Sandbox.Timedout",
                "errorMessage": "RequestId: 1 Error: Task timed out after 55.00 seconds",
            },
            "it was ended by its time limit",
            "endpoint or NAT",
        ),
        (
            {
                "errorType": "StoreError",
                "errorMessage": "Cannot write x in bucket b (AccessDenied).",
            },
            "Cannot write x in bucket b (AccessDenied).",
            "right of the function's role",
        ),
        (
            {"errorType": "Runtime.ImportModuleError", "errorMessage": "No module named numpy"},
            "Runtime.ImportModuleError: No module named numpy",
            "deploy again",
        ),
        (
            {
                "errorType": "Runtime.ExitError",
                "errorMessage": "Error: Runtime exited with error: signal: killed",
            },
            "Runtime.ExitError: Error: Runtime exited with error: signal: killed",
            "function.memory_mb",
        ),
        (
            {"errorType": "SourceError", "errorMessage": "group \x1b[31m"},
            "group \\x1b[31m",
            "brokers' security group",
        ),
    ],
    ids=["login", "time limit", "denied", "package", "memory", "a stranger's name"],
)
def test_a_run_that_failed_is_explained(
    payload: dict[str, str], what: str, why: str, account: FakeAccount
) -> None:
    found = _run(account, _FakeLambda(payload, failed=True))
    assert found.severity == "fault"
    assert found.what == what
    assert why in found.why
    assert found.repair == f"aws logs tail /the/log --since 10m --region {REGION}"


def test_a_run_that_saw_no_group_is_a_warning(account: FakeAccount) -> None:
    found = _run(account, _FakeLambda({"groups": 0, "objects_written": 4}))
    assert found.severity == "warning"


@pytest.mark.parametrize(
    ("error", "severity", "why"),
    [
        ("AccessDeniedException", "unknown", "allow lambda:InvokeFunction"),
        ("TooManyRequestsException", "unknown", "try again"),
        ("ResourceNotFoundException", "fault", "deploy again"),
    ],
)
def test_a_run_that_could_not_start_is_explained(
    error: str, severity: str, why: str, account: FakeAccount
) -> None:
    found = _run(account, _FakeLambda(error=error))
    assert found.severity == severity
    assert why in found.why


def test_a_cluster_that_is_not_deployed_cannot_run(account: FakeAccount) -> None:
    found = _the(_find(account, account.document(), invoke=True), "run")
    assert found.severity == "fault"
    assert "kafka-lag-orders" in found.what
    assert "make deploy" in found.why
