# SPDX-License-Identifier: Apache-2.0
"""The app as `cdk` starts it, with faults in its configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lag_cdk.app import main


def test_without_a_configuration_the_app_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CDK_CONTEXT_JSON", raising=False)
    assert main() == 1
    printed = capfd.readouterr()
    assert (printed.out, "msk-lag-reporter is missing" in printed.err) == ("", True)
