# SPDX-License-Identifier: Apache-2.0
"""Options of a subcommand for the brokers' addresses and the login.

Nothing secret is an option: a password comes by the environment or a prompt, a key from its file,
and AWS credentials from where the AWS command line has them.
"""

from __future__ import annotations

import difflib
import getpass
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from kafka_lag.brokers.access import IAM, Access, Credentials, Login, TlsVersions
from kafka_lag.brokers.login import (
    CertifiedLogin,
    CredentialSource,
    FixedCredentials,
    certificate_of_files,
    certificate_of_pem,
)
from kafka_lag.errors import ConfigError
from kafka_lag.settings import SERVER, authorities_fault
from kafka_lag_cli.account.session import AwsRole, signed_login
from kafka_lag_cli.connecting.client_properties import ClientProperties, read_client_properties
from kafka_lag_cli.connecting.login_file import LoginFile, read_password
from kafka_lag_cli.help_sections import FILE, add_options, is_from_variable, option
from kafka_lag_config.protocols import PASSWORD_MECHANISMS, PROTOCOLS

SECTION: Final = "access"
_LEAST_TIMEOUT, _LONGEST_TIMEOUT = 0.1, 300.0
_MAX_PORT = 65_535
_DEFAULT_MECHANISM = "SCRAM-SHA-512"
_PASSWORD = "KAFKA_LAG_PASSWORD"  # noqa: S105  # its name

# b-1.orders.a1b2c3.c4.kafka.eu-west-1.amazonaws.com, boot-a1b2.c1.kafka-serverless.us-east-1...
_OF_PASSWORD = ("username", "password_env", "password_file", "sasl_mechanism")
_NO_REGION = "--region is needed, as the brokers' names do not hold it."
_AWS_DOMAINS = (".amazonaws.com", ".amazonaws.com.cn")
_MSK_REGION = re.compile(r"\.kafka(?:-serverless)?\.([a-z]{2}(?:-[a-z]+)+-\d)\.")


@dataclass(frozen=True, slots=True)
class BrokerOptions:
    """How to reach the brokers, and the parts of the login; null for each unused one.

    `region` is that of the cluster, `profile` and `role` AWS's, for IAM alone. The protocol is a
    guess unless `protocol_named`. `authorities` holds the file of `cafile` where that is ours.
    """

    access: Access
    credentials: Credentials | None = None
    region: str | None = None
    profile: str | None = None
    role: AwsRole | None = None
    certfile: Path | None = None
    keyfile: Path | None = None
    login_file: LoginFile | None = None
    protocol_named: bool = True
    authorities: Any = None

    def make_login(self) -> Login | None:
        """Raises ConfigError for files that hold no certificate, or without AWS credentials."""
        if self.access.sasl_mechanism == IAM:
            return signed_login(self.profile, self.role, self.region or "")
        if self.certfile and self.keyfile:
            return certificate_of_files(self.certfile, self.keyfile, self.access.cafile)
        return self.credentials

    def make_source(self) -> CredentialSource:
        """The login as the collector takes it. Raises as `make_login` does."""
        return self.login_file or FixedCredentials(self.make_login())


def _servers(text: str) -> tuple[str, ...]:
    servers = tuple(part.strip() for part in text.split(",") if part.strip())
    wrong = [server for server in servers if not _is_server(server)]
    if f"-b{text}" in ("-bootstrap-servers", "-bootstrap-server", "-brokers"):
        raise click.BadParameter(f"Options begin with two hyphens: --b{text}")
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


SERVERS = option(
    *("-b", "--bootstrap-servers", "--bootstrap-server", "--brokers"),
    type=_servers,
    metavar="H:P,...",
    help="the brokers",
)
login_options = add_options(
    _option(
        "--command-config",
        type=FILE,
        metavar="F",
        help="client.properties of Kafka's own tools: who logs in, and how",
    ),
    _option("--iam", is_flag=True, help="log in to MSK with AWS credentials (SASL_SSL)"),
    _option("--profile", metavar="P", help="AWS profile (default: as the AWS command line)"),
    _option("--role", metavar="ARN", help="role to assume for --iam"),
    _option("--region", metavar="R", help="of the cluster (default: in the brokers' names)"),
    _option("--certfile", type=FILE, metavar="F", help="client certificate, PEM (SSL)"),
    _option("--keyfile", type=FILE, metavar="F", help="its private key, PEM"),
    _option(
        "--security-protocol",
        type=_Word(PROTOCOLS),
        metavar="P",
        help=f"{', '.join(PROTOCOLS)} (default: found by a look at the port)",
    ),
    _option(
        "--sasl-mechanism",
        type=_Word(PASSWORD_MECHANISMS, (IAM,)),
        metavar="M",
        help=f"{', '.join(PASSWORD_MECHANISMS)} ({_DEFAULT_MECHANISM})",
    ),
    _option("--username", metavar="U", help="for SASL"),
    _option(
        "--password-env",
        metavar="VAR",
        help=f"variable with the password ({_PASSWORD}, else a prompt)",
    ),
    _option("--password-file", type=FILE, metavar="F", help="the same, read again if rejected"),
    _option("--cafile", metavar="F", help="CA certificates, PEM (default: the system's)"),
    _option(
        "--timeout",
        type=_timeout,
        default="10",
        metavar="S",
        help="seconds a broker has to answer (10)",
    ),
)


def brokers_of(
    options: Mapping[str, Any], environ: Mapping[str, str] = os.environ
) -> BrokerOptions:
    """The options together. Raises click.UsageError with one sentence for what does not fit."""
    cafile = options["cafile"]
    if cafile and (fault := authorities_fault(Path(cafile), cafile)):
        raise click.UsageError(f"--cafile: {fault}")
    if options["command_config"]:
        return _by_command_config(options)
    if not options["bootstrap_servers"]:
        raise click.UsageError(
            "Say where the brokers are: --bootstrap-servers HOST:PORT, or --config FILE."
        )
    if options["iam"] or options["sasl_mechanism"] == IAM:
        return _by_role(options)
    profile = options["profile"] and not is_from_variable("profile")
    if profile or options["region"] or options["role"]:
        raise click.UsageError("--profile, --role and --region are for --iam.")
    if options["certfile"] or options["keyfile"]:
        return _by_certificate(options)
    return _by_password(options, environ)


def _by_password(options: Mapping[str, Any], environ: Mapping[str, str]) -> BrokerOptions:
    protocol, named = options["security_protocol"], options["security_protocol"] is not None
    if protocol is None:
        logs_in = any(options[name] for name in _OF_PASSWORD)
        protocol = "SASL_SSL" if logs_in else "PLAINTEXT"
    sasl = protocol.startswith("SASL")
    if sasl and not options["username"]:
        if not named:
            lone = next(name for name in _OF_PASSWORD if options[name])
            raise click.UsageError(f"{_spelled(lone)} needs --username.")
        raise click.UsageError(f"{protocol} needs --username, or --iam.")
    if not sasl:
        for name in _OF_PASSWORD:
            if options[name]:
                raise click.UsageError(
                    f"{_spelled(name)} is for SASL, not {protocol}: "
                    "add --security-protocol SASL_SSL, or SASL_PLAINTEXT."
                )
        return BrokerOptions(_access(options, protocol, None), protocol_named=named)
    access = _access(options, protocol, options["sasl_mechanism"] or _DEFAULT_MECHANISM)
    if options["password_file"]:
        if options["password_env"]:
            raise click.UsageError("--password-env and --password-file: leave one out.")
        try:
            file = LoginFile(options["password_file"], partial(read_password, options["username"]))
        except ConfigError as error:
            raise click.UsageError(f"--password-file: {error}") from None
        return BrokerOptions(access, login_file=file, protocol_named=named)
    return BrokerOptions(access, credentials=_credentials(options, environ), protocol_named=named)


def _by_command_config(options: Mapping[str, Any]) -> BrokerOptions:
    """The file's login; the command line may name brokers, region and authorities beside it."""
    path, cafile = options["command_config"], options["cafile"]
    for name in (
        "iam",
        *_OF_PASSWORD,
        "security_protocol",
        "certfile",
        "keyfile",
        "profile",
        "role",
    ):
        if options[name] and not is_from_variable(name):
            raise click.UsageError(
                f"{_spelled(name)} does not go with --command-config: leave one out."
            )

    def read(path: Path) -> ClientProperties:
        return read_client_properties(path, has_cafile=cafile is not None)

    try:
        found = read(path)
        servers = options["bootstrap_servers"] or _servers_of(found, path)
        if found.missing_truststore:
            _warn_of_truststore(found.missing_truststore, servers, path)
        authorities = None
        if found.authorities is not None:
            # What connects, and what looks at ports, reads authorities from files alone.
            authorities = tempfile.NamedTemporaryFile(suffix=".pem")  # noqa: SIM115  # held on to
            authorities.write(found.authorities.encode())
            authorities.flush()
            cafile = authorities.name
        cafile = cafile or found.cafile
        if cafile and (fault := authorities_fault(Path(cafile), cafile)):
            raise ConfigError(f"{path}: ssl.truststore.location: {fault}.")
        logs_in = found.username is not None or found.sasl_mechanism == IAM
        protocol = found.security_protocol or ("SASL_SSL" if logs_in else "PLAINTEXT")
        if found.client_pem and not logs_in:
            protocol = found.security_protocol or "SSL"
        named = {**options, "bootstrap_servers": servers, "cafile": cafile}
        access = _access(named, protocol, found.sasl_mechanism, found.tls_versions)
        of_file = BrokerOptions(
            access,
            profile=found.profile,
            role=found.role,
            protocol_named=found.security_protocol is not None or found.client_pem is not None,
            authorities=authorities,
        )
        if found.sasl_mechanism == IAM:
            region = options["region"] or region_of(servers)
            if region is None:
                raise click.UsageError(_NO_REGION)
            return replace(of_file, region=region)
        if options["region"]:
            raise click.UsageError("--region is for --iam, or AWS_MSK_IAM.")
        if not logs_in and found.client_pem is None:
            return of_file
        login_file = LoginFile(path, lambda path: _login_of(read(path), path, cafile))
    except ConfigError as error:
        raise click.UsageError(f"--command-config: {error}") from None
    return replace(of_file, login_file=login_file)


def _warn_of_truststore(fault: str, servers: Iterable[str], path: Path) -> None:
    """Says that the system's authorities do. Raises ConfigError unless all brokers are MSK's."""
    hosts = [server.rpartition(":")[0] for server in servers]
    if not all(region_of([host]) and host.endswith(_AWS_DOMAINS) for host in hosts):
        raise ConfigError(f"{path}: {fault}.")
    click.echo(
        f"{path}: {fault}. MSK's certificates are public ones, so the system's authorities are "
        "taken.",
        err=True,
    )


def _servers_of(found: ClientProperties, path: Path) -> tuple[str, ...]:
    if found.bootstrap_servers is None:
        raise click.UsageError(
            f"Say where the brokers are: --bootstrap-servers HOST:PORT, or bootstrap.servers in "
            f"{path}."
        )
    try:
        return _servers(found.bootstrap_servers)
    except click.BadParameter as error:
        raise ConfigError(f"{path}: bootstrap.servers: {error.message}.") from None


def _login_of(found: ClientProperties, path: Path, cafile: str | None) -> Login:
    """The password, the certificate, or both."""
    certificate = found.client_pem and certificate_of_pem(
        found.client_pem,
        found.key_password,
        cafile,
        f"The keystore of {path}",
        found.tls_versions,
    )
    if found.username is None or found.password is None:
        if not certificate:
            raise ConfigError(f"{path} names nobody who logs in.")
        return certificate
    credentials = Credentials(found.username, found.password)
    return CertifiedLogin(credentials, certificate) if certificate else credentials


def _by_role(options: Mapping[str, Any]) -> BrokerOptions:
    _refuse(options, "--iam", {"security_protocol": "SASL_SSL", "sasl_mechanism": IAM})
    region = options["region"] or region_of(options["bootstrap_servers"])
    if region is None:
        raise click.UsageError(_NO_REGION)
    return BrokerOptions(
        _access(options, "SASL_SSL", IAM),
        region=region,
        profile=options["profile"],
        role=AwsRole(options["role"]) if options["role"] else None,
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


def _access(
    options: Mapping[str, Any],
    protocol: str,
    mechanism: str | None,
    tls_versions: TlsVersions | None = None,
) -> Access:
    return Access(
        bootstrap_servers=options["bootstrap_servers"],
        security_protocol=protocol,
        sasl_mechanism=mechanism,
        cafile=options["cafile"],
        broker_timeout=options["timeout"],
        tls_versions=tls_versions,
    )


def _credentials(options: Mapping[str, Any], environ: Mapping[str, str]) -> Credentials:
    username, variable = options["username"], options["password_env"]
    if variable is None and environ.get(_PASSWORD):
        variable = _PASSWORD
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
