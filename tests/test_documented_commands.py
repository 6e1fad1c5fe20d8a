# SPDX-License-Identifier: Apache-2.0
"""Commands in the README and the docs: those without prerequisites are run, others are parsed."""

from __future__ import annotations

import shutil
from pathlib import Path

import click
import pytest

from kafka_lag_cli.command import main
from tests.commands import of_kafka_lag, subcommand
from tests.test_links import PAGES as SHOWING

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
PAGES = {"README.md": README} | {
    f"docs/{path.name}": path.read_text() for path in sorted((ROOT / "docs").glob("*.md"))
}
# What needs files, or nothing at all: no AWS account, no network, no brokers, no Java.
ALONE = {"config", "cost", "completion", "--help", "--list"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a reader types: examples, and what earlier lines of the README leave."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copyfile(ROOT / "examples/one-scram-cluster.json", tmp_path / "deployment.json")
    # What other steps of the docs leave there.
    shutil.copyfile(ROOT / "examples/one-cluster.toml", tmp_path / "deployment.toml")
    files = (
        "token",
        "client.properties",
        "tls.crt",
        "tls.key",
        "deployed.json",
        "rules.yml",
        "new.json",
    )
    for name in files:
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _shown(page: str) -> list[list[str]]:
    """Its calls; of pages that do more than show people the way, those in blocks alone."""
    return of_kafka_lag(PAGES[page], in_sentences=page in SHOWING)


def _parse(arguments: list[str]) -> None:
    """Fails where kafka-lag would say that the usage is wrong."""
    if "--help" in arguments or not arguments:
        return
    name, *rest = arguments
    command = subcommand(name)
    try:
        command.make_context(f"kafka-lag {name}", rest)
    except click.UsageError as error:
        pytest.fail(f"kafka-lag {' '.join(arguments)}: {error.format_message()}")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", PAGES)
def test_every_shown_call_of_kafka_lag_is_right_usage(page: str) -> None:
    for arguments in _shown(page):
        _parse(arguments)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "arguments",
    [each for each in of_kafka_lag(README) if ALONE.intersection(each)],
    ids=" ".join,
)
def test_what_the_readme_shows_and_needs_nothing_runs(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 0
    assert capsys.readouterr().out
