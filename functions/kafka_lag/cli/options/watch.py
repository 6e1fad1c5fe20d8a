# SPDX-License-Identifier: Apache-2.0
"""Options of `kafka-lag watch`; a password comes by environment or prompt."""

from __future__ import annotations

import argparse
import getpass
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kafka_lag.brokers.access import Access, Credentials
from kafka_lag.cli.options.rules import add_rules, rules_of
from kafka_lag.lag.group_settings import NameFilter, Rules
from kafka_lag.settings import INTERNAL_TOPICS, authorities_fault
from kafka_lag.snapshots.keys import CLUSTER_NAME
from kafka_lag_cdk.config.document import MECHANISMS, PROTOCOLS, window_fault

_LEAST_TIMEOUT, _LONGEST_TIMEOUT = 0.1, 300.0

_EXAMPLES = """examples:
  uv run kafka-lag watch --bootstrap-servers localhost:9092 --state ./lag --once
  PASSWORD=... uv run kafka-lag watch --bootstrap-servers b-1.example:9096,b-2.example:9096 \\
      --security-protocol SASL_SSL --username monitor --password-env PASSWORD --state ./lag
"""


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """Checked options; the interval in seconds, the cluster None for Kafka's own id."""

    access: Access
    credentials: Credentials | None
    rules: Rules
    state: Path
    cluster: str | None
    interval: int
    once: bool
    output: str


def parse(
    argv: Sequence[str] | None = None, environ: Mapping[str, str] = os.environ
) -> WatchOptions:
    """The options; exits with 2 and one sentence for what is wrong."""
    parser = _parser()
    told = parser.parse_args(argv)
    sasl = told.security_protocol.startswith("SASL")
    if sasl and not told.username:
        parser.error(f"{told.security_protocol} needs --username")
    if not sasl and (told.username or told.password_env):
        parser.error(f"--username and --password-env are for SASL, not {told.security_protocol}")
    if told.state.exists() and not told.state.is_dir():
        parser.error(f"--state: {told.state} is no folder")
    if told.cafile and (fault := authorities_fault(Path(told.cafile), told.cafile)):
        parser.error(f"--cafile: {fault}")
    fault = window_fault(told.window, told.interval)
    if fault:
        parser.error(f"--window: {fault}")
    return WatchOptions(
        access=Access(
            bootstrap_servers=told.bootstrap_servers,
            security_protocol=told.security_protocol,
            sasl_mechanism=told.sasl_mechanism if sasl else None,
            cafile=told.cafile,
            broker_timeout=told.timeout,
        ),
        credentials=Credentials(told.username, _password(parser, told, environ)) if sasl else None,
        rules=replace(
            rules_of(told, told.interval),
            groups=NameFilter(told.groups_allow, told.groups_deny),
            topics=NameFilter(told.topics_allow, told.topics_deny),
        ),
        state=told.state,
        cluster=told.cluster,
        interval=told.interval,
        once=told.once,
        output=told.output,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kafka-lag watch",
        description="Shows the lag of a cluster's consumer groups and keeps snapshots in a folder. "
        "Needs Describe on the cluster, topics and groups; reads no record, changes nothing.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--state", type=Path, required=True, metavar="DIR", help="snapshots go here"
    )
    parser.add_argument("--cluster", type=_cluster, help="its name (default: Kafka's cluster id)")
    parser.add_argument(
        "--interval", type=_seconds, default=60, metavar="S", help="seconds between runs (60)"
    )
    parser.add_argument("--once", action="store_true", help="one run, then exit")
    parser.add_argument("--output", choices=("table", "json"), default="table")
    _add_access(parser.add_argument_group("access"))
    _add_filters(parser.add_argument_group("filters", "unanchored regular expressions; deny wins"))
    add_rules(parser)
    return parser


def _add_access(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--bootstrap-servers", type=_servers, required=True, metavar="H:P,...", help="brokers"
    )
    group.add_argument("--security-protocol", choices=PROTOCOLS, default="PLAINTEXT")
    group.add_argument("--sasl-mechanism", choices=MECHANISMS, default="SCRAM-SHA-512")
    group.add_argument("--username", metavar="U")
    group.add_argument(
        "--password-env", metavar="VAR", help="variable with the password (else you are asked)"
    )
    group.add_argument("--cafile", metavar="F", help="CA certificates, PEM (default: the system's)")
    group.add_argument(
        "--timeout", type=_timeout, default=10.0, metavar="S", help="seconds a broker has (10)"
    )


def _add_filters(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--groups-allow", type=_regex, metavar="RE")
    group.add_argument("--groups-deny", type=_regex, metavar="RE")
    group.add_argument("--topics-allow", type=_regex, metavar="RE")
    group.add_argument(
        "--topics-deny",
        type=_regex,
        metavar="RE",
        default=re.compile(INTERNAL_TOPICS),
        help="replaces the default, which hides Kafka's own topics",
    )


def _password(
    parser: argparse.ArgumentParser, told: argparse.Namespace, environ: Mapping[str, str]
) -> str:
    if told.password_env:
        password = environ.get(told.password_env)
        if not password:
            parser.error(f"--password-env: the variable {told.password_env} is not set")
        return password
    if not sys.stdin.isatty():
        parser.error("--password-env VAR is needed where nobody can be asked for the password")
    try:
        return getpass.getpass(f"Password of {told.username}: ")
    except EOFError:
        parser.error("no password was given")


def _timeout(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not _LEAST_TIMEOUT <= seconds <= _LONGEST_TIMEOUT:
        raise argparse.ArgumentTypeError(f"{text!r} must be seconds, from 0.1 to 300")
    return seconds


def _regex(text: str) -> re.Pattern[str]:
    if not text:
        raise argparse.ArgumentTypeError("an empty expression matches every name: leave it out")
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no regular expression: {error}") from error


def _servers(text: str) -> tuple[str, ...]:
    servers = tuple(part.strip() for part in text.split(",") if part.strip())
    wrong = [server for server in servers if not re.fullmatch(r".+:\d{1,5}", server)]
    if wrong or not servers:
        raise argparse.ArgumentTypeError(f"{text!r} must be host:port,host:port,...")
    return servers


def _cluster(text: str) -> str:
    if not CLUSTER_NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r} must be letters, digits, '.', '_' or '-'")
    return text


def _seconds(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of seconds, at least 1")
    return int(text)
