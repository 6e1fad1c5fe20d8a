# SPDX-License-Identifier: Apache-2.0
"""Codes of AWS's failures, and contents of secrets."""

from __future__ import annotations

from typing import Any, cast

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from kafka_lag.aws import CURRENT, PREVIOUS, error_code, read_secret

TIMED_OUT = ReadTimeoutError(endpoint_url="https://s3.example")


def client_error(status: int) -> ClientError:
    response = {"Error": {"Code": "No"}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(cast("Any", response), "Put")


@pytest.mark.parametrize(
    ("error", "code"), [(client_error(400), "No"), (TIMED_OUT, "ReadTimeoutError")]
)
def test_an_error_has_the_code_of_aws_or_the_name_of_its_type(error: Exception, code: str) -> None:
    assert error_code(error) == code


class Secrets:
    """Secrets Manager with these versions, or an error."""

    def __init__(self, versions: dict[str, dict[str, str]], code: str = "NoSuch") -> None:
        self._versions, self._code = versions, code

    def get_secret_value(
        self,
        *,
        SecretId: str,  # noqa: N803
        VersionStage: str = CURRENT,  # noqa: N803
    ) -> dict[str, str]:
        if VersionStage not in self._versions:
            raise ClientError({"Error": {"Code": self._code}}, "GetSecretValue")
        return self._versions[VersionStage]


def test_a_secret_is_read_in_its_current_version_by_default() -> None:
    client = Secrets({CURRENT: {"SecretString": "new"}, PREVIOUS: {"SecretString": "old"}})
    found = [read_secret(client, "s", version) for version in (None, CURRENT, PREVIOUS)]
    assert found == ["new", "new", "old"]


def test_a_secret_of_bytes_is_an_empty_text() -> None:
    assert read_secret(Secrets({CURRENT: {}}), "s") == ""


def test_only_a_previous_version_may_be_missing() -> None:
    absent = "ResourceNotFoundException"
    assert read_secret(Secrets({}, absent), "s", PREVIOUS) is None
    for version, code in ((None, absent), (CURRENT, absent), (PREVIOUS, "AccessDenied")):
        with pytest.raises(ClientError):
            read_secret(Secrets({}, code), "s", version)
