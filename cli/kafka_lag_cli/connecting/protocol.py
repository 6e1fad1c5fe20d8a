# SPDX-License-Identifier: Apache-2.0
"""The security protocol of brokers for which nobody named one: with TLS or without."""

from __future__ import annotations

from dataclasses import replace

from kafka_lag.brokers.access import PROBE_LIMITS, Access, ProbeLimits
from kafka_lag.brokers.diagnosis.ports import probe_servers
from kafka_lag.errors import ConfigError


def find_protocol(access: Access, limits: ProbeLimits = PROBE_LIMITS) -> Access:
    """The same with what the first server that answers speaks, or as it is where none does.

    Nothing of a login is sent. Raises ConfigError where one would go out without TLS: whoever wants
    that must say so.
    """
    probed = probe_servers(
        access.bootstrap_servers,
        access.cafile,
        tls_first=access.logs_in,
        mechanisms=False,
        limits=limits,
    )
    found = next((each for each in probed if each.tls is not None or each.spoken == "Kafka"), None)
    if found is None:
        return access
    if found.tls is None and access.logs_in:
        raise ConfigError(
            f"{found.server} speaks without TLS, where others on the network could take the login: "
            "name the brokers' port for TLS, or set security_protocol to SASL_PLAINTEXT."
        )
    protocol = "PLAINTEXT" if found.tls is None else "SSL"
    return replace(access, security_protocol=f"SASL_{protocol}" if access.logs_in else protocol)
