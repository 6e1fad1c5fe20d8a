# SPDX-License-Identifier: Apache-2.0
"""Fixtures for several tests of the job."""

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto.server import ThreadedMotoServer


@pytest.fixture(name="s3")
def _s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of an S3 that moto plays for any library, with one empty bucket: `lag`."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    client = boto3.client("s3")
    # the state is the process's: an earlier test may have left it
    for bucket in client.list_buckets()["Buckets"]:
        for stored in client.list_objects_v2(Bucket=bucket["Name"]).get("Contents", []):
            client.delete_object(Bucket=bucket["Name"], Key=stored["Key"])
        client.delete_bucket(Bucket=bucket["Name"])
    client.create_bucket(Bucket="lag")
    try:
        yield client
    finally:
        server.stop()
