# SPDX-License-Identifier: Apache-2.0
"""Wrong calls as people make them: an exit code, and one line that leads to the repair."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lag_cli.command import main

BROKERS = ("--bootstrap-servers", "b-1.example:9092")
SASL = (*BROKERS, "--security-protocol", "SASL_SSL")
FAULTY = """\
cluster = "shop"
bootstrap_servers = ["b-1.example:9092"]
security_protocol = "PLAINTEXT"
windoww = 3
"""
# The call, its exit code, and what leads to the repair.
MISTAKES: list[tuple[list[str], int, str]] = [
    ([], 2, "Name a subcommand: show, watch, "),
    (["shwo"], 2, "Did you mean show?"),
    (["lag"], 2, "There are show, watch, serve, doctor, why, tasks, replay, diff, query, "),
    ([*BROKERS, "show"], 2, "Name a subcommand first: show, "),
    (["show"], 2, "Say where the brokers are: --bootstrap-servers HOST:PORT, or --config FILE."),
    (["show", *BROKERS, "--once"], 2, "kafka-lag show reads once."),
    (["watch", *BROKERS, "--once"], 2, "kafka-lag show reads once."),
    (["show", "--broker", "b:9092"], 2, "Did you mean --brokers?"),
    (["show", "-b", "b"], 2, "'b' must be host:port,host:port,..."),
    (["show", "--brokers", "b:9092", "--bootstrap-server"], 2, "requires an argument."),
    (["show", "--command-config", "no.properties"], 2, "File 'no.properties' does not exist."),
    (["show", "--command-config", "document.toml"], 2, "this one, take bootstrap.servers."),
    (["show", *BROKERS, "--command-config", "."], 2, "File '.' is a directory."),
    (["show", *BROKERS, "--certfile", "no.pem"], 2, "File 'no.pem' does not exist."),
    (["serve", "--listen-certfile", "no.pem"], 2, "File 'no.pem' does not exist."),
    (["serve", "--listen-certfile", "document.toml"], 2, "--listen-keyfile go together."),
    (["serve", "--no-token"], 2, "and 127.0.0.1 is this one's own: leave it out."),
    (["serve", "--listen", "0.0.0.0:80", "--token"], 2, "Did you mean --token-file?"),
    (
        ["show", "-bootstrap-servers", "b:9092"],
        2,
        "'--bootstrap-servers': Options begin with two hyphens: --bootstrap-servers.",
    ),
    (["show", "--bootstrap-servers", "b-1.example"], 2, "must be host:port,host:port,..."),
    (["show", "--bootstrap-servers", "http://b:9092"], 2, "must be host:port,host:port,..."),
    (["show", "--bootstrap-servers", "b:90920"], 2, "must be host:port,host:port,..."),
    (["show", "--bootstrap-servers"], 2, "'--bootstrap-servers' requires an argument."),
    (["show", *BROKERS, "billing"], 2, "(billing). A value follows the name of its option."),
    (["show", *BROKERS, "--json"], 2, "It is --output json."),
    (["show", *BROKERS, "--output", "yaml"], 2, "is not one of 'table', 'json', 'ndjson', 'csv'."),
    (["show", *BROKERS, "--by", "partition"], 2, "--by is for --output json, ndjson and csv."),
    (
        ["show", *BROKERS, "--sort", "age"],
        2,
        "'status', 'lag', 'time-lag', 'sla', 'loss', 'members'",
    ),
    (
        ["show", *BROKERS, "--status", "BAD"],
        2,
        "is none of ERR, WARN, OK, UNKNOWN, stopped, stalled, rew",
    ),
    (["show", *BROKERS, "--top", "0"], 2, "must be a whole number from 1 to 1,000,000."),
    (["show", *BROKERS, "--gap", "10s"], 2, "must be a whole number from 0 to 3,600."),
    (["show", *BROKERS, "--interval", "10"], 2, "kafka-lag watch has it."),
    (["watch", *BROKERS, "--gap", "10"], 2, "here it is --interval."),
    (["show", *BROKERS, "--fail-on", "STOP"], 2, "is not one of 'ERR', 'WARN', 'sla'."),
    (["show", *BROKERS, "--owner", "^pay=payments"], 2, "--owned-by RE=NAME"),
    (
        ["show", *BROKERS, "--group", "g", "--sort", "sla"],
        2,
        "--group sorts partitions: by status, ",
    ),
    (["show", *BROKERS, "--groups-allow", "*pay"], 2, "is not a regular expression (nothing"),
    (["show", *BROKERS, "--topics-deny", ""], 2, "every name matches that; leave it out."),
    (["show", *BROKERS, "--groups-deny", "/^a$/"], 2, "is written between slashes, which would"),
    (["show", *BROKERS, "--cluster", "my shop"], 2, "must be letters, digits, '.', '_' or '-'."),
    (["show", *BROKERS, "--allowed-lag", "orders"], 2, "'orders' must be RE=N."),
    (["show", *BROKERS, "--tolerance", "1s"], 2, "'1s' is not a number."),
    (["show", *BROKERS, "--keep-days", "0"], 2, "must be a whole number from 1 to 3,650."),
    (["show", *BROKERS, "--state", "document.toml"], 2, "--state: document.toml is no folder."),
    (["show", *BROKERS, "--timeout", "10s"], 2, "must be seconds, from 0.1 to 300."),
    (["show", *BROKERS, "--iam"], 2, "--region is needed, as the brokers' names do not hold it."),
    (["show", *BROKERS, "--profile", "ops"], 2, "--profile, --role and --region are for --iam."),
    (["show", *BROKERS, "--username", "u"], 2, "--password-env VAR, or --password-file F, is"),
    (["show", *BROKERS, "--password", "x"], 2, "It is --password-env VAR, or --password-file F"),
    (["show", *SASL], 2, "SASL_SSL needs --username, or --iam."),
    (["show", *SASL, "--username", "u", "--password-env", "P_W"], 2, "P_W is not set."),
    (["show", *SASL, "--username", "u", "--password-file", "no"], 2, "File 'no' does not exist."),
    (["show", *SASL, "--user", "u"], 2, "No such option --user. Did you mean --username?"),
    (
        ["show", *SASL, "--username", "u", "--sasl-mechanism", "SCRAM-SHA512"],
        2,
        "is not one of 'SCRAM-SHA-512', 'SCRAM-SHA-256', 'PLAIN'. Did you mean SCRAM-SHA-512?",
    ),
    (["show", *SASL, "--sasl-mechanism", "kerberos"], 2, "'SCRAM-SHA-256', 'PLAIN'. (See"),
    (["show", *BROKERS, "--security-protocol", "sasl_ssl"], 2, "Did you mean SASL_SSL?"),
    (["show", *BROKERS, "--security-protocol", "TLS"], 2, "is not one of 'PLAINTEXT', 'SSL', "),
    (["show", *BROKERS, "--certfile", "document.toml"], 2, "--certfile and --keyfile go together."),
    (["show", *BROKERS, "--cafile", "no.pem"], 2, "--cafile: there is no file no.pem."),
    (["watch", *BROKERS, "--interval", "1.5"], 2, "must be a whole number from 1 to 86,400."),
    (["watch", *BROKERS, "--window", "10"], 2, "10 runs at 60 s are 10m, so write 10m"),
    (["show", "--config", "no.toml"], 2, "File 'no.toml' does not exist."),
    (["show", "--config", "document.toml"], 1, "windoww: unknown key, did you mean window?"),
    (["show", "--config", "document.toml", "--hold", "9"], 2, "--hold does not go with --config"),
    (["serve", "--port", "80"], 2, "It is --listen PORT."),
    (["serve", "--listen", "0.0.0.0:8000"], 2, "add --token-file FILE"),
    (["serve", "--listen", "localhost"], 2, "must be HOST:PORT or PORT, with a port from 0 to"),
    (["serve", "--state", "nowhere"], 2, "--state: there is no folder nowhere."),
    (["serve", "--token-file", "no", "--listen", "0"], 2, "File 'no' does not exist."),
    (["serve", "--bucket", "b", "--state", "."], 2, "two sources: leave one out."),
    (["serve", "--interval", "5"], 2, "add --bootstrap-servers HOST:PORT or --config FILE"),
    (["query"], 2, "Name a query (--list has them), or give one by --execute or --file."),
    (["query", "worst"], 2, "There is no query worst. kafka-lag query --list has all."),
    (["report", "--state", "nowhere"], 2, "Directory 'nowhere' does not exist."),
    (["report", "--state", ".", "--date", "1 May"], 2, "'1 May' is not a date written YYYY-MM-DD"),
    (["why", "billing", "--state", "nowhere"], 2, "--state: there is no folder nowhere."),
    (["diff", "--against", "no.json"], 2, "There is no no.json: name a deployment's document."),
    (["replay", "--config", "no.json"], 2, "There is no no.json: name a deployment's document by"),
    (["config"], 2, "Missing argument 'FILE'."),
    (["config", "no.toml"], 2, "the file cannot be read (No such file or directory); begin with"),
    (["config", "document.toml"], 2, "windoww: unknown key, did you mean window?"),
    (["cost"], 2, "/cdk.json: run this beside it, or name a configuration with --config FILE."),
    (["cost", "document.toml"], 2, "(document.toml). A value follows the name of its option."),
    (["cost", "--output", "csv"], 2, "'csv' is not one of 'text', 'json'."),
    (["completion"], 2, "Missing argument 'SHELL'. Choose from: bash, zsh, fish."),
    (["completion", "tcsh"], 2, "'tcsh' is not one of 'bash', 'zsh', 'fish'."),
]


@pytest.mark.parametrize(
    ("argv", "code", "repair"),
    MISTAKES,
    ids=[" ".join(call) or "nothing" for call, _, _ in MISTAKES],
)
def test_a_mistake_is_answered_with_one_line_that_leads_to_its_repair(
    argv: list[str],
    code: int,
    repair: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "document.toml").write_text(FAULTY)
    monkeypatch.chdir(tmp_path)
    assert main(argv) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    (line,) = printed.err.splitlines()
    assert repair in line


# The variables, and what leads to the repair.
IN_VARIABLES = [
    ({"KAFKA_LAG_BROKERS": "b:9092"}, "Say where the brokers are: --bootstrap-servers"),
    (
        {"KAFKA_LAG_BOOTSTRAP_SERVERS": "b"},
        "for KAFKA_LAG_BOOTSTRAP_SERVERS: 'b' must be host:port",
    ),
    (
        {"KAFKA_LAG_CONFIG": "document.toml", "KAFKA_LAG_COMMAND_CONFIG": "document.toml"},
        "KAFKA_LAG_COMMAND_CONFIG does not go with --config",
    ),
    ({"KAFKA_LAG_COMMAND_CONFIG": "~/no"}, "for KAFKA_LAG_COMMAND_CONFIG: File '/"),
]


@pytest.mark.parametrize(
    ("environ", "repair"), IN_VARIABLES, ids=[" ".join(each) for each, _ in IN_VARIABLES]
)
def test_a_mistake_in_a_variable_names_the_variable(
    environ: dict[str, str],
    repair: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "document.toml").write_text(FAULTY)
    monkeypatch.chdir(tmp_path)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert main(["show"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert repair in line
