# SPDX-License-Identifier: Apache-2.0
"""Checks of `doctor` in AWS: credentials, cluster, login, secret, network, limits.

Each check says what is so, what follows, and the line that repairs it. One that takes a right that
is missing says which, and is "unknown".
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from kafka_lag_cli.account.errors import AwsError
from kafka_lag_cli.account.msk_cluster import MskCluster
from kafka_lag_cli.account.session import open_session
from kafka_lag_cli.connecting.deployment_file import read_deployed_cluster
from kafka_lag_cli.doctor.credentials import CREDENTIALS, check_credentials
from kafka_lag_cli.doctor.deployed import Clock, Fetch, check_deployed, fetch_status
from kafka_lag_cli.doctor.findings import (
    Finding,
    collect_findings,
    not_looked_at,
    not_made,
)
from kafka_lag_cli.doctor.limits import CONCURRENCY, check_concurrency
from kafka_lag_cli.doctor.msk import CLUSTER, LOGIN, check_cluster, check_login
from kafka_lag_cli.doctor.network import BROKERS, SUBNETS, check_network
from kafka_lag_cli.doctor.place import Place
from kafka_lag_cli.doctor.secret import SECRET, check_secret
from kafka_lag_config.cluster import Cluster
from kafka_lag_config.deployment import Deployment

_BEHIND = (CLUSTER, LOGIN, SECRET, SUBNETS, BROKERS, CONCURRENCY)


def check_document(
    path: Path,
    cluster: str | None,
    profile: str | None,
    *,
    deployed: bool = False,
) -> list[Finding]:
    """Check a cluster of a deployment's configuration in AWS; empty for another configuration.

    To be called before MSK is asked for brokers: where the login is not enabled it names none.
    Raises ConfigurationError for a configuration, UsageError for the name of a cluster that it
    lacks, ConfigError for a profile that cannot be used.
    """
    found = read_deployed_cluster(path, cluster)
    if found is None:
        return []
    return check_deployment(*found, open_session(profile), deployed=deployed)


def check_deployment(
    deployment: Deployment,
    cluster: Cluster,
    session: Any,
    *,
    deployed: bool = False,
    clock: Clock = time.time,
    fetch: Fetch = fetch_status,
) -> list[Finding]:
    """Check one cluster of a deployment in AWS, with the credentials of a boto3 session.

    With `deployed` all that runs is looked at, its URL by `fetch`. Raises nothing for what AWS
    answers.
    """
    place = Place(deployment, cluster, session)
    findings = list(check_credentials(place))
    if any(each.check == CREDENTIALS and each.severity != "ok" for each in findings):
        return [*findings, *not_looked_at(*_BEHIND, because=CREDENTIALS)]
    msk: MskCluster | None = None
    try:
        msk, found = check_cluster(place)
        findings += found
    except AwsError as error:
        findings += [not_made(CLUSTER, error), *not_looked_at(LOGIN, because=CLUSTER)]
    if msk is not None:
        findings.append(check_login(place, msk))
    findings += collect_findings(SECRET, check_secret(place, msk))
    for check, found_there in check_network(place, msk):
        findings += collect_findings(check, found_there)
    findings += collect_findings(CONCURRENCY, check_concurrency(place))
    if deployed:
        for check, found_there in check_deployed(place, clock, fetch):
            findings += collect_findings(check, found_there)
    return findings
