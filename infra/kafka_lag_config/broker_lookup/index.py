# SPDX-License-Identifier: Apache-2.0
"""A custom resource: the bootstrap servers of an MSK cluster, asked for at deploy time.

Runs outside the VPC, so that the collector needs no endpoint of MSK's control plane.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any

# The field of GetBootstrapBrokers by way of login [botocore kafka GetBootstrapBrokersResponse].
FIELDS = {
    "scram": "BootstrapBrokerStringSaslScram",
    "iam": "BootstrapBrokerStringSaslIam",
    "tls": "BootstrapBrokerStringTls",
    "none": "BootstrapBrokerStringTls",
    "plaintext": "BootstrapBrokerString",
}
_ENABLE = {
    "scram": "SASL/SCRAM",
    "iam": "IAM",
    "tls": "TLS client authentication",
    "none": "unauthenticated access over TLS",
    "plaintext": "unauthenticated plaintext access",
}


def handler(event: Mapping[str, Any], _context: Any) -> None:
    """Answers CloudFormation, whatever happens: without an answer the deploy would hang."""
    # The runtime's own, which tests do without.
    import boto3  # noqa: PLC0415
    from botocore.config import Config  # noqa: PLC0415

    config = Config(connect_timeout=5, read_timeout=10, retries={"total_max_attempts": 3})
    respond(event, lambda: boto3.client("kafka", config=config), put)


def respond(
    event: Mapping[str, Any],
    client: Callable[[], Any],
    send: Callable[[str, bytes], None],
) -> None:
    """Puts the outcome of one event where CloudFormation waits for it."""
    answer: dict[str, Any] = {
        "PhysicalResourceId": event.get("PhysicalResourceId") or event["LogicalResourceId"],
        **{key: event[key] for key in ("StackId", "RequestId", "LogicalResourceId")},
    }
    try:
        data = {} if event["RequestType"] == "Delete" else _look_up(event, client())
        answer |= {"Status": "SUCCESS", "Data": data}
    except Exception as error:  # noqa: BLE001 - any of them must be reported, or the deploy hangs
        answer |= {"Status": "FAILED", "Reason": str(error)}
    send(event["ResponseURL"], json.dumps(answer).encode())


def _look_up(event: Mapping[str, Any], client: Any) -> dict[str, str]:
    properties = event["ResourceProperties"]
    return {"Servers": find_servers(client, properties["ClusterArn"], properties["Way"])}


def find_servers(client: Any, arn: str, way: str) -> str:
    """host:port with commas between. Raises LookupError where the way in is off, and AWS's errors.

    `way` is one of `FIELDS`.
    """
    servers: str = client.get_bootstrap_brokers(ClusterArn=arn).get(FIELDS[way])
    if not servers:
        raise LookupError(
            f"The cluster {arn} offers no brokers for auth of type {way}: enable {_ENABLE[way]} "
            "on it, or give bootstrap_servers."
        )
    return servers


def put(url: str, body: bytes) -> None:
    """Sends the body as CloudFormation's signed address wants it. Raises URLError."""
    # S3 signed the address for a request without a content type.
    request = urllib.request.Request(  # noqa: S310 - CloudFormation's own https address
        url, data=body, method="PUT", headers={"content-type": ""}
    )
    with urllib.request.urlopen(request, timeout=30):  # noqa: S310 - as above
        pass
