# SPDX-License-Identifier: Apache-2.0
"""The deployed configuration of one cluster as one frozen object.

`kafka_lag_config` has checked the configuration, filled in defaults and converted it to the
units used here. So only the values that a deployment adds are checked here.
"""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafka_lag import contract
from kafka_lag.brokers.access import IAM, Access
from kafka_lag.contract.mute_windows import MuteWindow
from kafka_lag.errors import ConfigError
from kafka_lag.lag.group_settings import (
    ByName,
    NameFilter,
    Objective,
    Rules,
    TaskSettings,
    Tolerance,
)
from kafka_lag.sinks.config import CLOUDWATCH, EMF, Levels, OtlpConfig, SinkConfig

# Kafka's and MSK's own topics, on which the lag of a consumer is of no interest.
INTERNAL_TOPICS = r"^__(consumer_offsets|transaction_state|share_group_state)$|^__amazon_msk_"

# The form of a broker's address.
SERVER = re.compile(r".+:\d{1,5}")

# The variable may hold the configuration itself instead of its path, so this much of it is shown.
_SHOWN = 60

_SERVERS = "bootstrap_servers"
_OTLP = "otlp"

# Advice for a configuration of another release.
_TOGETHER = "deploy both together, or write it again with kafka-lag config"


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of the collector; times in seconds unless the name says ms.

    `secret_id` is None if the brokers need no secret; `region` is the AWS region of the function
    and its cluster, None outside AWS.
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


# Defaults for settings that a configuration leaves out.
DEFAULTS = Settings(
    "",
    Access(()),
    Rules(topics=NameFilter(deny=re.compile(INTERNAL_TOPICS))),
    # As custom metrics, topics would cost as much as all else together.
    levels=Levels(topics=False),
)


def from_environment(environ: Mapping[str, str]) -> Settings:
    """Returns the settings of this function. Raises ConfigError with every fault.

    The environment names the configuration (KAFKA_LAG_CONFIG) and the bucket (KAFKA_LAG_BUCKET).
    Brokers and secret in it (KAFKA_LAG_BOOTSTRAP_SERVERS, KAFKA_LAG_SECRET_ID) replace those of the
    configuration. A relative cafile is in the configuration's folder.
    """
    faults = [
        f"{name} is not set in the environment"
        for name in (contract.ENV_CONFIG, contract.ENV_BUCKET)
        if not environ.get(name)
    ]
    document: dict[str, Any] | None = None
    if environ.get(contract.ENV_CONFIG):
        document, wrong = _read_document(Path(environ[contract.ENV_CONFIG]), environ)
        faults += wrong
    region = environ.get(contract.ENV_REGION)
    signed = _find_signed(document or {})
    if signed and not region:
        faults.append(
            f"{contract.ENV_REGION} is not set in the environment: {signed} are signed for it"
        )
    _raise_any(faults)
    return _settings(document or {}, environ[contract.ENV_BUCKET], region)


def settings_of(document: Any, bucket: str = "") -> Settings:
    """Returns settings from a normalised configuration. Raises ConfigError."""
    fault = _version_fault(document)
    _raise_any([fault] if fault else _faults(document))
    return _settings(document, bucket)


def filter_of(document: Mapping[str, str | None]) -> NameFilter:
    """Returns a filter from its two expressions; None for an expression that is not set."""
    return NameFilter(_compile(document["allow"]), _compile(document["deny"]))


def levels_of(document: Mapping[str, Any]) -> Levels:
    """Returns which metrics are published for a cluster or to one sink."""
    partitions, scaling = document["partitions"], document["scaling"]
    return Levels(
        max_metrics=document["max_metrics"],
        topics=document["topics"],
        max_offset_lag=document["max_offset_lag"],
        partition_groups=filter_of(partitions["groups"]) if partitions else None,
        partition_topics=filter_of(partitions["topics"]) if partitions else NameFilter(),
        named=frozenset(document["named"]),
        named_only=document["named_only"],
        scaling=filter_of(scaling) if scaling else None,
        releases=frozenset(document["releases"]),
        **{key: document[key] for key in contract.CHOSEN_METRICS},
    )


def authorities_fault(path: Path, shown: str) -> str | None:
    """Returns what is wrong with a file of CA certificates, None if a TLS client accepts it.

    `shown` is the file's name in the message.
    """
    try:
        if not path.is_file():
            return f"there is no file {shown}"
        # The library that connects loads the file in the same way.
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(path)
    except ssl.SSLError:
        return f"{shown} holds no certificates in PEM, or one that cannot be read"
    except OSError as error:
        return f"{shown} cannot be read ({error.strerror})"
    return None


def _read_document(
    path: Path, environ: Mapping[str, str]
) -> tuple[dict[str, Any] | None, list[str]]:
    """Returns the configuration, with brokers and secret of the environment, and its faults."""
    try:
        document = json.loads(path.read_text())
    except OSError as error:
        return None, [
            f"{contract.ENV_CONFIG} must be the path of a JSON file, and {str(path)[:_SHOWN]!r} "
            f"cannot be read ({error.strerror})"
        ]
    except ValueError as error:
        return None, [f"{path} is not JSON ({error})"]
    if fault := _version_fault(document):
        return None, [f"{path}: {fault}"]
    if isinstance(document.get("cafile"), str):
        document["cafile"] = str(path.parent / document["cafile"])
    if secret_id := environ.get(contract.ENV_SECRET_ID):
        document["secret_id"] = secret_id
    found = environ.get(contract.ENV_BOOTSTRAP_SERVERS)
    if found is not None:
        document[_SERVERS] = [server.strip() for server in found.split(",")]
    return document, [
        fault.replace(_SERVERS, contract.ENV_BOOTSTRAP_SERVERS, 1)
        if found is not None and fault.startswith(_SERVERS)
        else f"{path}: {fault}"
        for fault in _faults(document)
    ]


def _version_fault(document: Any) -> str | None:
    if not isinstance(document, Mapping):
        return "the configuration must be a JSON object"
    version = document.get(contract.DOCUMENT_VERSION_KEY)
    if version == contract.DOCUMENT_VERSION and not isinstance(version, bool):
        return None
    found = "has no version" if version is None else f"is of version {version!r}"
    return (
        f"the configuration {found}, and this collector reads version {contract.DOCUMENT_VERSION}: "
        f"{_TOGETHER}"
    )


def _faults(document: Mapping[str, Any]) -> list[str]:
    """Returns the faults that a configuration can have although it was checked when written."""
    servers = document.get(_SERVERS)
    faults = [
        f"{_SERVERS}.{index}: must be host:port, not {server!r}"
        for index, server in enumerate(servers or ())
        if not SERVER.fullmatch(server)
    ]
    if not servers:
        faults.append(f"{_SERVERS}: is required")
    cafile = document.get("cafile")
    if isinstance(cafile, str) and (fault := authorities_fault(Path(cafile), cafile)):
        faults.append(f"cafile: {fault}")
    return faults


def _find_signed(document: Mapping[str, Any]) -> str | None:
    """Returns what is signed for this function's region; None if nothing is."""
    if document.get("sasl_mechanism") == IAM:
        return "tokens"
    sinks = document.get("sinks", ())
    endpoints = [sink.get(_OTLP, {}) for sink in sinks if not isinstance(sink, str)]
    signed = CLOUDWATCH in sinks or any(endpoint.get("sigv4") for endpoint in endpoints)
    return "metrics" if signed else None


def _raise_any(faults: list[str]) -> None:
    if faults:
        raise ConfigError("The configuration has faults: " + "; ".join(faults) + ".")


def _settings(document: Mapping[str, Any], bucket: str, region: str | None = None) -> Settings:
    """Returns the settings. Raises ConfigError for a missing key, as in an older configuration."""
    try:
        return _build_settings(document, bucket, region)
    except KeyError as error:
        missing = error.args[0]
    raise ConfigError(
        f"The configuration lacks {missing}, which this collector reads: {_TOGETHER}."
    )


def _build_settings(document: Mapping[str, Any], bucket: str, region: str | None) -> Settings:
    return Settings(
        cluster=document["cluster"],
        access=Access(
            bootstrap_servers=tuple(document[_SERVERS]),
            security_protocol=document["security_protocol"],
            sasl_mechanism=document["sasl_mechanism"],
            cafile=document["cafile"],
            broker_timeout=document["broker_timeout_seconds"],
        ),
        rules=_rules(document),
        levels=levels_of(document["levels"]),
        namespace=document["namespace"],
        secret_id=document["secret_id"],
        region=region,
        bucket=bucket,
        interval_ms=document["interval_ms"],
        deadline=document["deadline_seconds"],
        sinks=tuple(map(_sink, document["sinks"])),
    )


def _rules(document: Mapping[str, Any]) -> Rules:
    return Rules(
        groups=filter_of(document["groups"]),
        topics=filter_of(document["topics"]),
        interval_ms=document["interval_ms"],
        window_ms=document["window_ms"],
        uncommitted=ByName.of(document["uncommitted"].items()),
        allowed_lag=ByName.of(document["allowed_lag"].items()),
        owners=ByName.of(document["owner"].items()),
        runbooks=ByName.of(document["runbook_url"].items()),
        sla_seconds=ByName.of(document["sla_seconds"].items()),
        delay_seconds=ByName.of(document["delay_seconds"].items()),
        objectives=ByName.of((name, _objective(keys)) for name, keys in document["slo"].items()),
        mutes=tuple(MuteWindow.of(each) for each in document["mute"]),
        hold=document["hold"],
        tolerance=Tolerance(document["tolerance"]["floor_ms"], document["tolerance"]["share"]),
        lookup_budget=document["lookup_budget"],
        risk_horizon_ms=document["risk_horizon_ms"],
        ignore_inactive=document["ignore_inactive"],
        tasks=ByName.of((name, _tasks(keys)) for name, keys in document["tasks"].items()),
    )


def _tasks(document: Mapping[str, Any]) -> TaskSettings:
    return TaskSettings(
        capacity=document["capacity"],
        catch_up_seconds=document["catch_up_seconds"],
        members_per_task=document["members_per_task"],
        prefer_even=document["prefer_even"],
    )


def _objective(document: Mapping[str, Any]) -> Objective:
    return Objective(document["age_seconds"], document["target"], document["days"])


def _sink(document: Any) -> SinkConfig:
    if isinstance(document, str):
        return document
    otlp = document[_OTLP]
    levels = otlp["levels"]
    return OtlpConfig(
        endpoint=otlp["endpoint"],
        headers_secret=otlp["headers_secret"],
        sigv4=otlp["sigv4"],
        names=otlp["names"],
        levels=levels_of(levels) if levels is not None else None,
    )


def _compile(expression: str | None) -> re.Pattern[str] | None:
    return None if expression is None else re.compile(expression)
