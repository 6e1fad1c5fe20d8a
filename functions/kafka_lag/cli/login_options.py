# SPDX-License-Identifier: Apache-2.0
"""Where the brokers are and who we are to them, as options of a subcommand.

Nothing secret is an option: a password comes by the environment or a prompt, a key from its file,
and AWS credentials from where the AWS command line has them.
"""

from __future__ import annotations

import argparse
import getpass
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_lag.brokers.access import IAM, Access, Credentials, Login
from kafka_lag.brokers.login import certificate_of_files, role_login
from kafka_lag.errors import ConfigError
from kafka_lag.settings import authorities_fault
from kafka_lag_cdk.config.document import MECHANISMS, PROTOCOLS

_LEAST_TIMEOUT, _LONGEST_TIMEOUT = 0.1, 300.0
_DEFAULT_PROTOCOL, _DEFAULT_MECHANISM = "PLAINTEXT", "SCRAM-SHA-512"

# b-1.orders.a1b2c3.c4.kafka.eu-west-1.amazonaws.com, boot-a1b2.c1.kafka-serverless.us-east-1...
_MSK_REGION = re.compile(r"\.kafka(?:-serverless)?\.([a-z]{2}(?:-[a-z]+)+-\d)\.")


@dataclass(frozen=True, slots=True)
class BrokerOptions:
    """How to reach the brokers, and what the login is made of; None of each that is not used.

    `region` is that of the cluster and `profile` AWS's, for IAM alone.
    """

    access: Access
    credentials: Credentials | None = None
    region: str | None = None
    profile: str | None = None
    certfile: Path | None = None
    keyfile: Path | None = None

    def make_login(self) -> Login | None:
        """Raises ConfigError for files that hold no certificate, or without AWS credentials."""
        if self.access.sasl_mechanism == IAM:
            return role_login(_aws_credentials(self.profile), self.region or "")
        if self.certfile and self.keyfile:
            return certificate_of_files(self.certfile, self.keyfile, self.access.cafile)
        return self.credentials


def add_brokers(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `brokers_of`."""
    group = parser.add_argument_group("access")
    group.add_argument(
        "--bootstrap-servers", type=_servers, required=True, metavar="H:P,...", help="brokers"
    )
    group.add_argument(
        "--iam", action="store_true", help="log in to MSK with AWS credentials (SASL_SSL)"
    )
    group.add_argument("--profile", metavar="P", help="of AWS, for --iam (default: as AWS's CLI)")
    group.add_argument(
        "--region", metavar="R", help="of the cluster, for --iam (default: in the brokers' names)"
    )
    group.add_argument("--certfile", type=Path, metavar="F", help="client certificate, PEM (SSL)")
    group.add_argument("--keyfile", type=Path, metavar="F", help="its private key, PEM")
    group.add_argument("--security-protocol", choices=PROTOCOLS, help=f"({_DEFAULT_PROTOCOL})")
    group.add_argument("--sasl-mechanism", choices=MECHANISMS, help=f"({_DEFAULT_MECHANISM})")
    group.add_argument("--username", metavar="U")
    group.add_argument(
        "--password-env", metavar="VAR", help="variable with the password (else you are asked)"
    )
    group.add_argument("--cafile", metavar="F", help="CA certificates, PEM (default: the system's)")
    group.add_argument(
        "--timeout", type=_timeout, default=10.0, metavar="S", help="seconds a broker has (10)"
    )


def brokers_of(
    parser: argparse.ArgumentParser, parsed: argparse.Namespace, environ: Mapping[str, str]
) -> BrokerOptions:
    """The options together; exits with 2 and one sentence for what does not fit."""
    if parsed.cafile and (fault := authorities_fault(Path(parsed.cafile), parsed.cafile)):
        parser.error(f"--cafile: {fault}")
    if parsed.iam or parsed.sasl_mechanism == IAM:
        return _by_role(parser, parsed)
    if parsed.profile or parsed.region:
        parser.error("--profile and --region are for --iam")
    if parsed.certfile or parsed.keyfile:
        return _by_certificate(parser, parsed)
    protocol = parsed.security_protocol or _DEFAULT_PROTOCOL
    sasl = protocol.startswith("SASL")
    if sasl and not parsed.username:
        parser.error(f"{protocol} needs --username")
    if not sasl and (parsed.username or parsed.password_env):
        parser.error(f"--username and --password-env are for SASL, not {protocol}")
    return BrokerOptions(
        _access(parsed, protocol, (parsed.sasl_mechanism or _DEFAULT_MECHANISM) if sasl else None),
        credentials=_credentials(parser, parsed, environ) if sasl else None,
    )


def _by_role(parser: argparse.ArgumentParser, parsed: argparse.Namespace) -> BrokerOptions:
    _refuse(parser, parsed, "--iam", {"security_protocol": "SASL_SSL", "sasl_mechanism": IAM})
    found = (_MSK_REGION.search(server) for server in parsed.bootstrap_servers)
    regions = [each[1] for each in found if each]
    region = parsed.region or next(iter(regions), None)
    if region is None:
        parser.error("--region is needed, as the brokers' names do not hold it")
    access = _access(parsed, "SASL_SSL", IAM)
    return BrokerOptions(access, region=region, profile=parsed.profile)


def _by_certificate(parser: argparse.ArgumentParser, parsed: argparse.Namespace) -> BrokerOptions:
    _refuse(parser, parsed, "--certfile", {"security_protocol": "SSL"})
    if not (parsed.certfile and parsed.keyfile):
        parser.error("--certfile and --keyfile go together")
    access = _access(parsed, "SSL", None)
    return BrokerOptions(access, certfile=parsed.certfile, keyfile=parsed.keyfile)


def _refuse(
    parser: argparse.ArgumentParser,
    parsed: argparse.Namespace,
    option: str,
    implied: Mapping[str, str],
) -> None:
    """Other ways to log in beside an option; what it implies may be said as well."""
    others = ["username", "password_env", "security_protocol", "sasl_mechanism"]
    for name in (*others, *(("certfile", "keyfile") if option == "--iam" else ())):
        value = getattr(parsed, name)
        if value is not None and value != implied.get(name):
            parser.error(f"--{name.replace('_', '-')} does not go with {option}")


def _access(parsed: argparse.Namespace, protocol: str, mechanism: str | None) -> Access:
    return Access(
        bootstrap_servers=parsed.bootstrap_servers,
        security_protocol=protocol,
        sasl_mechanism=mechanism,
        cafile=parsed.cafile,
        broker_timeout=parsed.timeout,
    )


def _aws_credentials(profile: str | None) -> Any:
    # Costs the start of those alone who log in this way.
    import boto3  # noqa: PLC0415
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415

    try:
        return boto3.Session(profile_name=profile).get_credentials()
    except BotoCoreError as error:
        raise ConfigError(f"The AWS credentials cannot be read: {error}") from error


def _credentials(
    parser: argparse.ArgumentParser, parsed: argparse.Namespace, environ: Mapping[str, str]
) -> Credentials:
    if parsed.password_env:
        password = environ.get(parsed.password_env)
        if not password:
            parser.error(f"--password-env: the variable {parsed.password_env} is not set")
        return Credentials(parsed.username, password)
    if not sys.stdin.isatty():
        parser.error("--password-env VAR is needed where nobody can be asked for the password")
    try:
        password = getpass.getpass(f"Password of {parsed.username}: ")
    except EOFError:
        parser.error("no password was given")
    return Credentials(parsed.username, password)


def _timeout(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not _LEAST_TIMEOUT <= seconds <= _LONGEST_TIMEOUT:
        raise argparse.ArgumentTypeError(f"{text!r} must be seconds, from 0.1 to 300")
    return seconds


def _servers(text: str) -> tuple[str, ...]:
    servers = tuple(part.strip() for part in text.split(",") if part.strip())
    wrong = [server for server in servers if not re.fullmatch(r".+:\d{1,5}", server)]
    if wrong or not servers:
        raise argparse.ArgumentTypeError(f"{text!r} must be host:port,host:port,...")
    return servers
