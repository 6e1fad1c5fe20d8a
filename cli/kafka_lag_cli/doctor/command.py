# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag doctor`: what keeps a login from reading a cluster, step by step, and the repairs."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from kafka_lag.brokers.access import IAM, IAM_OF_MSK, Access, ProbeLimits
from kafka_lag.brokers.diagnosis.ports import ServerFindings, probe_servers
from kafka_lag.brokers.source import quiet_library
from kafka_lag.errors import ConfigError, LoginError, ReporterError
from kafka_lag.lag.model import LagReport, Snapshot
from kafka_lag.sinks.budget import plan
from kafka_lag_cli.connecting.client_properties import read_given
from kafka_lag_cli.connecting.collect_options import (
    CollectOptions,
    collect_options_of,
    source_options,
)
from kafka_lag_cli.connecting.login_options import region_of
from kafka_lag_cli.doctor.cluster import (
    AFTER_LOGIN,
    METRICS,
    READING,
    check_brokers,
    check_clocks,
    check_commits,
    check_kinds,
    check_metrics,
    check_quota,
    check_reading,
    check_retention,
    check_transactions,
    check_version,
)
from kafka_lag_cli.doctor.connection import (
    LOGIN,
    MECHANISMS,
    NAME,
    PROTOCOL,
    STAGES,
    TCP,
    check_connection,
    is_usable,
    options_line,
)
from kafka_lag_cli.doctor.findings import Finding, exit_code, not_looked_at
from kafka_lag_cli.doctor.findings_text import print_findings
from kafka_lag_cli.doctor.inspection import (
    Inspection,
    find_scram_mechanism,
    inspect_cluster,
)
from kafka_lag_cli.doctor.rights import RIGHTS, check_rights
from kafka_lag_cli.doctor.rights_repair import RightsRepair, rights_repair
from kafka_lag_cli.help_sections import command, option
from kafka_lag_cli.terminal.records import TABLE, output_option, write_records
from kafka_lag_cli.terminal.text import open_screen, printable, wording_of
from kafka_lag_config.cost.cost import load_prices


@command(
    epilog="""\b
examples:
  kafka-lag doctor --bootstrap-servers localhost:9092
  kafka-lag doctor --bootstrap-servers b-1.example:9096 --command-config client.properties
  kafka-lag doctor --config deployment.toml --deployed
  kafka-lag doctor --bootstrap-servers localhost:9092 --output json

\b
exit codes:
  0  every check was made, and there is no fault; there may be warnings
  1  a fault
  2  wrong usage
  4  no fault was found, and some checks could not be made
""",
)
@output_option
@option(
    "--deployed",
    is_flag=True,
    help="with --config: check what a deploy left running, too",
)
@source_options
def doctor(**options: Any) -> int:
    """Find what keeps a login from reading a cluster, and print the line that repairs it.

    Checks the way to the brokers, the login, its rights, and with --config what AWS says of the
    configuration. Reads no record and changes nothing.
    """
    if options["deployed"] and not options["config"]:
        raise click.UsageError("--deployed is for --config.")
    quiet_library()
    # May ask for a password.
    collect = None if options["config"] else collect_options_of(options)
    with Console(stderr=True).status("looking at AWS and the brokers"):
        if collect is None:
            findings = _check_document(options)
        else:
            access = collect.settings.access
            findings = examine(collect, options)
            if access.sasl_mechanism != IAM and not region_of(access.bootstrap_servers):
                # Whoever has neither a deployment nor brokers in AWS pays nothing for metrics.
                findings = [each for each in findings if each.check != METRICS]
    if options["output"] == TABLE:
        print_findings(findings, open_screen())
    else:
        names = [each.name for each in fields(Finding)]
        write_records(map(asdict, findings), options["output"], sys.stdout, names=names)
    return exit_code(findings)


def _check_document(options: Mapping[str, Any]) -> list[Finding]:
    """Check a deployment in AWS, if the configuration is one, and then the brokers."""
    # Costs the start of those alone who have a configuration.
    from kafka_lag_cli.doctor.deployment import check_document  # noqa: PLC0415

    of_aws = check_document(
        options["config"],
        options["cluster"],
        options["profile"],
        deployed=options["deployed"],
    )
    try:
        collect = collect_options_of(options)
    except ConfigError as error:
        if not of_aws:
            raise
        # AWS was looked at by the configuration, so it is right: its brokers are not known.
        unknown = Finding(NAME, "unknown", printable(str(error)))
        behind = not_looked_at(*STAGES[1:], LOGIN, *RIGHTS, *AFTER_LOGIN, because=NAME)
        return [*of_aws, unknown, *behind]
    return [*of_aws, *examine(collect, options, is_deployed=bool(of_aws))]


def examine(
    collect: CollectOptions, options: Mapping[str, Any], *, is_deployed: bool = False
) -> list[Finding]:
    """All checks of the brokers' side in their order; those behind a fault are unknown.

    `is_deployed`: a function in the brokers' network reads them, so that this machine need not be
    able to.
    """
    try:
        collect = collect.find_protocol()
    except ConfigError as error:
        wording = wording_of(config=options["config"])
        without_tls = Finding(PROTOCOL, "fault", printable(wording(str(error))))
        return [without_tls, *not_looked_at(LOGIN, *RIGHTS, *AFTER_LOGIN, because="the connection")]
    access = collect.settings.access
    certfile = read_given(options["properties"]).get("ssl.keystore.location")
    # Of a file's login no line of options can be printed.
    shown = None if options["config"] or options["command_config"] else options
    probed = _probe(access, access.bootstrap_servers)
    findings = check_connection(
        access,
        probed,
        # A deployed collector has the one of its secret.
        has_certificate=bool(certfile or options["config"] or options["command_config"]),
        options=shown,
    )
    if not is_usable(findings):
        if is_deployed:
            findings = [_from_elsewhere(each) for each in findings]
        return [*findings, *not_looked_at(LOGIN, *RIGHTS, *AFTER_LOGIN, because="the connection")]
    deadline = time.monotonic() + collect.settings.deadline
    rules = collect.settings.rules
    try:
        inspection = inspect_cluster(
            access, collect.make_source(), rules.topics, rules.groups, deadline
        )
    except ReporterError as error:
        fault = isinstance(error, LoginError) and _find_other_mechanism(collect, shown, probed)
        fault = fault or Finding(LOGIN, "fault", printable(str(error)))
        return [*findings, fault, *not_looked_at(*RIGHTS, *AFTER_LOGIN, because="the login")]
    repair = rights_repair(access, inspection.login, certfile)
    findings = [*_known_by_login(findings), _login(access, repair)]
    findings += check_rights(
        inspection,
        repair,
        all_topics=rules.topics.allow is None,
        all_groups=rules.groups.allow is None,
    )
    return [*findings, *_check_cluster(collect, inspection, repair)]


def _known_by_login(findings: Sequence[Finding]) -> list[Finding]:
    """The findings on the connection: an accepted login shows what no look at a server could."""
    seen = {each.check for each in findings if each.severity == "ok"}
    shown = {PROTOCOL, MECHANISMS} - seen
    return [
        replace(each, severity="info", what=f"{each.what}; the login shows that it works")
        if each.severity == "unknown" and each.check in shown
        else each
        for each in findings
    ]


def _find_other_mechanism(
    collect: CollectOptions, options: Mapping[str, Any] | None, probed: Iterable[ServerFindings]
) -> Finding | None:
    """A fault that is none of user and password, which brokers keep for each mechanism apart."""
    access = collect.settings.access
    offered = {each for server in probed for each in server.mechanisms or ()}
    deadline = time.monotonic() + collect.settings.deadline
    mechanism = find_scram_mechanism(access, collect.make_source(), offered, deadline)
    if mechanism is None:
        return None
    servers, protocol = access.bootstrap_servers, access.security_protocol
    repair = None if options is None else options_line(options, servers, protocol, mechanism)
    return Finding(
        LOGIN,
        "fault",
        f"rejected with {access.sasl_mechanism}, and accepted with {mechanism}",
        "User and password are right. Brokers keep a password for each mechanism apart, and this "
        f"user has none for {access.sasl_mechanism}: set sasl_mechanism to {mechanism}, or add the "
        "user's password for the other.",
        repair,
    )


def _from_elsewhere(finding: Finding) -> Finding:
    """A way that does not lead from here to the brokers says nothing of the function's."""
    if finding.severity != "fault" or finding.check not in (NAME, TCP):
        return finding
    why = (
        "From this machine, that is: the function is in the brokers' network. Run doctor on a "
        "machine that reaches them to look at rights and groups."
    )
    return replace(finding, severity="unknown", why=why)


def _check_cluster(
    collect: CollectOptions,
    inspection: Inspection,
    repair: RightsRepair,
) -> list[Finding]:
    """Check everything that an accepted login allows."""
    access, rules = collect.settings.access, collect.settings.rules
    report, failed = _read(collect)
    findings = [
        *check_brokers(access, inspection, _probe(access, tuple(inspection.not_responding))),
        check_quota(inspection, report, repair),
        check_version(inspection.version),
        *check_clocks(inspection.clocks, may_describe=inspection.rights.topics),
        *check_kinds(inspection.groups, report, is_complete=inspection.lists_all_groups),
        *check_transactions(inspection.has_transactions, report, rules),
    ]
    if report is None:
        return [
            *findings,
            Finding(READING, "fault", f"a run reads nothing: {failed}"),
            *not_looked_at(METRICS, because=READING),
        ]
    levels = collect.settings.levels
    region = region_of(access.bootstrap_servers)
    reading = check_reading(report, inspection)
    findings += [reading, *check_commits(report), *check_retention(report, rules.interval_ms)]
    if not len(report.snapshot.group_partitions) and reading.severity != "info":
        return [*findings, *not_looked_at(METRICS, because=READING)]
    chosen = plan(report, Snapshot.empty(), levels)
    return [*findings, *check_metrics(chosen, levels, region, load_prices())]


def _read(collect: CollectOptions) -> tuple[LagReport | None, str]:
    """One run as the collector makes it, which keeps nothing; or why there is none."""
    with tempfile.TemporaryDirectory(prefix="kafka-lag-doctor-") as folder:
        try:
            collector = replace(collect, state=Path(folder)).open_collector(_NoLog())
            return collector.run(int(time.time()) * 1000).report, ""
        except ReporterError as error:
            return None, printable(str(error))


class _NoLog:
    """A logger of a run whose problems are findings."""

    def warning(self, message: str, /) -> None:
        """The report has the same."""


def _probe(access: Access, servers: tuple[str, ...]) -> tuple[ServerFindings, ...]:
    return probe_servers(
        servers,
        access.cafile,
        tls_first=access.security_protocol.endswith("SSL"),
        limits=ProbeLimits.within(access.broker_timeout),
    )


def _login(access: Access, repair: RightsRepair) -> Finding:
    how = access.sasl_mechanism if access.logs_in else access.security_protocol
    if access.logs_in and access.sasl_mechanism == IAM:
        return Finding(LOGIN, "ok", f"accepted ({IAM_OF_MSK}), with AWS credentials")
    who = printable(repair.principal) if repair.principal else "the client certificate's subject"
    return Finding(LOGIN, "ok", f"accepted as {who} ({how})")
