# SPDX-License-Identifier: Apache-2.0
"""The story, made once, and Athena over what it left."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lag import contract
from kafka_lag_cdk.report_columns import REPORT_COLUMNS
from kafka_lag_report.daily_report import main
from tests.infra.storage.queries import story
from tests.infra.storage.queries.athena import Athena


@pytest.fixture(name="folder", scope="session")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lag")
    story.tell(folder)
    story.lay_unreadable(
        folder,
        [
            "snapshots/topic_partitions",
            "snapshots/group_partitions",
            "snapshots/groups",
            "history/groups",
        ],
    )
    return folder


@pytest.fixture(name="athena", scope="session")
def _athena(folder: Path) -> Athena:
    return Athena(folder, story.NOW)


@pytest.fixture(name="reported", scope="session")
def _reported(
    request: pytest.FixtureRequest, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Athena:
    """Athena over the reports that the real job makes of Saturday, in the session all share."""
    request.getfixturevalue("spark")
    output = tmp_path_factory.mktemp("reports")
    arguments = ["--input", str(folder), "--output", str(output), "--date", "2026-01-31"]
    assert main([*arguments, "--no-history"]) == 0
    # What the queries of the reports have to get by without opening.
    story.lay_unreadable(output, [f"reports/{name}" for name in _with_rows(output)])
    return Athena(output, story.NOW)


def _with_rows(output: Path) -> list[str]:
    """The reports of which there are files."""
    folders = (output / contract.REPORT_PREFIX / name for name in REPORT_COLUMNS)
    return [folder.name for folder in folders if any(folder.rglob("*.parquet"))]
