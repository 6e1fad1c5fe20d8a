# SPDX-License-Identifier: Apache-2.0
"""Where the brokers are and who we are to them, as options of a subcommand.

Nothing secret is an option: a password comes by the environment or a prompt, a key from its file,
and AWS credentials from where the AWS command line has them.
"""

from __future__ import annotations

import difflib
import getpass
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from kafka_lag.brokers.access import IAM, Access, Credentials, Login
from kafka_lag.brokers.login import CredentialSource, FixedCredentials, certificate_of_files
from kafka_lag.errors import ConfigError
from kafka_lag.settings import SERVER, authorities_fault
from kafka_lag_cdk.config.document import MECHANISMS, PROTOCOLS
from kafka_lag_cli.account.session import signed_login
from kafka_lag_cli.connecting.password_file import PasswordFile
from kafka_lag_cli.help_sections import add_options, option

SECTION: Final = "access"
_LEAST_TIMEOUT, _LONGEST_TIMEOUT = 0.1, 300.0
_MAX_PORT = 65_535
_DEFAULT_PROTOCOL, _DEFAULT_MECHANISM = "PLAINTEXT", "SCRAM-SHA-512"

# b-1.orders.a1b2c3.c4.kafka.eu-west-1.amazonaws.com, boot-a1b2.c1.kafka-serverless.us-east-1...
_MSK_REGION = re.compile(r"\.kafka(?:-serverless)?\.([a-z]{2}(?:-[a-z]+)+-\d)\.")


@dataclass(frozen=True, slots=True)
class BrokerOptions:
    """How to reach the brokers, and what the login is made of; None of each that is not used.

    `region` is that of the cluster, `profile` and `role` AWS's, for IAM alone.
    """

    access: Access
    credentials: Credentials | None = None
    region: str | None = None
    profile: str | None = None
    role: str | None = None
    certfile: Path | None = None
    keyfile: Path | None = None
    password_file: PasswordFile | None = None

    def make_login(self) -> Login | None:
        """Raises ConfigError for files that hold no certificate, or without AWS credentials."""
        if self.access.sasl_mechanism == IAM:
            return signed_login(self.profile, self.role, self.region or "")
        if self.certfile and self.keyfile:
            return certificate_of_files(self.certfile, self.keyfile, self.access.cafile)
        return self.credentials

    def make_source(self) -> CredentialSource:
        """The login as the collector takes it. Raises as `make_login` does."""
        return self.password_file or FixedCredentials(self.make_login())


def _servers(text: str) -> tuple[str, ...]:
    servers = tuple(part.strip() for part in text.split(",") if part.strip())
    wrong = [server for server in servers if not _is_server(server)]
    if wrong or not servers:
        raise click.BadParameter(f"{text!r} must be host:port,host:port,...")
    return servers


def _is_server(text: str) -> bool:
    if not SERVER.fullmatch(text) or "/" in text:
        return False
    return 0 < int(text.rpartition(":")[2]) <= _MAX_PORT


def _timeout(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not _LEAST_TIMEOUT <= seconds <= _LONGEST_TIMEOUT:
        raise click.BadParameter(f"{text!r} must be seconds, from 0.1 to 300")
    return seconds


def _option(*names: str, **rest: Any) -> Callable[[Any], Any]:
    return option(*names, section=SECTION, **rest)


class _Word(click.Choice[str]):
    """One of the words that the help lists, or of those it does not; else the nearest is named."""

    def __init__(self, listed: Sequence[str], unlisted: Sequence[str] = ()) -> None:
        super().__init__(listed)
        self._unlisted = unlisted

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in self._unlisted:
            return str(value)
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            near = difflib.get_close_matches(str(value).upper(), self.choices, 1)
            if not near:
                raise
            text = f"{error.message} Did you mean {near[0]}?"
            raise click.BadParameter(text, ctx, param) from None


SERVERS = option("--bootstrap-servers", type=_servers, metavar="H:P,...", help="the brokers")
_PATH = click.Path(path_type=Path)
login_options = add_options(
    _option("--iam", is_flag=True, help="log in to MSK with AWS credentials (SASL_SSL)"),
    _option("--profile", metavar="P", help="AWS profile (default: as the AWS command line)"),
    _option("--role", metavar="ARN", help="role to assume for --iam"),
    _option("--region", metavar="R", help="of the cluster (default: in the brokers' names)"),
    _option("--certfile", type=_PATH, metavar="F", help="client certificate, PEM (SSL)"),
    _option("--keyfile", type=_PATH, metavar="F", help="its private key, PEM"),
    _option(
        "--security-protocol",
        type=_Word(PROTOCOLS),
        metavar="P",
        help=f"{', '.join(PROTOCOLS)} ({_DEFAULT_PROTOCOL})",
    ),
    _option(
        "--sasl-mechanism",
        type=_Word(MECHANISMS, (IAM,)),
        metavar="M",
        help=f"{', '.join(MECHANISMS)} ({_DEFAULT_MECHANISM})",
    ),
    _option("--username", metavar="U", help="for SASL"),
    _option("--password-env", metavar="VAR", help="variable with the password (else a prompt)"),
    _option("--password-file", type=_PATH, metavar="F", help="the same, read again if rejected"),
    _option("--cafile", metavar="F", help="CA certificates, PEM (default: the system's)"),
    _option(
        "--timeout", type=_timeout, default="10", metavar="S", help="seconds a broker has (10)"
    ),
)


def brokers_of(
    options: Mapping[str, Any], environ: Mapping[str, str] = os.environ
) -> BrokerOptions:
    """The options together. Raises click.UsageError with one sentence for what does not fit."""
    cafile = options["cafile"]
    if cafile and (fault := authorities_fault(Path(cafile), cafile)):
        raise click.UsageError(f"--cafile: {fault}")
    if not options["bootstrap_servers"]:
        raise click.UsageError(
            "Say where the brokers are: --bootstrap-servers HOST:PORT, or --config FILE."
        )
    if options["iam"] or options["sasl_mechanism"] == IAM:
        return _by_role(options)
    if options["profile"] or options["region"] or options["role"]:
        raise click.UsageError("--profile, --role and --region are for --iam.")
    if options["certfile"] or options["keyfile"]:
        return _by_certificate(options)
    return _by_password(options, environ)


def _by_password(options: Mapping[str, Any], environ: Mapping[str, str]) -> BrokerOptions:
    protocol = options["security_protocol"] or _DEFAULT_PROTOCOL
    sasl = protocol.startswith("SASL")
    if sasl and not options["username"]:
        raise click.UsageError(f"{protocol} needs --username, or --iam.")
    if not sasl:
        for name in ("username", "password_env", "password_file", "sasl_mechanism"):
            if options[name]:
                raise click.UsageError(
                    f"{_spelled(name)} is for SASL, not {protocol}: "
                    "add --security-protocol SASL_SSL, or SASL_PLAINTEXT."
                )
        return BrokerOptions(_access(options, protocol, None))
    access = _access(options, protocol, options["sasl_mechanism"] or _DEFAULT_MECHANISM)
    if options["password_file"]:
        if options["password_env"]:
            raise click.UsageError("--password-env and --password-file: leave one out.")
        try:
            file = PasswordFile(options["username"], options["password_file"])
        except ConfigError as error:
            raise click.UsageError(f"--password-file: {error}") from None
        return BrokerOptions(access, password_file=file)
    return BrokerOptions(access, credentials=_credentials(options, environ))


def _by_role(options: Mapping[str, Any]) -> BrokerOptions:
    _refuse(options, "--iam", {"security_protocol": "SASL_SSL", "sasl_mechanism": IAM})
    region = options["region"] or region_of(options["bootstrap_servers"])
    if region is None:
        raise click.UsageError("--region is needed, as the brokers' names do not hold it.")
    return BrokerOptions(
        _access(options, "SASL_SSL", IAM),
        region=region,
        profile=options["profile"],
        role=options["role"],
    )


def region_of(servers: Iterable[str]) -> str | None:
    """The AWS region that is in the names of MSK's brokers, None for other names."""
    found = (_MSK_REGION.search(server) for server in servers)
    return next((each[1] for each in found if each), None)


def _by_certificate(options: Mapping[str, Any]) -> BrokerOptions:
    _refuse(options, "--certfile", {"security_protocol": "SSL"})
    if not (options["certfile"] and options["keyfile"]):
        raise click.UsageError("--certfile and --keyfile go together.")
    access = _access(options, "SSL", None)
    return BrokerOptions(access, certfile=options["certfile"], keyfile=options["keyfile"])


def _refuse(options: Mapping[str, Any], chosen: str, implied: Mapping[str, str]) -> None:
    """Other ways to log in beside an option; what it implies may be said as well."""
    others = ["username", "password_env", "password_file", "security_protocol", "sasl_mechanism"]
    for name in (*others, *(("certfile", "keyfile") if chosen == "--iam" else ())):
        value = options[name]
        if value is not None and value != implied.get(name):
            raise click.UsageError(f"{_spelled(name)} does not go with {chosen}: leave one out.")


def _spelled(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _access(options: Mapping[str, Any], protocol: str, mechanism: str | None) -> Access:
    return Access(
        bootstrap_servers=options["bootstrap_servers"],
        security_protocol=protocol,
        sasl_mechanism=mechanism,
        cafile=options["cafile"],
        broker_timeout=options["timeout"],
    )


def _credentials(options: Mapping[str, Any], environ: Mapping[str, str]) -> Credentials:
    username, variable = options["username"], options["password_env"]
    if variable:
        password = environ.get(variable)
        if not password:
            raise click.UsageError(f"--password-env: the variable {variable} is not set.")
        return Credentials(username, password)
    if not sys.stdin.isatty():
        raise click.UsageError(
            "--password-env VAR, or --password-file F, is needed where nobody can be asked for "
            "the password."
        )
    try:
        password = getpass.getpass(f"Password of {username}: ")
    except EOFError:
        raise click.UsageError("No password was given.") from None
    return Credentials(username, password)
