# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag doctor --config` in an account that is healthy except for one fault."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from botocore.exceptions import NoCredentialsError
from moto import mock_aws

from kafka_lag_cli.doctor.deployment import check_deployment, check_document
from kafka_lag_cli.doctor.findings import Finding, exit_code
from kafka_lag_config.reading import check
from tests.cli.fake_aws import (
    ACCOUNT,
    ARN,
    PASSWORD,
    REGION,
    FakeAccount,
    client_error,
    run_aws_line,
    without_ids,
    write_key,
)
from tests.golden import Golden

_OTHER_ARN = ARN.replace("3f2a1b0c", "4f2a1b0c")
_NO_SUBNET = "subnet-0a1b2c3d4e5f60718"
_LOGIN = '{"username": "lag-monitor", "password": "new"}'

Document = dict[str, Any]
Breaks = Callable[[FakeAccount, Document], object]


@pytest.fixture
def account() -> Iterator[FakeAccount]:
    with mock_aws():
        yield FakeAccount()


def _find(account: FakeAccount, document: Document | None = None, **options: Any) -> list[Finding]:
    deployment = check(document or account.document(), "the test's document", Path())
    return check_deployment(deployment, deployment.clusters[0], account.session, **options)


def _bad(findings: list[Finding]) -> list[Finding]:
    return [each for each in findings if each.severity in ("fault", "warning", "unknown")]


def _the(findings: list[Finding], name: str) -> Finding:
    (found,) = [each for each in findings if each.check == name]
    return found


def _line(found: Finding) -> str:
    """A finding with what follows from it, and the line that repairs it."""
    parts = [f"{found.severity} {found.check}: {found.what}", found.why, found.repair]
    return without_ids(" | ".join(part for part in parts if part))


def test_nothing_is_found_where_all_is_well(account: FakeAccount) -> None:
    findings = _find(account)
    assert {each.severity for each in findings} == {"ok"}
    assert {each.check for each in findings} == {
        *("AWS credentials", "MSK cluster", "login enabled"),
        *("secret", "secret's key", "secret of the cluster", "login in the secret"),
        *("subnets", "brokers' security group", "way to S3", "way to Secrets Manager"),
        "concurrency",
    }


def _vpc(document: Document) -> dict[str, Any]:
    vpc: dict[str, Any] = document["clusters"][0]["vpc"]
    return vpc


def _auth(document: Document) -> dict[str, Any]:
    auth: dict[str, Any] = document["clusters"][0]["auth"]
    return auth


def _vpc_has(**changes: Any) -> Breaks:
    return lambda _, document: _vpc(document).update(changes)


def _auth_is(
    enabled: dict[str, Any] | None, auth: dict[str, Any], transport: str = "TLS"
) -> Breaks:
    """MSK has these logins, and the document this one; None leaves either as it is."""

    def breaks(account: FakeAccount, document: Document) -> None:
        provisioned = account.cluster["Provisioned"]
        if enabled is not None:
            provisioned["ClientAuthentication"] = enabled
        provisioned["EncryptionInfo"] = {"EncryptionInTransit": {"ClientBroker": transport}}
        document["clusters"][0]["auth"] = auth or document["clusters"][0]["auth"]

    return breaks


def _secret_holds(content: Any) -> Breaks:
    text = content if isinstance(content, str) else json.dumps(content)
    return lambda account, _: account.secrets.put_secret_value(
        SecretId=account.secret, SecretString=text
    )


def _make_cluster_anew(account: FakeAccount, document: Document) -> None:
    # Of another name that begins alike.
    clusters = account.msk.clusters
    account.new_cluster(ARN.replace("orders", "orders-2"), {})
    account.msk.clusters = dict(reversed(clusters.items()))
    document["clusters"][0]["arn"] = _OTHER_ARN


def _take_express(account: FakeAccount, _: Document) -> None:
    account.cluster["Provisioned"]["BrokerNodeGroupInfo"]["InstanceType"] = "express.m7g.large"


def _name_another_key(account: FakeAccount, document: Document) -> None:
    _auth(document)["kms_key_arn"] = account.kms.create_key()["KeyMetadata"]["Arn"]


def _name_subnet_elsewhere(account: FakeAccount, document: Document) -> None:
    other = account.new_subnet("10.1.0.0/24", "b", account.new_vpc("10.1.0.0/16"))
    _vpc(document)["subnets"] = [account.subnets[0], other]


def _name_foreign_group(account: FakeAccount, document: Document) -> None:
    other = account.new_group("elsewhere", account.new_vpc("10.1.0.0/16"))
    _vpc(document)["brokers_security_group"] = other


def _name_no_group(_: FakeAccount, document: Document) -> None:
    del _vpc(document)["brokers_security_group"]


def _cut_off(account: FakeAccount, document: Document) -> None:
    account.cut_off()
    _vpc(document)["cidr"] = "10.0.0.0/16"


def _cut_off_s3(account: FakeAccount, document: Document) -> None:
    account.cut_off()
    account.remove_gateway()
    _auth_is(_IAM, {"type": "iam"})(account, document)


def _leave_out_tables(account: FakeAccount, document: Document) -> None:
    _cut_off_s3(account, document)
    _vpc(document).update(endpoints={"s3": True}, route_tables=account.tables[:1])


def _serve_one_table(account: FakeAccount, document: Document) -> None:
    _cut_off_s3(account, document)
    account.s3 = account.new_gateway(account.tables[:1])


def _publish_from_nowhere(account: FakeAccount, document: Document) -> None:
    _cut_off(account, document)
    _vpc(document).update(endpoints={"secrets_manager": True})
    document["clusters"][0]["sinks"] = ["cloudwatch"]


_IAM = {"Sasl": {"Iam": {"Enabled": True}}}
_NO_TLS = {"type": "none", "plaintext": True}
# Faults that leave the account healthy once they are repaired, or are those of the document alone.
_FAULTS: dict[str, Breaks] = {
    "SCRAM is not enabled": _auth_is(_IAM, {}),
    "IAM is not enabled": _auth_is(None, {"type": "iam"}),
    "a login is needed": _auth_is(_IAM, {"type": "none"}),
    "without TLS": _auth_is({}, _NO_TLS),
    "plaintext alone": _auth_is({}, {}, "PLAINTEXT"),
    "made anew": _make_cluster_anew,
    "express": _take_express,
    "a secret that is not associated": lambda account, _: account.msk.secrets.update({ARN: []}),
    "a deleted secret": lambda account, _: account.secrets.delete_secret(SecretId=account.secret),
    "a disabled key": lambda account, _: account.kms.disable_key(KeyId=account.key_id),
    "a key of AWS": lambda account, _: account.secrets.update_secret(
        SecretId=account.secret, KmsKeyId="alias/aws/secretsmanager"
    ),
    "another key": _name_another_key,
    "a password alone": _secret_holds(PASSWORD),
    "no password": _secret_holds({"username": PASSWORD}),
    "an empty one": _secret_holds({"username": "u", "password": ""}),
    "a line's end in it": _secret_holds({"username": "u", "password": PASSWORD + "\n"}),
    "an absent subnet": lambda account, document: _vpc(document).update(
        subnets=[account.subnets[0], _NO_SUBNET]
    ),
    "a subnet elsewhere": _name_subnet_elsewhere,
    "one zone": lambda account, document: _vpc(document).update(subnets=account.subnets[:1]),
    "another VPC": _vpc_has(id="vpc-0a1b2c3d4e5f60718"),
    "an absent group": _vpc_has(brokers_security_group="sg-0a1b2c3d4e5f60718"),
    "a foreign group": _name_foreign_group,
    "a group of others": lambda account, document: _vpc(document).update(
        brokers_security_group=account.new_group("of others")
    ),
    "no group": _name_no_group,
}
# Faults that the document gets round, each in a network of its own.
_FAULTS_OF_A_NETWORK: dict[str, Breaks] = {
    "no way out": _cut_off,
    "no way to S3": _cut_off_s3,
    "a table is left out": _leave_out_tables,
    "S3 for one table": _serve_one_table,
    "a closed endpoint": lambda account, _: account.new_interface(
        "secretsmanager", account.new_group("endpoint")
    ),
    "metrics from nowhere": _publish_from_nowhere,
}


def _follow(line: str, account: FakeAccount, document: Document, folder: Path) -> None:
    """Does what a line of `doctor` says, in AWS or in the document."""
    if line.startswith("aws "):
        run_aws_line(account.session, line, folder)
    else:
        write_key(document, line)


def test_the_line_that_is_printed_repairs_the_fault(tmp_path: Path, golden: Golden) -> None:
    (tmp_path / "login.json").write_text(_LOGIN)
    lines = []

    def repair(name: str, breaks: Breaks, account: FakeAccount) -> None:
        document = account.document()
        breaks(account, document)
        (found,) = _bad(_find(account, document))
        assert PASSWORD not in repr(found)
        _follow(str(found.repair), account, document, tmp_path)
        assert _bad(_find(account, document)) == [], name
        lines.append(f"{name} -> {_line(found)}")

    with mock_aws():
        account = FakeAccount()
        for name, breaks in _FAULTS.items():
            account.renew_cluster()
            repair(name, breaks, account)
    for name, breaks in _FAULTS_OF_A_NETWORK.items():
        with mock_aws():
            repair(name, breaks, FakeAccount())
    golden.holds("doctor-aws.txt", "\n".join(lines))


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


class _RejectingSts:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def get_caller_identity(self) -> None:
        raise self.error


_RIGHTS = (
    *("kafka:DescribeClusterV2", "kafka:ListScramSecrets", "secretsmanager:DescribeSecret"),
    *("secretsmanager:GetSecretValue", "kms:DescribeKey"),
    *("ec2:DescribeSecurityGroups", "ec2:DescribeSubnets"),
)


def test_what_no_line_repairs_is_named(account: FakeAccount, golden: Golden) -> None:
    lines: list[str] = []

    def look(name: str, *checks: str, **cluster: Any) -> None:
        """Notes the faults of a document, or of these checks alone."""
        found = _bad(_find(account, account.document(**cluster)))
        chosen = [each for each in found if not checks or each.check in checks]
        lines.extend(f"{name} -> {_line(each)}" for each in chosen)

    # A cluster is never opened to everybody.
    look("no login", auth={"type": "none"})
    look("no login, no TLS", auth=_NO_TLS)
    for state in ("DELETING", "UPDATING"):
        account.cluster["State"] = state
        look(f"a cluster that is {state}")
    account.cluster["State"] = "ACTIVE"
    for right in _RIGHTS:
        account.session.denied = {right}
        look(right)
    account.session.denied = set()
    for code in ("ExpiredToken", "InvalidClientTokenId"):
        account.session.fakes["sts"] = _RejectingSts(client_error(code, "GetCallerIdentity"))
        look(code, "AWS credentials")
    del account.session.fakes["sts"]
    foreign = ARN.replace(ACCOUNT, "210987654321")
    secret = {"type": "scram", "secret_arn": account.secret.replace(ACCOUNT, "210987654321")}
    look("credentials of another account", arn=foreign, auth=secret | {"kms_key_arn": account.key})
    account.session.fakes["ec2"] = _DeadNat(account.ec2)
    look("a NAT gateway that is gone")
    del account.session.fakes["ec2"]
    account.cut_off()
    account.route_to_internet(account.tables)
    look("an internet gateway")
    golden.holds("doctor-aws-named.txt", "\n".join(lines))


def test_a_key_that_is_to_be_deleted_is_brought_back_in_two_steps(
    account: FakeAccount, tmp_path: Path
) -> None:
    account.kms.schedule_key_deletion(KeyId=account.key_id)
    for begins in ("aws kms cancel-key-deletion ", "aws kms enable-key "):
        found = _the(_bad(_find(account)), "secret's key")
        assert str(found.repair).startswith(begins)
        run_aws_line(account.session, str(found.repair), tmp_path)
    assert _bad(_find(account)) == []


def test_a_secret_is_made_by_the_line_that_is_printed(account: FakeAccount, tmp_path: Path) -> None:
    (tmp_path / "login.json").write_text(_LOGIN)
    for arn, name in (
        (account.new_secret("lag_monitor_2"), "AmazonMSK_lag_monitor_2"),
        (account.secret.replace("lag_monitor-", "absent-"), "AmazonMSK_absent"),
    ):
        document = account.document()
        _auth(document)["secret_arn"] = arn
        (found,) = _bad(_find(account, document))
        assert str(found.repair).startswith(f"aws secretsmanager create-secret --name {name} ")
        made = run_aws_line(account.session, str(found.repair), tmp_path)
        _auth(document)["secret_arn"] = made["ARN"]
        # MSK does not know the new one yet.
        (next_one,) = _bad(_find(account, document))
        run_aws_line(account.session, str(next_one.repair), tmp_path)
        assert _bad(_find(account, document)) == []


def test_enabling_a_login_leaves_the_others_enabled(account: FakeAccount, tmp_path: Path) -> None:
    off: dict[str, Any] = {"Enabled": False}
    scram: dict[str, Any] = {"Scram": {"Enabled": True}}
    unused = {"Tls": off | {"CertificateAuthorityArnList": []}}
    for before, after in (
        ({"Sasl": _IAM["Sasl"] | {"Scram": off}} | unused, {"Sasl": _IAM["Sasl"] | scram}),
        # An open cluster locks nobody out.
        ({}, {"Sasl": scram, "Unauthenticated": {"Enabled": True}}),
    ):
        account.cluster["Provisioned"]["ClientAuthentication"] = before
        (found,) = _bad(_find(account))
        run_aws_line(account.session, str(found.repair), tmp_path)
        assert account.cluster["Provisioned"]["ClientAuthentication"] == after


def test_a_client_certificate_is_looked_for_in_its_secret(account: FakeAccount) -> None:
    account.cluster["Provisioned"]["ClientAuthentication"] = {"Tls": {"Enabled": True}}
    document = account.document()
    _auth(document).update(type="tls", secret_arn=account.new_secret("certificate"))
    found = _the(_bad(_find(account, document)), "login in the secret")
    assert found.what == "it has no certificate and no private_key"
    fields = json.dumps({"certificate": "-----BEGIN", "private_key": "-----BEGIN"})
    _auth(document)["secret_arn"] = account.new_secret("other", fields)
    assert _bad(_find(account, document)) == []


def test_without_credentials_nothing_is_ok_and_nothing_at_fault(account: FakeAccount) -> None:
    account.session.fakes["sts"] = _RejectingSts(NoCredentialsError())
    findings = _find(account)
    assert findings[0].repair == "aws configure"
    assert {each.severity for each in findings} == {"unknown"}
    assert {"MSK cluster", "secret", "subnets", "concurrency"} < {each.check for each in findings}
    assert exit_code(findings) == 4


@pytest.mark.usefixtures("aws_keys")
def test_a_document_is_looked_at_by_its_file(account: FakeAccount, tmp_path: Path) -> None:
    # Moto knows no cluster of ours.
    place = {"arn": None, "region": REGION, "bootstrap_servers": ["b-1:9096"]}
    document = account.document(**place)
    document["clusters"].append({**document["clusters"][0], "name": "second"})
    path = tmp_path / "deployment.json"
    path.write_text(json.dumps(document))
    with pytest.raises(click.UsageError, match="choose one by --cluster"):
        check_document(path, None, None)
    findings = check_document(path, "second", None)
    assert _the(findings, "MSK cluster").severity == "info"
    assert _the(findings, "subnets").severity == "ok"


def test_brokers_that_let_the_subnets_in_need_no_group_in_the_document(
    account: FakeAccount,
) -> None:
    document = account.document()
    _name_no_group(account, document)
    for cidr, port, severity in (
        ("10.0.0.0/16", 9094, "fault"),
        ("10.0.0.0/24", 9096, "fault"),
        ("10.0.0.0/16", 9096, "ok"),
    ):
        account.let_in(account.brokers, cidr, port)
        found = _the(_find(account, document), "brokers' security group")
        assert found.severity == severity


def test_a_group_of_another_vpc_is_a_fault_where_msk_is_not_asked(account: FakeAccount) -> None:
    document = account.document(arn=None, region=REGION, bootstrap_servers=["b-1:9096"])
    assert _bad(_find(account, document)) == []
    _name_foreign_group(account, document)
    (found,) = _bad(_find(account, document))
    assert found.what.startswith(f"{account.vpc} has no security group ")


def test_an_endpoint_without_a_private_name_is_no_way_and_in_nobodys_way(
    account: FakeAccount, tmp_path: Path
) -> None:
    group = account.new_group("endpoint")
    endpoint = account.new_interface("secretsmanager", group, private_name=False)
    assert _bad(_find(account)) == []
    account.cut_off()
    (found,) = _bad(_find(account))
    assert f"{endpoint} has no private name" in found.what
    assert str(found.repair).startswith("aws ec2 modify-vpc-endpoint ")
    # Moto takes the line, and does not do what it says.
    run_aws_line(account.session, str(found.repair), tmp_path)
