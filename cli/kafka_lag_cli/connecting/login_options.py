# SPDX-License-Identifier: Apache-2.0
"""Options of a subcommand for the brokers' addresses and the login.

Nothing secret is an option: a password comes from the environment, a file or a prompt, a key from
its file, and AWS credentials from where the AWS command line has them.
"""

from __future__ import annotations

import getpass
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from kafka_lag.brokers.access import IAM, IAM_OF_MSK, Access, Credentials, Login
from kafka_lag.brokers.login import (
    CertifiedLogin,
    ClientCertificate,
    CredentialSource,
    FixedCredentials,
    certificate_of_pem,
)
from kafka_lag.errors import ConfigError
from kafka_lag.settings import SERVER, authorities_fault
from kafka_lag_cli.account.session import AwsRole, open_session, signed_login
from kafka_lag_cli.connecting.client_properties import (
    ClientProperties,
    read_client_properties,
    read_given,
)
from kafka_lag_cli.connecting.login_file import LoginFile, read_password
from kafka_lag_cli.connecting.rule_options import ACCESS
from kafka_lag_cli.help_sections import FILE, add_options, is_from_variable, option

SECTION: Final = ACCESS
_MAX_PORT = 65_535
_PASSWORD = "KAFKA_LAG_PASSWORD"  # noqa: S105  # its name
_OF_IAM = {
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": IAM_OF_MSK,
    "sasl.jaas.config": "software.amazon.msk.auth.iam.IAMLoginModule required;",
}

# b-1.orders.a1b2c3.c4.kafka.eu-west-1.amazonaws.com, boot-a1b2.c1.kafka-serverless.us-east-1...
_AWS_DOMAINS = (".amazonaws.com", ".amazonaws.com.cn")
_MSK_REGION = re.compile(r"\.kafka(?:-serverless)?\.([a-z]{2}(?:-[a-z]+)+-\d)\.")


@dataclass(frozen=True, slots=True)
class BrokerOptions:
    """How to reach the brokers, and how to log in.

    `region`, `profile` and `role` are for IAM, which takes no `source`. The protocol is a guess
    unless `protocol_named`. `authorities` keeps the file of `cafile` if that is ours.
    """

    access: Access
    source: CredentialSource = field(default_factory=FixedCredentials)
    region: str | None = None
    profile: str | None = None
    role: AwsRole | None = None
    protocol_named: bool = True
    authorities: Any = None

    def make_source(self) -> CredentialSource:
        """Returns the login as the collector takes it. Raises ConfigError without credentials."""
        if self.access.sasl_mechanism == IAM:
            return FixedCredentials(signed_login(self.profile, self.role, self.region or ""))
        return self.source


def _servers(text: str) -> tuple[str, ...]:
    servers = tuple(part.strip() for part in text.split(",") if part.strip())
    wrong = [server for server in servers if not _is_server(server)]
    if f"-b{text}" in ("-bootstrap-servers", "-bootstrap-server"):
        raise click.BadParameter(f"Options begin with two hyphens: --b{text}")
    if wrong or not servers:
        raise click.BadParameter(f"{text!r} must be host:port,host:port,...")
    return servers


def _is_server(text: str) -> bool:
    if not SERVER.fullmatch(text) or "/" in text:
        return False
    return 0 < int(text.rpartition(":")[2]) <= _MAX_PORT


SERVERS = option(
    *("-b", "--bootstrap-servers", "--bootstrap-server"),
    type=_servers,
    metavar="H:P",
    help="brokers to connect to first",
    section=SECTION,
)
_option = partial(option, section=SECTION)
login_options = add_options(
    _option("--command-config", type=FILE, metavar="F", help="client.properties of Kafka's tools"),
    _option(
        "-X",
        "properties",
        multiple=True,
        metavar="KEY=VALUE",
        help="one of its keys: security.protocol=SSL",
    ),
    _option("--iam", is_flag=True, help="log in to MSK with AWS credentials"),
    _option("--profile", metavar="P", help="AWS profile"),
    _option("--username", metavar="U", help="log in with a password (SCRAM-SHA-512)"),
    _option("--password-env", metavar="VAR", help=f"take it from a variable ({_PASSWORD})"),
    _option("--password-file", type=FILE, metavar="F", help="take it from a file"),
)


def brokers_of(
    options: Mapping[str, Any], environ: Mapping[str, str] = os.environ
) -> BrokerOptions:
    """Returns the options together. Raises click.UsageError if some do not fit each other."""
    _check_together(options)
    path = options["command_config"]
    try:
        given = read_given(options["properties"])
        if options["iam"]:
            _check_iam(options, given)
            given |= _OF_IAM
        read = partial(read_client_properties, given=given, username=options["username"])
        return _brokers(options, environ, read(path), read)
    except ConfigError as error:
        named = path is None or not str(error).startswith(str(path))
        raise click.UsageError(str(error) if named else f"--command-config: {error}") from None


def _check_together(options: Mapping[str, Any]) -> None:
    if options["command_config"] is None and not options["bootstrap_servers"]:
        raise click.UsageError(
            "Say where the brokers are: --bootstrap-servers HOST:PORT, or --config FILE."
        )
    for name in ("password_env", "password_file"):
        if options[name] and not options["username"]:
            raise click.UsageError(f"{_spelled(name)} needs --username.")
    if options["password_env"] and options["password_file"]:
        raise click.UsageError("--password-env and --password-file: leave one out.")


def _check_iam(options: Mapping[str, Any], given: Mapping[str, str]) -> None:
    """Raises click.UsageError for other ways to log in, except what --iam implies."""
    for name in ("username", "command_config"):
        if options[name] and not is_from_variable(name):
            raise click.UsageError(f"{_spelled(name)} does not go with --iam: leave one out.")
    for key, value in given.items():
        implied = _OF_IAM.get(key)
        if implied is not None and value.upper() != implied:
            raise click.UsageError(f"-X {key}={value} does not go with --iam: leave one out.")


def _brokers(
    options: Mapping[str, Any],
    environ: Mapping[str, str],
    found: ClientProperties,
    read: Callable[[Path], ClientProperties],
) -> BrokerOptions:
    path = options["command_config"]
    servers = options["bootstrap_servers"] or _servers_of(found, path)
    if found.missing_truststore:
        _warn_of_truststore(found.missing_truststore, servers, path)
    authorities, cafile = None, found.cafile
    if found.authorities is not None:
        # What connects, and what looks at ports, reads authorities from files alone.
        authorities = tempfile.NamedTemporaryFile(suffix=".pem")  # noqa: SIM115  # held on to
        authorities.write(found.authorities.encode())
        authorities.flush()
        cafile = authorities.name
    if cafile and (fault := authorities_fault(Path(cafile), cafile)):
        raise ConfigError(f"{path or '-X'}: ssl.truststore.location: {fault}.")
    by_iam = found.sasl_mechanism == IAM
    profile = options["profile"] or found.profile
    if options["profile"] and not (by_iam or is_from_variable("profile")):
        raise click.UsageError("--profile is for --iam: leave it out.")
    has_login = found.username is not None or by_iam
    guess = "SASL_SSL" if has_login else "SSL" if found.client_pem else "PLAINTEXT"
    access = Access(
        bootstrap_servers=servers,
        security_protocol=found.security_protocol or guess,
        sasl_mechanism=found.sasl_mechanism,
        cafile=cafile,
        broker_timeout=found.timeout,
        tls_versions=found.tls_versions,
    )
    is_named = found.security_protocol is not None or found.client_pem is not None
    make = partial(BrokerOptions, access, protocol_named=is_named, authorities=authorities)
    if by_iam:
        return make(region=_region(servers, profile), profile=profile, role=found.role)
    if options["username"]:
        return make(_password_source(options, environ, _certificate_of(found, path, cafile)))
    if not (has_login or found.client_pem):
        return make()
    if path is None:
        return make(FixedCredentials(_login_of(found, path, cafile)))
    return make(LoginFile(path, lambda path: _login_of(read(path), path, cafile)))


def _region(servers: Iterable[str], profile: str | None) -> str:
    """Returns the region in the brokers' names, or else that of the AWS settings."""
    region = region_of(servers) or open_session(profile).region_name
    if not region:
        raise click.UsageError(
            "The brokers' names do not hold the AWS region: set AWS_REGION, or a profile's region."
        )
    return str(region)


def _password_source(
    options: Mapping[str, Any], environ: Mapping[str, str], certificate: ClientCertificate | None
) -> CredentialSource:
    """Returns what gets the password of --username; a certificate may stand beside it."""
    username, file = options["username"], options["password_file"]

    def join(credentials: Credentials) -> Login:
        return CertifiedLogin(credentials, certificate) if certificate else credentials

    if file is None:
        return FixedCredentials(join(_credentials(options, environ)))
    try:
        return LoginFile(file, lambda path: join(read_password(username, path)))
    except ConfigError as error:
        raise click.UsageError(f"--password-file: {error}") from None


def _warn_of_truststore(fault: str, servers: Iterable[str], path: Path | None) -> None:
    """Says that the system's authorities do. Raises ConfigError unless all brokers are MSK's."""
    place = f"{path}: " if path else "-X "
    hosts = [server.rpartition(":")[0] for server in servers]
    if not all(region_of([host]) and host.endswith(_AWS_DOMAINS) for host in hosts):
        raise ConfigError(f"{place}{fault}.")
    click.echo(
        f"{place}{fault}. MSK's certificates are public ones, so the system's authorities are "
        "taken.",
        err=True,
    )


def _servers_of(found: ClientProperties, path: Path | None) -> tuple[str, ...]:
    if found.bootstrap_servers is None:
        raise click.UsageError(
            f"Say where the brokers are: --bootstrap-servers HOST:PORT, or bootstrap.servers in "
            f"{path}."
        )
    try:
        return _servers(found.bootstrap_servers)
    except click.BadParameter as error:
        raise ConfigError(f"{path}: bootstrap.servers: {error.message}.") from None


def _login_of(found: ClientProperties, path: Path | None, cafile: str | None) -> Login:
    """Returns the login: the password, the certificate, or both."""
    certificate = _certificate_of(found, path, cafile)
    if found.username is None or found.password is None:
        if not certificate:
            raise ConfigError(f"{path} names nobody who logs in.")
        return certificate
    credentials = Credentials(found.username, found.password)
    return CertifiedLogin(credentials, certificate) if certificate else credentials


def _certificate_of(
    found: ClientProperties, path: Path | None, cafile: str | None
) -> ClientCertificate | None:
    if found.client_pem is None:
        return None
    holder = f"The keystore of {path}" if path else "The file of ssl.keystore.location"
    return certificate_of_pem(
        found.client_pem, found.key_password, cafile, holder, found.tls_versions
    )


def region_of(servers: Iterable[str]) -> str | None:
    """Returns the AWS region in the names of MSK's brokers; null for other names."""
    found = (_MSK_REGION.search(server) for server in servers)
    return next((each[1] for each in found if each), None)


def _spelled(name: str) -> str:
    return f"--{name.replace('_', '-')}"


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
