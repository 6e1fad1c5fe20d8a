# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag init`: a configuration from a cluster's ARN, by what AWS says of it."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import click
from jinja2 import Environment, StrictUndefined, Template
from pydantic import TypeAdapter, ValidationError

from kafka_lag.errors import ConfigError
from kafka_lag.wording.formatting import format_list
from kafka_lag_cli.account.errors import AwsError
from kafka_lag_cli.account.msk_cluster import (
    CREATING,
    ENDED,
    LOGINS,
    MskCluster,
    associated_secrets,
    describe_cluster,
    describe_key,
    describe_secret,
)
from kafka_lag_cli.account.session import open_session
from kafka_lag_cli.account.vpc_network import (
    Subnet,
    VpcNetwork,
    choose_subnets,
    default_security_group,
    read_network,
    vpc_of,
)
from kafka_lag_cli.help_sections import command, option
from kafka_lag_config.reading import check
from kafka_lag_config.source import toml_in
from kafka_lag_config.types import KafkaArn

# A question with its possible answers (none: any text), and the answer to take for an empty line.
Ask: TypeAlias = Callable[[str, Sequence[str], str | None], str]

STDOUT = "-"
_TEMPLATE = Path(__file__).with_name("deployment.toml.j2")
_DEFAULT_FILE = "deployment.toml"
_SECRET_LOGINS = ("scram", "tls")
_NAMED = 5
_BY_HAND = "Without AWS, copy and edit a configuration of examples/ (scaling-ecs.json has IAM)."


@command(
    epilog="""\b
examples:
  kafka-lag init arn:aws:kafka:eu-west-1:111122223333:cluster/orders/3f2a...-7
  kafka-lag init ARN --profile prod --auth scram --secret-arn ARN --email oncall@example.com
  kafka-lag init ARN --output - | less

\b
Needs kafka:DescribeClusterV2, ec2:Describe* on the network, and with scram
kafka:ListScramSecrets, secretsmanager:DescribeSecret and kms:DescribeKey. Changes
nothing in AWS.
""",
)
@click.argument("arn")
@option("--profile", metavar="P", help="AWS profile")
@option(
    "--output",
    "file",
    metavar="FILE",
    default=_DEFAULT_FILE,
    show_default=True,
    help=f"file to write; {STDOUT} is standard output",
)
@option("--force", is_flag=True, help="replace a file")
@option("--name", metavar="NAME", help="name of the cluster (MSK's)")
@option(
    "--auth",
    type=click.Choice(["iam", "scram", "tls", "none"]),
    metavar="WAY",
    help="login: iam, scram, tls or none (what MSK allows)",
)
@option("--secret-arn", metavar="ARN", help="secret of scram or tls")
@option("--kms-key-arn", metavar="ARN", help="key of the secret (as AWS says)")
@option("--email", multiple=True, metavar="A", help="address for alarms and reports")
def init(arn: str, profile: str | None, file: str, *, force: bool, **given: Any) -> None:
    """Write a configuration from a cluster's ARN.

    Network, login, secret, key and endpoints are looked up in AWS. Prompts for what AWS does not
    know.
    """
    region = _region(arn)
    if file != STDOUT and Path(file).exists() and not force:
        raise click.UsageError(f"{file} is there: take another --output, or --force to replace it.")
    try:
        text = draft(
            arn,
            open_session(profile, region),
            given,
            _ask_on_terminal if sys.stdin.isatty() and sys.stderr.isatty() else None,
        )
    except AwsError as error:
        raise ConfigError(f"{error} {_BY_HAND}") from error
    if file == STDOUT:
        click.echo(text, nl=False)
    else:
        _write(Path(file), text, force=force)
    name = _DEFAULT_FILE if file == STDOUT else file
    click.echo(_next_steps(name, profile, written=file != STDOUT), err=file == STDOUT)


def draft(arn: str, session: Any, chosen: Mapping[str, Any], ask: Ask | None) -> str:
    """The configuration as TOML with comments, checked.

    `chosen` are the given options; for others AWS, a question or a default decides.
    Raises AwsError, ConfigError, ConfigurationError for a value that a configuration cannot have,
    and click.UsageError for what is missing where nobody can be asked.
    """
    try:
        msk = describe_cluster(session.client("kafka"), arn)
    except AwsError as error:
        if error.code != "NotFoundException":
            raise
        raise ConfigError(
            f"MSK has no cluster {arn}: compare with `aws kafka list-clusters-v2 "
            f"--region {_region(arn)}`, and check --profile."
        ) from error
    if msk.state in ENDED:
        raise ConfigError(f"{msk.name} {ENDED[msk.state]}: there is nothing to deploy for it.")
    if msk.state == CREATING:
        # Neither has it brokers yet, nor takes it the secrets that decide about its login.
        raise ConfigError(f"{msk.name} is being created: run this again when it is ACTIVE.")
    login = _login(session, msk, chosen, ask)
    network = _network(session, msk, _region(arn))
    subnets = choose_subnets(network, msk.subnets)
    if not subnets:
        raise ConfigError(f"The VPC {network.id} of {msk.name} has no subnets.")
    groups = msk.security_groups or tuple(
        filter(None, [default_security_group(session.client("ec2"), network.id)])
    )
    email = chosen.get("email", ())
    if not email and ask:
        email = tuple(ask("E-mail for alarms and reports (empty for none)", (), "").split())
    needs_secret = login["secret_arn"] is not None
    text = _template().render(
        msk=msk,
        name=chosen.get("name") or msk.name,
        email=list(email),
        network=network,
        subnets=subnets,
        brokers=groups,
        ways=_find_ways(network, subnets, needs_secret=needs_secret),
        login=login,
    )
    check(toml_in(text, "the draft"), "the draft", Path())
    return text


def _template() -> Template:
    """Returns the configuration's template."""
    environment = Environment(  # noqa: S701 - a file of TOML is no page
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, undefined=StrictUndefined
    )
    environment.filters["toml"] = _write_toml
    return environment.from_string(_TEMPLATE.read_text("utf-8"))


def _write_toml(value: Any) -> str:
    """Returns a value as TOML: as JSON, but for the escapes that only one of them takes."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", r"\u007f")


def _login(
    session: Any, msk: MskCluster, chosen: Mapping[str, Any], ask: Ask | None
) -> dict[str, str | None]:
    """Returns the login's keys of a configuration."""
    secrets = associated_secrets(session.client("kafka"), msk.arn) if "scram" in msk.logins else ()
    way = chosen.get("auth") or _choose_way(msk, secrets, ask)
    enabled = {"none", "plaintext"} if way == "none" else {way}
    if not enabled & msk.logins:
        there = format_list(sorted(msk.logins), _NAMED)
        raise ConfigError(f"{msk.name} does not let {way} in: it has enabled {there}.")
    secret = key = None
    if way == "none" and "none" not in msk.logins:
        way = "plaintext"
    elif way in _SECRET_LOGINS:
        known = secrets if way == "scram" else ()
        secret = chosen.get("secret_arn") or _choose_secret(way, known, ask)
        key = chosen.get("kms_key_arn") or _key_of(session, secret)
    return {"type": way, "secret_arn": secret, "kms_key_arn": key}


def _choose_way(msk: MskCluster, secrets: Sequence[str], ask: Ask | None) -> str:
    ways = [way for way in LOGINS if way in msk.logins]
    if not ways:
        raise ConfigError(f"{msk.name} has enabled no login that is known here.")
    # A secret that is associated was made for this; tls comes last, as it needs a certificate.
    best = "scram" if secrets else next((way for way in ways if way != "scram"), ways[0])
    choices = list(dict.fromkeys("none" if way == "plaintext" else way for way in ways))
    best = "none" if best == "plaintext" else best
    return ask("How the collector logs in", choices, best) if ask and len(choices) > 1 else best


def _choose_secret(way: str, secrets: Sequence[str], ask: Ask | None) -> str:
    if len(secrets) == 1:
        return secrets[0]
    if ask:
        return ask(f"ARN of the secret of {way}", secrets, None)
    if secrets:
        raise click.UsageError(
            f"{len(secrets)} secrets are associated with the cluster: choose one by --secret-arn "
            f"({format_list(secrets, _NAMED)})."
        )
    raise click.UsageError(
        f"--secret-arn is missing: auth of type {way} needs a secret"
        + (", and none is associated with the cluster." if way == "scram" else ".")
    )


def _key_of(session: Any, secret: str) -> str | None:
    try:
        key = describe_secret(session.client("secretsmanager"), secret).key
        return describe_key(session.client("kms"), key).arn if key else None
    except AwsError as error:
        raise ConfigError(f"{error} Or name the key of the secret by --kms-key-arn.") from error


def _network(session: Any, msk: MskCluster, region: str) -> VpcNetwork:
    client = session.client("ec2")
    places = vpc_of(client, msk.subnets)
    if not places:
        raise ConfigError(
            f"EC2 knows none of the subnets of {msk.name}: the network is another account's, and "
            "the collector has to be deployed there."
        )
    return read_network(client, next(iter(places.values())), region)


def _find_ways(
    network: VpcNetwork, subnets: Sequence[Subnet], *, needs_secret: bool
) -> dict[str, Any]:
    """Returns the ways from the subnets to AWS: `leads` are those of their default routes.

    `made` and `existing` are kinds of endpoints, `opened` the security groups of the existing ones.
    What is there is used, and the rest made: S3's, which is free, and what NAT does not reach.
    """
    leads = sorted({subnet.way_out for subnet in subnets})
    nat = set(leads) <= {"nat", "other"}
    tables = list(dict.fromkeys(subnet.route_table for subnet in subnets))
    missing = [table for table in tables if table not in network.gateway_tables()]
    s3 = network.interface("s3") if missing else None
    secrets = network.interface("secrets_manager") if needs_secret else None
    makes_s3 = bool(missing) and s3 is None
    makes_secrets = needs_secret and secrets is None and not nat
    opened = [group for each in (s3, secrets) if each for group in each.security_groups[:1]]
    return {
        "leads": leads,
        "nat": nat,
        "made": ["s3"] * makes_s3 + ["secrets_manager"] * makes_secrets,
        "makes_secrets": makes_secrets,
        "existing": ["s3"] * (not makes_s3) + ["secrets_manager"] * (secrets is not None),
        "opened": list(dict.fromkeys(opened)),
        "route_tables": missing if makes_s3 else [],
    }


def _region(arn: str) -> str:
    try:
        TypeAdapter(KafkaArn).validate_python(arn)
    except ValidationError as error:
        sentence = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise click.UsageError(f"ARN {sentence}.") from None
    return arn.split(":")[3]


def _ask_on_terminal(label: str, choices: Sequence[str], default: str | None) -> str:
    kind = click.Choice(choices) if choices else None
    answer: str = click.prompt(label, default=default, type=kind, err=True)
    return answer


def _write(path: Path, text: str, *, force: bool) -> None:
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written ({error.strerror}).") from error


def _next_steps(name: str, profile: str | None, *, written: bool) -> str:
    file = shlex.quote(name)
    as_who = f" --profile {shlex.quote(profile)}" if profile else ""
    variable = f"AWS_PROFILE={shlex.quote(profile)} " if profile else ""
    return "\n".join(
        (
            f"{name} is written. Next:" if written else "Next, with the configuration in a file:",
            f"  kafka-lag doctor --config {file}{as_who}",
            f"  kafka-lag cost --config {file}",
            f"  {variable}make deploy CONFIG={file}",
        )
    )
