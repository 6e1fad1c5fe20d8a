# SPDX-License-Identifier: Apache-2.0
"""The configuration document of one cluster as one frozen object, all its faults told at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafka_lag import contract
from kafka_lag.brokers.access import IAM, Access
from kafka_lag.errors import ConfigError
from kafka_lag.lag.rules import Rules
from kafka_lag.schema.authorities import authorities_fault
from kafka_lag.schema.document import DocumentSchema, faults_of
from kafka_lag.schema.sinks import is_signed
from kafka_lag.sinks.config import EMF, Levels, SinkConfig

# Somebody may have put the document itself where its path belongs.
_SHOWN = 60

_HOUR_MS = 3_600_000

_SERVERS = "bootstrap_servers"


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything the collector is told; times in seconds unless the name says ms.

    `secret_id` is None where the brokers ask for nothing that a secret holds; `region` is the AWS
    region of the function and its cluster, None outside AWS.
    """

    cluster: str
    access: Access
    rules: Rules
    levels: Levels = field(default_factory=Levels)
    namespace: str = contract.NAMESPACE
    secret_id: str | None = None
    region: str | None = None
    bucket: str = ""
    interval_ms: int = 60_000
    deadline: float = 45.0
    sinks: tuple[SinkConfig, ...] = (EMF,)


def from_environment(environ: Mapping[str, str]) -> Settings:
    """The settings of this function. Raises ConfigError, every fault in it.

    The environment names the document (KAFKA_LAG_CONFIG) and the bucket (KAFKA_LAG_BUCKET), and
    may name the brokers in place of the document (KAFKA_LAG_BOOTSTRAP_SERVERS). A relative cafile
    is in the folder of the document.
    """
    faults = [
        f"{name} is not set in the environment"
        for name in (contract.ENV_CONFIG, contract.ENV_BUCKET)
        if not environ.get(name)
    ]
    document: Any = {}
    if environ.get(contract.ENV_CONFIG):
        path = Path(environ[contract.ENV_CONFIG])
        document, unreadable = _document(path)
        document = _placed(document, path.parent, environ)
        faults += unreadable or [_told(fault, path, environ) for fault in _faults(document)]
    signed = _signed(document)
    if signed and not environ.get(contract.ENV_REGION):
        faults.append(
            f"{contract.ENV_REGION} is not set in the environment: {signed} are signed for it"
        )
    _insist(faults)
    return _made(document, environ[contract.ENV_BUCKET], environ.get(contract.ENV_REGION))


def settings_of(document: Mapping[str, Any], bucket: str = "") -> Settings:
    """Settings from a document. Raises ConfigError, every fault in it."""
    _insist(_faults(document))
    return _made(document, bucket)


def _placed(document: Any, folder: Path, environ: Mapping[str, str]) -> Any:
    """The document with what its deployment knows better: the brokers, and where files are."""
    if not isinstance(document, Mapping):
        return document
    placed = dict(document)
    if isinstance(document.get("cafile"), str):
        placed["cafile"] = str(folder / document["cafile"])
    if contract.ENV_BOOTSTRAP_SERVERS in environ:
        told = environ[contract.ENV_BOOTSTRAP_SERVERS]
        placed[_SERVERS] = [server.strip() for server in told.split(",")]
    return placed


def _told(fault: str, path: Path, environ: Mapping[str, str]) -> str:
    if fault.startswith(_SERVERS) and contract.ENV_BOOTSTRAP_SERVERS in environ:
        return fault.replace(_SERVERS, contract.ENV_BOOTSTRAP_SERVERS, 1)
    return f"{path}: {fault}"


def _signed(document: Any) -> str | None:
    """What has a signature of this function's region, in a document that may be faulty."""
    told = document if isinstance(document, Mapping) else {}
    if told.get("sasl_mechanism") == IAM:
        return "tokens"
    sinks = told.get("sinks")
    return "metrics" if isinstance(sinks, list) and any(map(is_signed, sinks)) else None


def _faults(document: Any) -> list[str]:
    faults = faults_of(document)
    cafile = document.get("cafile") if isinstance(document, Mapping) else None
    if isinstance(cafile, str) and (fault := authorities_fault(Path(cafile), cafile)):
        faults.append(f"cafile: {fault}")
    return faults


def _insist(faults: list[str]) -> None:
    if faults:
        raise ConfigError("The configuration has faults: " + "; ".join(faults) + ".")


def _made(document: Mapping[str, Any], bucket: str, region: str | None = None) -> Settings:
    values: dict[str, Any] = DocumentSchema().load(document)
    interval_ms = int(values["interval_seconds"] * 1000)
    return Settings(
        cluster=values["cluster"],
        access=_access(values),
        rules=_rules(values, interval_ms),
        levels=values["levels"],
        namespace=values["namespace"],
        secret_id=values["secret_id"],
        region=region,
        bucket=bucket,
        interval_ms=interval_ms,
        deadline=values["deadline_seconds"],
        sinks=tuple(values["sinks"]),
    )


def _rules(values: Mapping[str, Any], interval_ms: int) -> Rules:
    return Rules(
        groups=values["groups"],
        topics=values["topics"],
        interval_ms=interval_ms,
        window_ms=values["window"] * interval_ms,
        uncommitted=values["uncommitted"],
        allowed_lag=values["allowed_lag"],
        owners=values["owner"],
        sla_seconds=values["sla_seconds"],
        hold=values["hold"],
        tolerance=values["tolerance"],
        lookup_budget=values["lookup_budget"],
        risk_horizon_ms=round(values["risk_horizon_hours"] * _HOUR_MS),
        ignore_inactive=values["ignore_inactive"],
    )


def _access(values: Mapping[str, Any]) -> Access:
    protocol = values["security_protocol"]
    return Access(
        bootstrap_servers=tuple(values["bootstrap_servers"]),
        security_protocol=protocol,
        sasl_mechanism=values["sasl_mechanism"] if protocol.startswith("SASL") else None,
        cafile=values["cafile"],
        broker_timeout=values["broker_timeout_seconds"],
    )


def _document(path: Path) -> tuple[Any, list[str]]:
    try:
        return json.loads(path.read_text()), []
    except OSError as error:
        return {}, [
            f"{contract.ENV_CONFIG} must be the path of a JSON file, and {str(path)[:_SHOWN]!r} "
            f"cannot be read ({error.strerror})"
        ]
    except ValueError as error:
        return {}, [f"{path} is not JSON ({error})"]
