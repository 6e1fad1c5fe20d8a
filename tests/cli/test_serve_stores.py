# SPDX-License-Identifier: Apache-2.0
"""Output at a terminal if a bucket or folder cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore import exceptions as aws
from botocore.config import Config
from botocore.exceptions import ClientError

from kafka_lag.errors import ConfigError, StoreError, UnusableError
from kafka_lag_cli.state.bucket import OwnBucket
from kafka_lag_cli.state.folder import open_folder

GROUPS = "snapshots/groups/"
TERMS_OF_A_DEPLOYMENT = ("role", "VPC", "endpoint")


class FailingClient:
    """S3 that answers everything with one error."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def get_paginator(self, _: str) -> Any:
        raise self.error

    def get_object(self, **_: Any) -> Any:
        raise self.error


def s3_error(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code}}, "Any")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (aws.NoCredentialsError(), "(NoCredentialsError): check your AWS credentials, "
            "--profile and the network."),
        (s3_error("AccessDenied"), "The bucket b cannot be read. AWS denies the right to "
            "s3:ListBucket (AccessDenied)."),
        (s3_error("NoSuchBucket"), "AWS answers s3:ListBucket with NoSuchBucket. Check the "
            "bucket's name and the AWS region."),
        (s3_error("PermanentRedirect"), "Check the bucket's name and the AWS region."),
        (s3_error("ExpiredToken"), "(ExpiredToken): run aws sso login, or renew them."),
        (s3_error("InvalidAccessKeyId"), "(InvalidAccessKeyId): run aws sso login, or renew them."),
        (s3_error("InvalidToken"), "(InvalidToken): run aws sso login, or renew them."),
        (aws.UnauthorizedSSOTokenError(), "(UnauthorizedSSOTokenError): run aws sso login, "
            "or renew them."),
        (aws.EndpointConnectionError(endpoint_url="x"), "(EndpointConnectionError): check your "
            "AWS credentials, --profile and the network."),
        (aws.ReadTimeoutError(endpoint_url="x"), "--profile and the network."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("verb", ["keys", "folders"])
def test_a_bucket_that_is_not_listed_says_what_to_do_here(
    error: Exception, text: str, verb: str
) -> None:
    with pytest.raises(StoreError) as result:
        getattr(OwnBucket(FailingClient(error), "b"), verb)(GROUPS)

    assert str(result.value).endswith(text)
    assert not [word for word in TERMS_OF_A_DEPLOYMENT if word in str(result.value)]


def test_an_object_that_may_not_be_read_names_its_own_right() -> None:
    with pytest.raises(StoreError, match="the right to s3:GetObject"):
        OwnBucket(FailingClient(s3_error("AccessDenied")), "b").read("key")


def test_an_object_that_there_is_not_stays_one() -> None:
    with pytest.raises(UnusableError, match="There is no key in bucket b"):
        OwnBucket(FailingClient(s3_error("NoSuchKey")), "b").read("key")


def test_a_name_that_no_bucket_has_is_said_to_be_one() -> None:
    client = boto3.client(
        "s3", region_name="eu-west-1", config=Config(signature_version="unsigned")
    )

    with pytest.raises(StoreError, match="Bad_Bucket! cannot be the name of a bucket"):
        OwnBucket(client, "Bad_Bucket!").folders(GROUPS)


def test_a_folder_that_is_too_deep_is_rejected_by_the_name_of_the_one_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "snapshots/groups/cluster=shop").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "snapshots")

    with pytest.raises(ConfigError, match=f"name the folder above, {tmp_path}\\."):
        open_folder(Path("."))


@pytest.mark.parametrize("made", ["", "groups/2024", "snapshots/groups/cluster=shop"])
def test_any_other_folder_may_get_snapshots_yet(tmp_path: Path, made: str) -> None:
    (tmp_path / made).mkdir(parents=True, exist_ok=True)
    open_folder(tmp_path)
    if made.startswith("snapshots"):
        # Where both lie, it is the right one too.
        (tmp_path / "groups/cluster=shop").mkdir(parents=True)
        open_folder(tmp_path)
