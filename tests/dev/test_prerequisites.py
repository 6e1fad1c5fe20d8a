# SPDX-License-Identifier: Apache-2.0
"""What is missing on a machine, in one sentence each."""

import subprocess
import sys
from pathlib import Path

import pytest

from dev import prerequisites
from dev.prerequisites import judge, judge_python, parse_java, parse_maven, parse_node

ROOT = Path(prerequisites.__file__).parents[1]


@pytest.mark.parametrize(
    ("said", "version"),
    [
        pytest.param('openjdk version "17.0.15" 2025-04-15\nOpenJDK ...', (17, 0), id="openjdk"),
        pytest.param('openjdk version "21" 2023-09-19', (21, 0), id="first of a line"),
        pytest.param('java version "1.8.0_391"', (8,), id="java 8 says 1.8"),
        pytest.param(
            'Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "25.0.1"', (25, 0), id="chatty"
        ),
        pytest.param("Unable to locate a Java Runtime.", None, id="macOS without Java"),
        pytest.param("", None, id="silent"),
    ],
)
def test_java_tells_its_version(said: str, version: tuple[int, ...] | None) -> None:
    assert parse_java(said) == version


@pytest.mark.parametrize(
    ("said", "version"),
    [
        pytest.param("Apache Maven 3.8.7 (b89d5959)\nMaven home: /usr", (3, 8), id="plain"),
        pytest.param("\x1b[1mApache Maven 3.9.9\x1b[m\n", (3, 9), id="in colour"),
        pytest.param("Apache Maven 4.0.0-rc-4", (4, 0), id="a candidate"),
        pytest.param("JAVA_HOME is not defined correctly", None, id="without Java"),
    ],
)
def test_maven_tells_its_version(said: str, version: tuple[int, ...] | None) -> None:
    assert parse_maven(said) == version


@pytest.mark.parametrize(
    ("said", "version"),
    [
        pytest.param("v20.19.2\n", (20, 19), id="plain"),
        pytest.param("v18.0.0-pre", (18, 0), id="a candidate"),
        pytest.param("node: command failed", None, id="no version"),
    ],
)
def test_node_tells_its_version(said: str, version: tuple[int, ...] | None) -> None:
    assert parse_node(said) == version


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        pytest.param((17, 0), None, id="just enough"),
        pytest.param((21, 0), None, id="newer"),
        pytest.param((11, 0), "Java 17 or newer is needed and Java is 11.0: ask apt.", id="old"),
        pytest.param(
            None, "Java 17 or newer is needed and Java was not found: ask apt.", id="none"
        ),
    ],
)
def test_a_tool_is_judged_in_one_sentence(
    found: tuple[int, ...] | None, sentence: str | None
) -> None:
    assert judge("Java", found, (17,), "ask apt") == sentence


@pytest.mark.parametrize(
    ("found", "makes_environments", "reported"),
    [
        pytest.param((3, 11), True, None, id="oldest"),
        pytest.param((3, 14), True, None, id="newest"),
        pytest.param((3, 10), False, "Python 3.11 or newer is needed", id="too old"),
        pytest.param((3, 15), True, "Python 3.14 is the newest supported", id="too new"),
        pytest.param((3, 12), False, "apt install python3-venv", id="in parts"),
    ],
)
def test_python_is_judged_in_one_sentence(
    found: tuple[int, ...], makes_environments: bool, reported: str | None
) -> None:
    sentence = judge_python(found, makes_environments)

    assert (sentence is None) if reported is None else (reported in str(sentence))


def test_everything_missing_is_listed_at_once(tmp_path: Path) -> None:
    done = run_with_path(tmp_path)

    assert done.returncode == 1
    assert [line.split()[0] for line in done.stderr.splitlines()] == ["Java", "Maven", "Node"]


@pytest.mark.parametrize(("names", "missing"), [(["Node"], ["Node"]), (["Python"], [])])
def test_only_the_tools_that_are_named_are_asked_for(
    tmp_path: Path, names: list[str], missing: list[str]
) -> None:
    done = run_with_path(tmp_path, *names)

    assert [line.split()[0] for line in done.stderr.splitlines()] == missing
    assert done.returncode == bool(missing)


@pytest.mark.parametrize(
    ("target", "names"),
    [
        *(("cost", "Python"), ("docs", "Python"), ("synth", "Node"), ("deploy", "Node")),
        *(("demo", "Java Maven"), ("report", "Java"), ("test", "")),
    ],
)
def test_a_target_asks_for_the_tools_that_it_uses(target: str, names: str) -> None:
    command = ["make", "--dry-run", target, "CONFIG=lag.toml"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    (asked,) = [line for line in done.stdout.splitlines() if "dev/prerequisites.py" in line]

    assert asked.split("dev/prerequisites.py")[1].strip() == names


def test_a_program_that_does_not_run_counts_as_missing(tmp_path: Path) -> None:
    for name in ("java", "mvn", "node"):
        (tmp_path / name).write_text("#!/nowhere\n")
        (tmp_path / name).chmod(0o755)

    assert "Java was not found" in run_with_path(tmp_path).stderr


def run_with_path(folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    """Run the check with nothing on the PATH but this folder, and no package to import."""
    return subprocess.run(
        [sys.executable, "-S", "-m", "dev.prerequisites", *names],
        env={"PATH": str(folder)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
