# SPDX-License-Identifier: Apache-2.0
"""The story, made once, with its report, and Athena over the stored objects."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from kafka_lag import contract
from kafka_lag.contract.reports import REPORT_COLUMNS
from kafka_lag_cli.report import report
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


@dataclass(frozen=True, slots=True)
class Reported:
    """A folder with the reports of Saturday, and what the command printed."""

    folder: Path
    printed: str
    steps: list[str]


@pytest.fixture(name="saturday", scope="session")
def _saturday(
    request: pytest.FixtureRequest, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> Reported:
    """The reports that the real job makes by `kafka-lag report`, in the session all share."""
    request.getfixturevalue("spark")
    state = tmp_path_factory.mktemp("reports") / "state"
    shutil.copytree(folder, state)
    roundabout = state / ".." / state.name
    arguments = ["--state", str(roundabout), "--date", "2026-01-31", "--no-history"]
    result = CliRunner().invoke(report, arguments)
    assert result.exit_code == 0, result.output
    # What the queries of the reports have to get by without opening.
    story.lay_unreadable(state, [f"reports/{name}" for name in _with_rows(state)])
    return Reported(state, result.stdout, result.stderr.splitlines())


@pytest.fixture(name="reported", scope="session")
def _reported(saturday: Reported) -> Athena:
    return Athena(saturday.folder, story.NOW)


def _with_rows(output: Path) -> list[str]:
    """The reports of which there are files."""
    folders = (output / contract.REPORT_PREFIX / name for name in REPORT_COLUMNS)
    return [folder.name for folder in folders if any(folder.rglob("*.parquet"))]
