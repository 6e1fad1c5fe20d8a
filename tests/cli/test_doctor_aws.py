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
    without_ids,
    write_key,
)
from tests.golden import Golden

_OTHER_ARN = ARN.replace("3f2a1b0c", "4f2a1b0c")
_NO_SUBNET = "subnet-0a1b2c3d4e5f60718"
_TLS_FIELDS = {"certificate": "-----BEGIN", "private_key": "-----BEGIN"}

Document = dict[str, Any]
Breaks = Callable[[FakeAccount, Document], object]


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


def _vpc_has(**changes: Any) -> Breaks:
    return lambda _, document: document["clusters"][0]["vpc"].update(changes)


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


def _make_s3_twice(account: FakeAccount, document: Document) -> None:
    _vpc(document).update(endpoints={"s3": True}, route_tables=account.tables)


def _make_secrets_manager_twice(account: FakeAccount, document: Document) -> None:
    group = account.new_group("endpoint")
    account.let_in(group, "10.0.0.0/16", 443)
    account.new_interface("secretsmanager", group)
    _vpc(document).update(endpoints={"secrets_manager": True}, cidr="10.0.0.0/16")


def _turn_names_off(account: FakeAccount, document: Document) -> None:
    account.ec2.modify_vpc_attribute(VpcId=account.vpc, EnableDnsHostnames={"Value": False})
    _vpc(document).update(endpoints={"secrets_manager": True}, cidr="10.0.0.0/16")


def _make_two_in_a_zone(account: FakeAccount, document: Document) -> None:
    subnets = [*account.subnets, account.new_subnet("10.0.7.0/24", "a")]
    made = {"endpoints": {"secrets_manager": True}, "cidr": "10.0.0.0/16"}
    _vpc(document).update(endpoint_subnets=subnets, **made)


def _publish_from_nowhere(account: FakeAccount, document: Document) -> None:
    _cut_off(account, document)
    _vpc(document).update(endpoints={"secrets_manager": True})
    document["clusters"][0]["sinks"] = ["cloudwatch"]


_IAM = {"Sasl": {"Iam": {"Enabled": True}}}
_NO_TLS = {"type": "none", "plaintext": True}
_UNENDED = {"username": "lag-monitor", "password": PASSWORD + "\n"}
_SECURITY, _PUT = "aws kafka update-security ", "aws secretsmanager put-secret-value "
_GROUP = "vpc.brokers_security_group = "
# What is broken, the check that says so, and how the line that repairs it begins.
_FAULTS: dict[str, tuple[Breaks, str, str]] = {
    "SCRAM is not enabled": (_auth_is(_IAM, {}), "login enabled", _SECURITY),
    "IAM is not enabled": (_auth_is(None, {"type": "iam"}), "login enabled", _SECURITY),
    "a login is needed": (
        _auth_is(_IAM, {"type": "none"}),
        "login enabled",
        'auth = { type = "iam" }',
    ),
    "without TLS": (_auth_is({}, _NO_TLS), "login enabled", 'auth = { type = "none" }'),
    "plaintext alone": (_auth_is({}, {}, "PLAINTEXT"), "login enabled", _SECURITY),
    "made anew": (_make_cluster_anew, "MSK cluster", "arn = "),
    "express": (_take_express, "MSK cluster", 'broker_type = "express"'),
    "a secret that is not associated": (
        lambda account, _: account.msk.secrets.update({ARN: []}),
        "secret of the cluster",
        "aws kafka batch-associate-scram-secret ",
    ),
    "a deleted secret": (
        lambda account, _: account.secrets.delete_secret(SecretId=account.secret),
        "secret",
        "aws secretsmanager restore-secret ",
    ),
    "a disabled key": (
        lambda account, _: account.kms.disable_key(KeyId=account.key_id),
        "secret's key",
        "aws kms enable-key ",
    ),
    "a key of AWS": (
        lambda account, _: account.secrets.update_secret(
            SecretId=account.secret, KmsKeyId="alias/aws/secretsmanager"
        ),
        "secret's key",
        "aws secretsmanager update-secret ",
    ),
    "another key": (_name_another_key, "secret's key", "auth.kms_key_arn = "),
    "a password alone": (_secret_holds(PASSWORD), "login in the secret", _PUT),
    "no password": (_secret_holds({"username": PASSWORD}), "login in the secret", _PUT),
    "an empty one": (_secret_holds({"username": "u", "password": ""}), "login in the secret", _PUT),
    "a line's end in it": (_secret_holds(_UNENDED), "login in the secret", _PUT),
    "an absent subnet": (
        lambda account, document: _vpc(document).update(subnets=[account.subnets[0], _NO_SUBNET]),
        "subnets",
        "vpc.subnets = ",
    ),
    "a subnet elsewhere": (_name_subnet_elsewhere, "subnets", "vpc.subnets = "),
    "one zone": (
        lambda account, document: _vpc(document).update(subnets=account.subnets[:1]),
        "subnets",
        "vpc.subnets = ",
    ),
    "another VPC": (_vpc_has(id="vpc-0a1b2c3d4e5f60718"), "subnets", "vpc.id = "),
    "an absent group": (
        _vpc_has(brokers_security_group="sg-0a1b2c3d4e5f60718"),
        "brokers' security group",
        _GROUP,
    ),
    "a foreign group": (_name_foreign_group, "brokers' security group", _GROUP),
    "a group of others": (
        lambda account, document: _vpc(document).update(
            brokers_security_group=account.new_group("of others")
        ),
        "brokers' security group",
        _GROUP,
    ),
    "no group": (_name_no_group, "brokers' security group", _GROUP),
    "no way out": (_cut_off, "way to Secrets Manager", "vpc.endpoints.secrets_manager = true"),
    "no way to S3": (_cut_off_s3, "way to S3", "aws ec2 create-vpc-endpoint "),
    "a table is left out": (_leave_out_tables, "way to S3", "vpc.route_tables = "),
    "S3 for one table": (_serve_one_table, "way to S3", "aws ec2 modify-vpc-endpoint "),
    "S3 twice": (_make_s3_twice, "endpoint of S3", "vpc.endpoints.s3 = false"),
    "Secrets Manager twice": (
        _make_secrets_manager_twice,
        "endpoint of Secrets Manager",
        "vpc.endpoints.secrets_manager = false",
    ),
    "a closed endpoint": (
        lambda account, _: account.new_interface("secretsmanager", account.new_group("endpoint")),
        "way to Secrets Manager",
        "vpc.endpoint_security_groups = ",
    ),
    "names are off": (
        _turn_names_off,
        "endpoint of Secrets Manager",
        "aws ec2 modify-vpc-attribute ",
    ),
    "two in a zone": (
        _make_two_in_a_zone,
        "endpoint of Secrets Manager",
        "vpc.endpoint_subnets = ",
    ),
    "metrics from nowhere": (
        _publish_from_nowhere,
        "way to CloudWatch",
        "vpc.endpoints.monitoring = true",
    ),
}


def _line(found: Finding) -> str:
    """A finding with what follows from it, and the line that repairs it."""
    parts = [f"{found.severity} {found.check}: {found.what}", found.why, found.repair]
    return without_ids(" | ".join(part for part in parts if part))


def test_the_line_that_is_printed_repairs_the_fault(tmp_path: Path, golden: Golden) -> None:
    (tmp_path / "login.json").write_text('{"username": "lag-monitor", "password": "new"}')
    lines = []
    for name, (break_it, where, begins) in _FAULTS.items():
        with mock_aws():
            account = FakeAccount()
            document = account.document()
            break_it(account, document)
            (found,) = _bad(_find(account, document))
            assert found.check == where
            assert PASSWORD not in repr(found)
            assert str(found.repair).startswith(begins)
            if begins.startswith("aws "):
                run_aws_line(account.session, str(found.repair), tmp_path)
            else:
                write_key(document, str(found.repair))
            assert _bad(_find(account, document)) == [], name
            lines.append(f"{name} -> {_line(found)}")
    golden.holds("doctor-aws.txt", "\n".join(lines))


@pytest.mark.parametrize(("state", "severity"), [("DELETING", "fault"), ("UPDATING", "warning")])
def test_a_cluster_that_is_being_deleted_is_a_fault(
    state: str, severity: str, account: FakeAccount
) -> None:
    account.cluster["State"] = state
    assert _the(_find(account, account.document()), "MSK cluster").severity == severity


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
        ("ec2:DescribeSubnets", "subnets"),
        ("ec2:DescribeSubnets", "way to S3"),
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
    assert [each for each in _bad(findings) if each.severity != "unknown"] == []


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


@pytest.mark.parametrize(
    ("cidr", "port", "is_fault"),
    [("10.0.0.0/16", 9096, False), ("10.0.0.0/16", 9094, True), ("10.0.0.0/24", 9096, True)],
    ids=["all", "another port", "one subnet"],
)
def test_brokers_that_let_the_subnets_in_need_no_group_in_the_document(
    cidr: str, port: int, is_fault: bool, account: FakeAccount
) -> None:
    account.let_in(account.brokers, cidr, port)
    document = account.document()
    _name_no_group(account, document)
    found = _the(_find(account, document), "brokers' security group")
    assert found.severity == ("fault" if is_fault else "ok")


def test_a_cluster_is_never_opened_to_everybody(account: FakeAccount) -> None:
    for auth in ({"type": "none"}, _NO_TLS):
        found = _the(_bad(_find(account, account.document(auth=auth))), "login enabled")
        assert (found.severity, found.repair) == ("fault", None)


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


_NOW = 1_769_860_812.5


def _run(account: FakeAccount, answer: _FakeLambda) -> Finding:
    account.session.fakes["lambda"] = answer
    return _the(_find(account, account.document(), invoke=True, clock=lambda: _NOW), "run")


def _failed(kind: str, message: str) -> _FakeLambda:
    return _FakeLambda({"errorType": kind, "errorMessage": message}, failed=True)


_TIMED_OUT = "RequestId: 1 Error: Task timed out after 55.00 seconds"
_ANSWERS = {
    "it saw groups": (_FakeLambda({"groups": 7, "objects_written": 4}), "ok"),
    "it saw none": (_FakeLambda({"groups": 0, "objects_written": 4}), "warning"),
    "login": (_failed("LoginError", "The brokers rejected the login."), "fault"),
    "time limit": (_failed("Sandbox.Timedout", _TIMED_OUT), "fault"),
    "denied": (_failed("StoreError", "Cannot write x in bucket b (AccessDenied)."), "fault"),
    "package": (_failed("Runtime.ImportModuleError", "No module named numpy"), "fault"),
    "memory": (_failed("Runtime.ExitError", "Error: exited with error: signal: killed"), "fault"),
    "a stranger's name": (_failed("SourceError", "group \x1b[31m"), "fault"),
    "no right to start it": (_FakeLambda(error="AccessDeniedException"), "unknown"),
    "too many": (_FakeLambda(error="TooManyRequestsException"), "unknown"),
    "no function": (_FakeLambda(error="ResourceNotFoundException"), "fault"),
}


def test_what_a_run_that_is_started_answers_is_explained(
    account: FakeAccount, golden: Golden
) -> None:
    absent = _the(_find(account, account.document(), invoke=True), "run")
    _deploy(account)
    lines = [f"not deployed -> {_line(absent)}"]
    for name, (answer, severity) in _ANSWERS.items():
        found = _run(account, answer)
        assert found.severity == severity, name
        assert _line(found).isprintable()
        lines.append(f"{name} -> {_line(found)}")
    golden.holds("doctor-run.txt", "\n".join(lines))


def test_a_run_is_started_for_the_minute_of_now_and_on_request_alone(account: FakeAccount) -> None:
    _deploy(account)
    answer = _FakeLambda({"groups": 7, "objects_written": 4})
    account.session.fakes["lambda"] = answer
    _find(account, account.document())
    assert answer.events == []
    _run(account, answer)
    event = {"cluster": "orders", "scheduled_time": "2026-01-31T12:00:00Z"}
    assert answer.events == [("the-function", event)]
