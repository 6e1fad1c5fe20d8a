# SPDX-License-Identifier: Apache-2.0
"""Options that have variables, and their precedence."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from kafka_lag_cli.command import kafka_lag, main
from kafka_lag_cli.connecting.collect_options import collect_options_of, refuse_without_brokers

SERVERS, LOGIN, CONFIG, STATE, PROFILE = (
    f"KAFKA_LAG_{name}"
    for name in ("BOOTSTRAP_SERVERS", "COMMAND_CONFIG", "CONFIG", "STATE", "PROFILE")
)


def parsed(*arguments: str) -> click.Context:
    """The context of a subcommand, as its function would find it."""
    root = click.Context(kafka_lag)
    command = kafka_lag.get_command(root, arguments[0])
    assert command is not None
    return command.make_context(arguments[0], list(arguments[1:]), root)


def test_only_what_means_the_same_everywhere_has_a_variable() -> None:
    root = click.Context(kafka_lag)
    found: dict[str, set[str]] = {}
    for name in kafka_lag.list_commands(root):
        command = kafka_lag.get_command(root, name)
        assert command is not None
        for parameter in command.params:
            if parameter.envvar:
                found.setdefault(str(parameter.envvar), set()).add(name)
    assert set(found) == {SERVERS, LOGIN, CONFIG, STATE, PROFILE}
    # Everybody who may read AWS takes a profile.
    assert found[PROFILE] >= found[SERVERS] | {"init"}


@pytest.mark.parametrize(
    ("variable", "command", "kept"),
    [
        (STATE, "serve -b broker:9092", True),
        (SERVERS, "show --config file", False),
        (SERVERS, "serve --state s3://b", False),
        (SERVERS, "show --command-config file", True),
        (CONFIG, "show -b broker:9092", False),
        (CONFIG, "replay --state s3://b", True),
        (LOGIN, "show -b broker:9092", True),
        (LOGIN, "show -b broker:9092 --iam", False),
        (LOGIN, "doctor --config file", False),
    ],
)
def test_a_variable_yields_to_another_source_on_the_command_line(
    variable: str, command: str, *, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    values = {SERVERS: "other:9092", STATE: "."}
    monkeypatch.setenv(variable, values.get(variable, "file"))
    context = parsed(*command.split())
    (parameter,) = (each for each in context.command.params if each.envvar == variable)
    assert (context.params[str(parameter.name)] is not None) == kept


def test_a_profile_in_a_variable_is_for_those_who_read_aws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PROFILE, "ops")
    properties = tmp_path / "client.properties"
    properties.write_text("bootstrap.servers=broker:9092\n")
    for login in (["-b", "broker:9092"], ["--command-config", str(properties)]):
        with parsed("show", *login) as context:
            collect_options_of(context.params)
    with parsed("serve") as context:
        refuse_without_brokers(context.params, ())
    assert parsed("tasks", "billing", "--state", str(tmp_path)).params["profile"] == "ops"


@pytest.mark.parametrize(
    "command", ["query records_lost", "tasks billing", "why billing", "serve", "show --iam"]
)
def test_each_command_that_reads_aws_takes_a_profile(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(SERVERS, raising=False)
    place = ["-b", "b-1.x.kafka.eu-west-1.amazonaws.com:9098"]
    place = place if "--iam" in command else ["--state", "s3://b"]
    assert main([*command.split(), *place, "--profile", "nobody"]) == 1
    assert "profile (nobody)" in capsys.readouterr().err
