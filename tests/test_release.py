# SPDX-License-Identifier: Apache-2.0
"""A tag is a release only if every place has its version; released files are documented."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from dev.release import find_faults, read_notes

ROOT = Path(__file__).parents[1]
CHART = Path("examples/exporter/chart/Chart.yaml")
PLACES = ("pyproject.toml", "CHANGELOG.md", str(CHART))


@pytest.fixture(name="copy")
def _copy(tmp_path: Path) -> Path:
    for name in PLACES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def workflow() -> Any:
    return yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())


def test_the_last_version_is_a_release_everywhere() -> None:
    assert find_faults("v0.1.0") == []


@pytest.mark.parametrize(
    ("place", "old", "new", "fault"),
    [
        ("pyproject.toml", 'version = "0.1.0"', 'version = "0.3.0"', "is not v0.3.0, the version"),
        (str(CHART), "\nversion: 0.1.0", "\nversion: 0.0.9", "version must be 0.1.0"),
        (str(CHART), "appVersion: 0.1.0", "appVersion: 0.0.9", "appVersion must be 0.1.0"),
        ("CHANGELOG.md", "## [0.1.0] - ", "## [0.1.0]", "has no section [0.1.0] with a date"),
    ],
    ids=["project", "chart", "image", "changelog"],
)
def test_a_place_that_was_forgotten_is_named(
    place: str, old: str, new: str, fault: str, copy: Path
) -> None:
    change(copy / place, old, new)
    assert fault in "\n".join(find_faults("v0.1.0", copy))


def test_the_notes_are_the_changelogs_section_alone() -> None:
    notes = read_notes("v0.1.0")
    assert notes is not None
    assert notes.startswith("### ")
    assert "## [" not in notes


def test_a_tag_that_is_no_release_ends_with_1() -> None:
    call = [sys.executable, "dev/release.py", "check", "v9.9.9"]
    ended = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "The tag v9.9.9 is not v" in ended.stderr


def test_nothing_is_published_before_the_tests_have_passed() -> None:
    jobs = workflow()["jobs"]

    def before(name: str) -> set[str]:
        needs = jobs[name].get("needs", [])
        direct = {needs} if isinstance(needs, str) else set(needs)
        return direct.union(*map(before, direct))

    writing = {name for name, job in jobs.items() if job.get("permissions")}
    assert writing == {"image", "pypi", "github"}
    assert jobs["pypi"]["permissions"] == {"id-token": "write"}
    assert all("test" in before(name) for name in writing)


def test_a_push_to_main_builds_and_publishes_nothing() -> None:
    found = workflow()
    # YAML takes the key `on` for true.
    assert found[True]["push"]["branches"] == ["main"]
    jobs = found["jobs"]
    only_tags = "github.ref_type == 'tag'"
    assert {name for name in jobs if jobs[name].get("if") == only_tags} == {"pypi", "github"}
    steps = {step["uses"].split("@")[0]: step for step in jobs["image"]["steps"] if "uses" in step}
    assert steps["docker/build-push-action"]["with"]["push"] == f"${{{{ {only_tags} }}}}"
    for publishing in ("docker/login-action", "actions/attest-build-provenance"):
        assert steps[publishing]["if"] == only_tags
