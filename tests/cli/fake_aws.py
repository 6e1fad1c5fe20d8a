# SPDX-License-Identifier: Apache-2.0
"""An account for `init` and `doctor`: moto's, with a fake of MSK.

moto's own MSK knows no logins. The account has a cluster with SCRAM in a VPC, whose private subnets
have a NAT gateway and an S3 endpoint. It has no fault until a test changes something.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import boto3
import tomlkit
from botocore import xform_name
from botocore.exceptions import ClientError
from botocore.validate import validate_parameters
from tomlkit.items import Item, Table

REGION, ACCOUNT = "us-east-1", "123456789012"
ARN = f"arn:aws:kafka:{REGION}:{ACCOUNT}:cluster/orders/3f2a1b0c-5d4e-4f6a-8b7c-9d0e1f2a3b4c-7"
PASSWORD = "correct horse battery staple"

# Moto makes thousands of machine images for each test, which takes most of its time.
os.environ.setdefault("MOTO_AMIS_PATH", str(Path(__file__).with_name("no_images.json")))

# One for all tests: it reads botocore's descriptions of the services once.
_SESSION = boto3.Session("testing", "testing", region_name=REGION)


def client_error(code: str, operation: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": code}}, operation)


class FakeMsk:
    """MSK's control plane of the clusters in `clusters`, as DescribeClusterV2 answers of each."""

    def __init__(self) -> None:
        self.clusters: dict[str, dict[str, Any]] = {}
        self.secrets: dict[str, list[str]] = {}

    def describe_cluster_v2(self, **request: Any) -> dict[str, Any]:
        return {"ClusterInfo": self._cluster("DescribeClusterV2", request)}

    def list_clusters_v2(self, **request: Any) -> dict[str, Any]:
        _validate("ListClustersV2", request)
        begins = request.get("ClusterNameFilter", "")
        found = [each for each in self.clusters.values() if each["ClusterName"].startswith(begins)]
        return _page("ClusterInfoList", found, request)

    def list_scram_secrets(self, **request: Any) -> dict[str, Any]:
        self._cluster("ListScramSecrets", request)
        return _page("SecretArnList", self.secrets.get(request["ClusterArn"], []), request)

    def batch_associate_scram_secret(self, **request: Any) -> dict[str, Any]:
        self._cluster("BatchAssociateScramSecret", request)
        self.secrets.setdefault(request["ClusterArn"], []).extend(request["SecretArnList"])
        return {"UnprocessedScramSecrets": []}

    def update_security(self, **request: Any) -> dict[str, Any]:
        cluster = self._cluster("UpdateSecurity", request)
        if request["CurrentVersion"] != cluster["CurrentVersion"]:
            raise client_error("BadRequestException", "UpdateSecurity")
        provisioned = cluster["Provisioned"]
        provisioned["ClientAuthentication"] = request["ClientAuthentication"]
        provisioned["EncryptionInfo"] |= request.get("EncryptionInfo", {})
        return {}

    def _cluster(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
        _validate(operation, request)
        if request["ClusterArn"] not in self.clusters:
            raise client_error("NotFoundException", operation)
        return self.clusters[request["ClusterArn"]]


@cache
def _client(service: str, region: str = REGION) -> Any:
    make: Any = _SESSION.client
    return make(service, region_name=region)


def _page(name: str, found: list[Any], request: Mapping[str, Any]) -> dict[str, Any]:
    """One of these a page."""
    at = int(request.get("NextToken", 0))
    more = {"NextToken": str(at + 1)} if at + 1 < len(found) else {}
    return {name: found[at : at + 1], **more}


def _model(service: str) -> Any:
    return _client(service).meta.service_model


def _validate(operation: str, request: Mapping[str, Any]) -> None:
    validate_parameters(request, _model("kafka").operation_model(operation).input_shape)


class FakeSession:
    """A session of boto3 with fakes for some services, and without the rights in `denied`."""

    profile_name = "default"

    def __init__(self, fakes: dict[str, Any]) -> None:
        self.fakes = fakes
        self.denied: set[str] = set()

    def client(self, service: str, region_name: str | None = None, config: Any = None) -> Any:
        if service in self.fakes:
            return _WithoutRights(self.fakes[service], service, self.denied)
        if not self.denied:
            return _client(service, region_name or REGION)
        make: Any = _SESSION.client
        client = make(service)
        for right in self.denied:
            prefix, _, operation = right.partition(":")
            if prefix == service:
                client.meta.events.register(f"before-call.*.{operation}", _deny)
        return client


def _deny(model: Any, **_: Any) -> None:
    raise client_error("AccessDeniedException", model.name)


class _WithoutRights:
    def __init__(self, fake: Any, service: str, denied: Iterable[str]) -> None:
        self._fake, self._service, self._denied = fake, service, denied

    def get_paginator(self, operation: str) -> Any:
        """Returns the fake's own paginator, or boto3's of the fake's pages."""
        if hasattr(self._fake, "get_paginator"):
            return self._fake.get_paginator(operation)
        make: Any = _SESSION.client
        paginator = make(self._service).get_paginator(operation)
        paginator._method = getattr(self, operation)
        return paginator

    def __getattr__(self, name: str) -> Any:
        for right in self._denied:
            prefix, _, operation = right.partition(":")
            if prefix == self._service and xform_name(operation) == name:
                raise client_error("AccessDeniedException", operation)
        return getattr(self._fake, name)


class FakeLambda:
    """Lambda of an account with these limits."""

    def __init__(self, total: int = 1000, free: int = 1000) -> None:
        self.total, self.free = total, free

    def get_account_settings(self) -> dict[str, Any]:
        limits = {
            "ConcurrentExecutions": self.total,
            "UnreservedConcurrentExecutions": self.free,
        }
        return {"AccountLimit": limits}


class FakeAccount:
    """A healthy cluster with its network, in moto; to be made within `mock_aws`."""

    def __init__(self) -> None:
        self.msk = FakeMsk()
        self.functions = FakeLambda()
        self.session = FakeSession({"kafka": self.msk, "lambda": self.functions})
        self.ec2 = self.session.client("ec2")
        self.kms = self.session.client("kms")
        self.secrets = self.session.client("secretsmanager")
        self.vpc = self.new_vpc("10.0.0.0/16")
        public = self.new_subnet("10.0.100.0/24", "a")
        self.nat = self._new_nat(public)
        self.subnets, self.tables = [], []
        for number, zone in enumerate("ab"):
            subnet = self.new_subnet(f"10.0.{number}.0/24", zone)
            table = self.new_table(subnet)
            self.route(table, NatGatewayId=self.nat)
            self.subnets.append(subnet)
            self.tables.append(table)
        self.s3 = self.new_gateway(self.tables)
        self.brokers = self.new_group("brokers")
        # Moto makes an RSA key for any that is not of a curve, which takes half of a test's time.
        made = self.kms.create_key(KeySpec="ECC_NIST_P256", KeyUsage="SIGN_VERIFY")["KeyMetadata"]
        self.key, self.key_id = made["Arn"], made["KeyId"]
        self.secret = self.new_secret("AmazonMSK_lag_monitor")
        self.renew_cluster()

    def renew_cluster(self) -> None:
        """Makes the only cluster what it is at first."""
        self.msk.clusters = {}
        self.cluster = self.new_cluster(ARN, {"Sasl": {"Scram": {"Enabled": True}}})
        self.msk.secrets = {ARN: [self.secret]}

    def document(self, **changes: Any) -> dict[str, Any]:
        """The document of this cluster, which is right; keys of the cluster changed."""
        cluster = {
            "name": "orders",
            "arn": ARN,
            "vpc": {
                "id": self.vpc,
                "subnets": list(self.subnets),
                "brokers_security_group": self.brokers,
                "nat": True,
            },
            "auth": {"type": "scram", "secret_arn": self.secret, "kms_key_arn": self.key},
        }
        return {"clusters": [cluster | changes]}

    def new_cluster(self, arn: str, authentication: dict[str, Any]) -> dict[str, Any]:
        provisioned = {
            "BrokerNodeGroupInfo": {
                "ClientSubnets": list(self.subnets),
                "InstanceType": "kafka.m7g.large",
                "SecurityGroups": [self.brokers],
            },
            "ClientAuthentication": authentication,
            "EncryptionInfo": {"EncryptionInTransit": {"ClientBroker": "TLS"}},
            "NumberOfBrokerNodes": 2,
        }
        self.msk.clusters[arn] = {
            "ClusterName": arn.split("/")[1],
            "ClusterArn": arn,
            "ClusterType": "PROVISIONED",
            "State": "ACTIVE",
            "CurrentVersion": "K3P5ROKL5A1OLE",
            "Provisioned": provisioned,
        }
        return self.msk.clusters[arn]

    def new_serverless(self, arn: str) -> None:
        self.msk.clusters[arn] = {
            "ClusterName": arn.split("/")[1],
            "ClusterArn": arn,
            "ClusterType": "SERVERLESS",
            "State": "ACTIVE",
            "CurrentVersion": "K3P5ROKL5A1OLE",
            "Serverless": {
                "VpcConfigs": [{"SubnetIds": self.subnets, "SecurityGroupIds": [self.brokers]}],
                "ClientAuthentication": {"Sasl": {"Iam": {"Enabled": True}}},
            },
        }

    def deploy(
        self,
        stack: str,
        outputs: Mapping[str, str] | None = None,
        resources: Mapping[str, Any] | None = None,
        region: str = REGION,
    ) -> None:
        """Makes a stack with these outputs."""
        template = {
            "Resources": resources or {"Topic": {"Type": "AWS::SNS::Topic"}},
            "Outputs": {name: {"Value": value} for name, value in (outputs or {}).items()},
        }
        cloudformation = self.session.client("cloudformation", region)
        cloudformation.create_stack(StackName=stack, TemplateBody=json.dumps(template))

    def new_secret(self, name: str, text: str | None = None, **options: Any) -> str:
        content = {"username": "lag-monitor", "password": PASSWORD}
        found = self.secrets.create_secret(
            Name=name,
            SecretString=json.dumps(content) if text is None else text,
            **{"KmsKeyId": self.key, **options},
        )
        return str(found["ARN"])

    def new_vpc(self, cidr: str) -> str:
        vpc = str(self.ec2.create_vpc(CidrBlock=cidr)["Vpc"]["VpcId"])
        self.ec2.modify_vpc_attribute(VpcId=vpc, EnableDnsHostnames={"Value": True})
        return vpc

    def new_subnet(self, cidr: str, zone: str, vpc: str | None = None) -> str:
        found = self.ec2.create_subnet(
            VpcId=vpc or self.vpc, CidrBlock=cidr, AvailabilityZone=REGION + zone
        )
        return str(found["Subnet"]["SubnetId"])

    def new_table(self, subnet: str) -> str:
        found = self.ec2.create_route_table(VpcId=self.vpc)["RouteTable"]["RouteTableId"]
        self.ec2.associate_route_table(RouteTableId=found, SubnetId=subnet)
        return str(found)

    def route(self, table: str, **target: str) -> None:
        self.ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", **target)

    def route_to_internet(self, tables: Iterable[str]) -> None:
        """Gives route tables an internet gateway, as those of public subnets have."""
        gateway = self.ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
        self.ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=self.vpc)
        for table in tables:
            self.route(table, GatewayId=gateway)

    def cut_off(self) -> None:
        """Takes the NAT gateway's routes away."""
        for table in self.tables:
            self.ec2.delete_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0")

    def new_group(self, name: str, vpc: str | None = None) -> str:
        found = self.ec2.create_security_group(
            GroupName=name, Description=name, VpcId=vpc or self.vpc
        )
        return str(found["GroupId"])

    def let_in(self, group: str, cidr: str, port: int) -> None:
        rule = {
            "IpProtocol": "tcp",
            "FromPort": port,
            "ToPort": port,
            "IpRanges": [{"CidrIp": cidr}],
        }
        self.ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])

    def new_gateway(self, tables: list[str]) -> str:
        found = self.ec2.create_vpc_endpoint(
            VpcId=self.vpc,
            VpcEndpointType="Gateway",
            ServiceName=f"com.amazonaws.{REGION}.s3",
            RouteTableIds=tables,
        )
        return str(found["VpcEndpoint"]["VpcEndpointId"])

    def remove_gateway(self) -> None:
        self.ec2.delete_vpc_endpoints(VpcEndpointIds=[self.s3])

    def new_interface(self, service: str, group: str, *, private_name: bool = True) -> str:
        found = self.ec2.create_vpc_endpoint(
            VpcId=self.vpc,
            VpcEndpointType="Interface",
            ServiceName=f"com.amazonaws.{REGION}.{service}",
            SubnetIds=self.subnets,
            SecurityGroupIds=[group],
            PrivateDnsEnabled=private_name,
        )
        return str(found["VpcEndpoint"]["VpcEndpointId"])

    def _new_nat(self, subnet: str) -> str:
        address = self.ec2.allocate_address(Domain="vpc")["AllocationId"]
        found = self.ec2.create_nat_gateway(SubnetId=subnet, AllocationId=address)
        return str(found["NatGateway"]["NatGatewayId"])


# What moto makes up: ids of EC2, of clusters and keys, and the ends of secrets' names.
_MADE_UP = re.compile(
    r"(?P<kind>vpc|subnet|sg|rtb|vpce)-[0-9a-f]{8,}"
    r"|(?<=[/ ])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{13,}"
    r"|(?<=:secret:)(?P<name>\w+)-\w{6}\b"
)


def without_ids(text: str) -> str:
    """The text with ids numbered in the order in which they first stand in it."""
    numbers: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        at = numbers.setdefault(match[0], len(numbers) + 1)
        return f"{match['kind'] or match['name'] or 'id'}-{at}"

    return _MADE_UP.sub(number, text)


def run_aws_line(session: FakeSession, line: str, folder: Path) -> Any:
    """What `aws SERVICE COMMAND --option value...` does, by the same operation of boto3."""
    aws, service, command, *words = shlex.split(line)
    assert aws == "aws"
    client = session.client(service)
    model = _model(service)
    (operation,) = [name for name in model.operation_names if xform_name(name, "-") == command]
    shape = model.operation_model(operation).input_shape
    members = {xform_name(name, "-"): name for name in shape.members}
    request = {}
    for option, values in _options(words):
        if option in ("region", "profile"):
            assert option == "profile" or values == [REGION]
            continue
        # The command line refuses an option that there is not, so this does.
        name = members[option]
        request[name] = _typed(shape.members[name].type_name, values, folder)
    return getattr(client, xform_name(operation))(**request)


def _options(words: list[str]) -> Iterator[tuple[str, list[str]]]:
    starts = [at for at, word in enumerate(words) if word.startswith("--")]
    for start, end in zip(starts, [*starts[1:], len(words)], strict=True):
        yield words[start].removeprefix("--"), words[start + 1 : end]


def _typed(kind: str, values: list[str], folder: Path) -> Any:
    if kind == "list":
        return values
    if kind == "boolean":
        assert not values
        return True
    (value,) = values
    if kind == "structure":
        return json.loads(value)
    return (folder / value.removeprefix("file://")).read_text() if "file://" in value else value


def write_key(document: dict[str, Any], line: str) -> None:
    """Writes a key of the only cluster as a line of TOML says."""
    keys: Any = tomlkit.parse(line)
    place = document["clusters"][0]
    while True:
        ((key, value),) = keys.items()
        if not isinstance(value, Table):
            place[key] = value.unwrap() if isinstance(value, Item) else value
            return
        place, keys = place.setdefault(key, {}), value
