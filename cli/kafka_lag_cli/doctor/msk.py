# SPDX-License-Identifier: Apache-2.0
"""The cluster as MSK knows it: whether it is there, and lets the configuration's login in."""

from __future__ import annotations

from typing import Any

from kafka_lag_cli.account.errors import AwsError
from kafka_lag_cli.account.msk_cluster import ENDED, MskCluster, describe_cluster, find_by_name
from kafka_lag_cli.doctor.findings import Finding
from kafka_lag_cli.doctor.place import Place, key_line
from kafka_lag_config.cluster import Cluster

CLUSTER, LOGIN = "MSK cluster", "login enabled"

# Those who do not log in.
_OPEN = ("none", "plaintext")
_CALLED = {
    "iam": "iam",
    "scram": "scram",
    "tls": "tls",
    "none": "clients without a login over TLS",
    "plaintext": "clients without a login in plain text",
}
# What a configuration says instead, the nearest first.
_INSTEAD = {
    "none": 'auth = { type = "none" }',
    "plaintext": 'auth = { type = "none", plaintext = true }',
    "iam": 'auth = { type = "iam" }',
}


def check_cluster(place: Place) -> tuple[MskCluster | None, list[Finding]]:
    cluster = place.cluster
    if cluster.arn is None:
        return None, [Finding(CLUSTER, "info", "the configuration has no ARN, so MSK is not asked")]
    client = place.client("kafka")
    try:
        msk = describe_cluster(client, cluster.arn)
    except AwsError as error:
        if not error.absent:
            raise
        return None, [_absent_cluster(client, cluster)]
    findings = []
    if msk.state == "ACTIVE":
        findings.append(Finding(CLUSTER, "ok", "it is there and ACTIVE"))
    elif msk.state in ENDED:
        why = "Take it out of the configuration, or name the cluster that replaces it."
        findings.append(Finding(CLUSTER, "fault", f"it {ENDED[msk.state]}", why))
    else:
        findings.append(
            Finding(
                CLUSTER,
                "warning",
                f"its state is {msk.state}",
                "Until it is ACTIVE brokers may not be reached, and changes are refused.",
            )
        )
    own = "express" if msk.is_express else "standard"
    if own != cluster.broker_type:
        findings.append(
            Finding(
                CLUSTER,
                "fault",
                f"its brokers are of the type {own}, not {cluster.broker_type}",
                "Alarms on disks would be missing, or be without data.",
                key_line("broker_type", own),
            )
        )
    return msk, findings


def _absent_cluster(client: Any, cluster: Cluster) -> Finding:
    arn = None
    if cluster.facts.reach.msk_name:
        try:
            arn = find_by_name(client, cluster.facts.reach.msk_name)
        except AwsError:
            arn = None
    why = (
        f"There is another of the name {cluster.facts.reach.msk_name}: it was recreated."
        if arn
        else "Compare with `aws kafka list-clusters-v2`."
    )
    return Finding(
        CLUSTER,
        "fault",
        f"MSK has no cluster {cluster.arn}",
        why,
        key_line("arn", arn) if arn else None,
    )


def check_login(place: Place, msk: MskCluster) -> Finding:
    way = place.cluster.way_in
    if way in msk.logins:
        return Finding(LOGIN, "ok", f"the cluster lets {_CALLED[way]} in")
    what = f"the cluster does not let {_CALLED[way]} in"
    there = ", ".join(_CALLED[each] for each in sorted(msk.logins))
    why = f"It lets in: {there or 'nobody'}."
    if way in _OPEN or msk.is_serverless:
        # A line that opens a cluster to everybody would be no repair.
        other = next((each for each in _INSTEAD if each in msk.logins), None)
        why += " Let the configuration log in as it wants it (kafka-lag init writes that)."
        return Finding(LOGIN, "fault", what, why, _INSTEAD[other] if other else None)
    if way == "tls":
        why += " Enable it with the ARN of the private authority that signs the certificates."
        return Finding(LOGIN, "fault", what, why)
    options: dict[str, Any] = {"client_authentication": _with_login(msk, way)}
    if msk.transport == "PLAINTEXT":
        options["encryption_info"] = {"EncryptionInTransit": {"ClientBroker": "TLS_PLAINTEXT"}}
    return Finding(
        LOGIN,
        "fault",
        what,
        f"{why} The line leaves all of these in. MSK changes it broker by broker: wait until the "
        "cluster is ACTIVE.",
        place.aws(
            "kafka update-security",
            cluster_arn=msk.arn,
            current_version=msk.version,
            **options,
        ),
    )


def _with_login(msk: MskCluster, way: str) -> dict[str, Any]:
    """All that is enabled and this one more: what is left out may be taken for switched off."""
    found = dict(msk.authentication)
    found["Sasl"] = {**found.get("Sasl", {}), way.capitalize(): {"Enabled": True}}
    if msk.logins.intersection(_OPEN):
        found["Unauthenticated"] = {"Enabled": True}
    return found
