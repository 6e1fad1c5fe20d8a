# SPDX-License-Identifier: Apache-2.0
"""What AWS's failures are called, and which of them leave nobody in doubt."""

from __future__ import annotations

from typing import Any, cast

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from kafka_lag.aws import error_code, is_rejected

SILENT = ReadTimeoutError(endpoint_url="https://s3.example")


def refused(status: int) -> ClientError:
    response = {"Error": {"Code": "No"}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(cast("Any", response), "Put")


@pytest.mark.parametrize(
    ("error", "certain"),
    [(refused(400), True), (refused(499), True), (refused(500), False), (SILENT, False)],
)
def test_only_a_refusal_by_name_is_certain(error: Exception, certain: bool) -> None:
    assert is_rejected(error) is certain


@pytest.mark.parametrize(("error", "code"), [(refused(400), "No"), (SILENT, "ReadTimeoutError")])
def test_a_failure_is_called_by_its_code_or_its_kind(error: Exception, code: str) -> None:
    assert error_code(error) == code
