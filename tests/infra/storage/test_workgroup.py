# SPDX-License-Identifier: Apache-2.0
"""What a query can cost, and that nothing is left of a work group."""

from __future__ import annotations

from tests.infra.storage.stack import SCAN_LIMIT_GB, only


def test_a_query_cannot_read_more_than_the_limit_whatever_its_client_asks_for() -> None:
    settings = only("AWS::Athena::WorkGroup")["WorkGroupConfiguration"]

    assert settings["BytesScannedCutoffPerQuery"] == SCAN_LIMIT_GB * 2**30
    assert settings["EnforceWorkGroupConfiguration"] is True
    assert settings["EngineVersion"] == {"SelectedEngineVersion": "Athena engine version 3"}


def test_results_are_kept_by_athena_and_need_no_bucket() -> None:
    settings = only("AWS::Athena::WorkGroup")["WorkGroupConfiguration"]

    assert settings["ManagedQueryResultsConfiguration"] == {"Enabled": True}
    assert "ResultConfiguration" not in settings


def test_a_work_group_that_was_used_can_be_removed() -> None:
    assert only("AWS::Athena::WorkGroup")["RecursiveDeleteOption"] is True
