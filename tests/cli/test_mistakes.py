# SPDX-License-Identifier: Apache-2.0
"""Wrong calls as people make them: an exit code, and one line that leads to the repair."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest

from dev.documents import describe_cluster
from kafka_lag_cli.command import main
from tests.cli.recorded_shop import write_shop
from tests.golden import FOLDER, Golden

FAULTY = """\
cluster = "shop"
bootstrap_servers = ["b-1.example:9092"]
security_protocol = "PLAINTEXT"
windoww = 3
"""
GOLDEN = "command-mistakes.txt"


@pytest.fixture(name="folder", scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mistakes")
    collector = FAULTY.replace("windoww = 3\n", "")
    texts = {"document.toml": FAULTY, "collector.toml": collector, "f": "nothing", "empty": "\n"}
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "latin").write_bytes(b"SELECT '\xff'")
    (folder / "empty-folder").mkdir()
    shop = describe_cluster("shop", alarms={"groups": ["billing"]})
    (folder / "shop.json").write_text(json.dumps({"clusters": [shop]}))
    mall = describe_cluster("mall", alarms={"groups": ["billing"]})
    (folder / "mall.json").write_text(json.dumps({"clusters": [mall]}))
    write_shop(folder / "shop")
    return folder


def test_a_mistake_is_answered_with_one_line_that_leads_to_its_repair(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    golden: Golden,
) -> None:
    """The golden file has the calls too: whoever adds one writes `$ kafka-lag ... -> ` there.

    Variables may stand before a subcommand. `shop` is the folder of a state.
    """
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    heading, *lines = (FOLDER / GOLDEN).read_text().splitlines()
    written = [heading]
    for call in (line.removeprefix("$ ").partition(" -> ")[0] for line in lines):
        words = shlex.split(call)
        at = words.index("kafka-lag")
        with monkeypatch.context() as environment:
            for variable in words[:at]:
                environment.setenv(*variable.split("=", 1))
            code = main(words[at + 1 :])
        printed = capsys.readouterr()
        assert printed.out == "", call
        (line,) = printed.err.splitlines()
        assert line.isprintable()
        line = re.sub("today is [0-9-]+", "today is TODAY", line.replace(str(folder), "/here"))
        written.append(f"$ {call} -> {code} {line}")
    assert len(lines) > 150
    assert (folder / "f").read_text() == "nothing"
    golden.holds(GOLDEN, "\n".join(written))


@pytest.mark.parametrize(
    "argv",
    [
        ["show", "a\nb\x1b[2J"],
        ["a\nb\x1b[2J"],
        ["show", "--a\nb\x1b"],
        ["show", "-b", "b:9092", "--sort", "a\r\n\tb"],
        ["show", "-b", "b:9092", "--set", "groups.allow=(\x1b[2J\u202e"],
        ["query", "\x1b"],
        ["query", "records_lost", "-p", "x\x1b\n=a"],
    ],
    ids=repr,
)
def test_a_wrong_word_neither_breaks_the_line_nor_moves_the_cursor(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.isprintable()


@pytest.mark.parametrize("held", ["two\nlines", "with blank", "tokén", "\ufefftoken"])
def test_a_token_that_no_header_can_bring_is_rejected_at_once_and_not_shown(
    folder: Path, held: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "token").write_text(held)
    call = ["--state", str(folder), "--token-file", str(folder / "token"), "--listen", "0"]
    assert main(["serve", *call]) == 1
    result = capsys.readouterr().err
    assert "must be one line of visible ASCII" in result
    assert held not in result
    assert os.linesep not in result.rstrip()
