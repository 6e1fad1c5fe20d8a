# SPDX-License-Identifier: Apache-2.0
"""What `kafka-lag` says to somebody who does not know its subcommands yet."""

from __future__ import annotations

import pytest

from kafka_lag.cli.command import main


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ([], "kafka-lag: error: name a subcommand: watch or serve or config or cost\n"),
        (["look"], "'look' (choose from "),
        (["--once"], "unrecognized arguments: --once"),
    ],
)
def test_wrong_usage_names_the_subcommands_there_are(
    arguments: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    printed = capsys.readouterr().err
    assert error in printed
    assert printed.startswith("usage: kafka-lag [-h] {watch,serve,config,cost} ...\n")
    assert "SUBCOMMAND, arguments" not in printed


def test_help_says_what_each_subcommand_does(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert "  watch   the groups of any Kafka cluster" in printed
    assert "  serve   a status page" in printed


@pytest.mark.parametrize("subcommand", ["watch", "serve", "cost"])
def test_what_follows_a_subcommand_is_its_own(
    subcommand: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([subcommand, "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: kafka-lag {subcommand}")
