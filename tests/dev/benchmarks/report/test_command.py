# SPDX-License-Identifier: Apache-2.0
"""The benchmark's command line."""

import pytest

from dev.benchmarks.report.__main__ import main


@pytest.mark.parametrize("words", [["--partitions", "0"], ["--minutes", "x"], ["--measure", "all"]])
def test_a_wrong_option_is_named(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)

    assert ended.value.code == 2
    assert words[0] in capsys.readouterr().err


def test_help_says_what_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])

    text = capsys.readouterr().out
    for said in ("whole", "growth", "delay", "DuckDB", "2 GB"):
        assert said in text
