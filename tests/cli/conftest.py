# SPDX-License-Identifier: Apache-2.0
"""AWS credentials of a test: some that moto accepts, or none."""

from __future__ import annotations

from pathlib import Path

import pytest


def _without_files(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(folder / "none"))


@pytest.fixture
def aws_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Moto takes these."""
    _without_files(monkeypatch, tmp_path)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")


@pytest.fixture
def no_aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nobody's credentials."""
    _without_files(monkeypatch, tmp_path)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
