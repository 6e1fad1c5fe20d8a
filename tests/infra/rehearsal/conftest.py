# SPDX-License-Identifier: Apache-2.0
"""Clients of an AWS that is empty at each test's start."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from tests.infra.resolve import REGION

Client = Callable[[str], Any]


@pytest.fixture(name="client")
def _client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    sdk: Any = boto3
    with mock_aws():
        yield lambda name: sdk.client(name, region_name=REGION)
