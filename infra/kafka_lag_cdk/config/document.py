# SPDX-License-Identifier: Apache-2.0
"""The document that a cluster's collector reads: what the user wrote and what follows from it.

The collector's own schema decides what is right in it, here at synthesis as there at run time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kafka_lag import contract
from kafka_lag.lag.rules import ByName
from kafka_lag.schema.document import DocumentSchema, faults_of
from kafka_lag_cdk.config.faults import Fault
from kafka_lag_cdk.config.parts.cluster import Cluster
from kafka_lag_cdk.config.parts.network import Open

# Told by the rest of a cluster's configuration.
_DERIVED = frozenset(
    {"cluster", "bootstrap_servers", "security_protocol", "sasl_mechanism", "secret_id", "cafile"}
)
KEYS = frozenset(DocumentSchema().fields) - _DERIVED

# The sinks that are called by a word, both of which publish into a namespace of CloudWatch.
EMF, CLOUDWATCH = "emf", "cloudwatch"

# Beside the document in its layer.
CA_FILE = "ca.pem"

# Stands for what a deploy finds out, where the schema wants to see some server.
_SOME_SERVER = "found.at.deploy:9098"
# And for all that follows from the rest of a cluster, which may be wrong itself.
_STANDING_IN = {
    "cluster": "some",
    "bootstrap_servers": [_SOME_SERVER],
    "security_protocol": "PLAINTEXT",
}

# What the collector's schema says in its library's words, in those of the rest of a configuration.
_WORDS = {
    "not a valid integer": "must be a whole number",
    "not a valid number": "must be a number",
    "special numeric values (nan or infinity) are not permitted": "must be a number",
    "not a valid list": "must be a list",
    "not a valid string": "must be text",
}

_TRANSPORT = {"scram": "SASL_SSL", "iam": "SASL_SSL", "tls": "SSL", "none": "SSL"}


def document_of(cluster: Cluster) -> dict[str, Any]:
    """The whole document, without `bootstrap_servers` where a deploy finds them out."""
    auth = cluster.auth
    plain = isinstance(auth, Open) and auth.plaintext
    document: dict[str, Any] = {
        "cluster": cluster.name,
        "security_protocol": "PLAINTEXT" if plain else _TRANSPORT[auth.type],
        **cluster.collector,
        "levels": _levels(cluster),
    }
    if auth.type in ("scram", "iam"):
        document["sasl_mechanism"] = "OAUTHBEARER" if auth.type == "iam" else auth.mechanism
    if auth.type in ("scram", "tls"):
        document["secret_id"] = auth.secret_arn
    if cluster.bootstrap_servers:
        document["bootstrap_servers"] = list(cluster.bootstrap_servers)
    if cluster.ca_file:
        document["cafile"] = CA_FILE
    return document


def document_faults(collector: Mapping[str, Any]) -> list[Fault]:
    """What the collector would refuse of the keys that a user tells it, `KEYS`."""
    told = faults_of({**_STANDING_IN, **collector})
    return [_placed(fault, collector) for fault in told]


def loaded(cluster: Cluster) -> dict[str, Any]:
    """The document's values as the collector takes them, filters and levels as objects.

    Raises marshmallow's ValidationError where `document_faults` tells of some.
    """
    values: dict[str, Any] = DocumentSchema().load(_complete(cluster))
    return values


def sla_seconds(cluster: Cluster, group: str) -> float | None:
    """The time lag promised for a group, None where nothing is."""
    promised: Mapping[str, float] = cluster.collector.get("sla_seconds", {})
    return ByName.of(promised.items()).get(group)


def namespace_of(cluster: Cluster) -> str:
    """The namespace of its metrics."""
    return str(cluster.collector.get("namespace", contract.NAMESPACE))


def sink_names(cluster: Cluster) -> frozenset[str]:
    """Its sinks that make metrics in CloudWatch's namespaces; those of OTLP have no such names."""
    sinks = cluster.collector.get("sinks", (EMF,))
    return frozenset(each for each in sinks if isinstance(each, str))


def interval_minutes(cluster: Cluster) -> int:
    """Minutes between scheduled runs."""
    return int(cluster.collector.get("interval_seconds", 60)) // 60


def _complete(cluster: Cluster) -> dict[str, Any]:
    return {"bootstrap_servers": [_SOME_SERVER], **document_of(cluster)}


def _placed(told: str, document: Any) -> Fault:
    """A fault that is told as `key.key: sentence`; keys may hold dots and colons themselves."""
    place: list[int | str] = []
    while isinstance(document, Mapping | list):
        below = document.items() if isinstance(document, Mapping) else enumerate(document)
        known = [(key, value) for key, value in below if told.startswith((f"{key}.", f"{key}: "))]
        if not known:
            break
        key, document = max(known, key=lambda pair: len(str(pair[0])))
        place.append(key)
        told = told.removeprefix(str(key))[1:]
    sentence = told.strip()
    return Fault(tuple(place), _WORDS.get(sentence, sentence))


def _levels(cluster: Cluster) -> dict[str, Any]:
    levels = dict(cluster.collector.get("levels", {}))
    named = [*levels.get("named", ()), *cluster.named_groups]
    if named:
        levels["named"] = list(dict.fromkeys(named))
    if cluster.scaling and "scaling" not in levels:
        groups = dict.fromkeys(re.escape(scaling.group) for scaling in cluster.scaling)
        levels["scaling"] = {"allow": rf"^(?:{'|'.join(groups)})\Z"}
    return levels
