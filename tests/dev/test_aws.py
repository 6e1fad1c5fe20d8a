# SPDX-License-Identifier: Apache-2.0
"""The AWS stand-in: empty at first, reached by any client through its environment."""

from collections.abc import Iterator

import boto3
import pytest

from dev.aws import AwsStandIn


@pytest.fixture
def aws() -> Iterator[AwsStandIn]:
    """A fresh stand-in."""
    with AwsStandIn() as aws:
        yield aws


def test_its_environment_leads_any_client_to_it(
    aws: AwsStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in aws.environment().items():
        monkeypatch.setenv(name, value)

    boto3.session.Session().client("secretsmanager").create_secret(Name="kafka", SecretString="{}")

    assert aws.client("secretsmanager").get_secret_value(SecretId="kafka")["SecretString"] == "{}"


def test_it_begins_empty(aws: AwsStandIn) -> None:
    aws.client("secretsmanager").create_secret(Name="kafka", SecretString="{}")

    with AwsStandIn() as second:
        assert second.client("secretsmanager").list_secrets()["SecretList"] == []
