# SPDX-License-Identifier: Apache-2.0
"""A function without what it needs says so before it connects to anything."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

import pytest

from kafka_lag import contract
from kafka_lag.collect_lag import build_collector
from kafka_lag.errors import ConfigError
from tests.documents import document


def test_a_role_that_does_not_exist_is_reported_before_anybody_connects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    role = document(sasl_mechanism="OAUTHBEARER", secret_id=None)
    (tmp_path / "shop.json").write_text(json.dumps(role))
    environ = {
        contract.ENV_CONFIG: str(tmp_path / "shop.json"),
        contract.ENV_BUCKET: "kept",
        contract.ENV_REGION: "eu-west-1",
    }
    with pytest.raises(
        ConfigError, match=r"AWS_MSK_IAM needs those of a role, a profile or a user\."
    ):
        build_collector(environ, logging.getLogger(__name__))
