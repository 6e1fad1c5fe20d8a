# SPDX-License-Identifier: Apache-2.0
"""The configuration of one collector: its keys with their limits, normalised for the function.

Defaults are those of `kafka_lag.settings`; limits are here.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias, cast
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticKnownError

from kafka_lag import contract
from kafka_lag.lag.group_settings import ByName, NameFilter, Objective
from kafka_lag.settings import (
    DEFAULTS,
    INTERNAL_TOPICS,
    SERVER,
    authorities_fault,
    filter_of,
)
from kafka_lag_config.faults import ConfigurationError, Fault, FaultsError
from kafka_lag_config.mute import MuteKeys
from kafka_lag_config.objectives import LONGEST_AGE, ObjectiveKeys
from kafka_lag_config.protocols import IAM, SaslMechanism, SecurityProtocol
from kafka_lag_config.strict import FOLDER, Strict, validate
from kafka_lag_config.tasks import TaskKeys
from kafka_lag_config.types import (
    EMPTY,
    ByExpression,
    Expression,
    Listed,
    Name,
    Number,
    matching,
)
from kafka_lag_config.window import (
    DEFAULT_WINDOW,
    WINDOW_EXPECTED,
    WINDOW_PATTERN,
    find_count_fault,
    find_window_fault,
    parse_window,
)

# The sinks that are called by a word, both of which publish into a namespace of CloudWatch.
EMF: Final = "emf"
CLOUDWATCH: Final = "cloudwatch"
_OTLP, _HTTPS = "otlp", "https"

# Beyond these a number is a slip of the pen.
_MOST_ALLOWED = 10**12
_LONGEST_OWNER = 256
_LONGEST_RUNBOOK = 2_048

_HOUR_MS = 3_600_000

_RULES, _LEVELS = DEFAULTS.rules, DEFAULTS.levels
_INTERVAL = DEFAULTS.interval_ms / 1000


def check_authorities(name: str | None, info: ValidationInfo) -> Path | None:
    """The place of a PEM file that is named from the folder of the validation, if it has one."""
    folder = (info.context or {}).get(FOLDER)
    if name is None or folder is None:
        return None
    if fault := authorities_fault(folder / name, name):
        raise ValueError(fault)
    return Path(folder / name)


def _check_owner(text: str) -> str:
    if not 1 <= len(text) <= _LONGEST_OWNER:
        raise ValueError(f"length must be between 1 and {_LONGEST_OWNER}")
    if not text.isprintable() or text.isspace():
        raise ValueError("must be words that can be printed")
    return text


def _check_url(text: str) -> str:
    """It is written to logs, so nothing in it may be secret."""
    try:
        parts = urlsplit(text)
        port_is_lawful = parts.port is None or parts.port > 0
    except ValueError:
        parts, port_is_lawful = urlsplit(""), False
    whole = parts.scheme in ("http", _HTTPS) and parts.hostname and parts.path.strip("/")
    if not (whole and port_is_lawful and text.isascii() and text.isprintable()) or " " in text:
        raise ValueError("must be a whole URL, as in https://collector:4318/v1/metrics")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("must have no password, query or fragment: use headers_secret")
    return text


def check_page(text: str) -> str:
    """People open it, and everybody who gets a message sees it."""
    try:
        parts = urlsplit(text)
        is_whole = parts.scheme in ("http", _HTTPS) and bool(parts.hostname)
    except ValueError:
        is_whole = False
    if not (is_whole and text.isascii() and text.isprintable()) or " " in text:
        raise ValueError("must be a whole URL, as in https://wiki.example.com/runbooks/billing")
    if len(text) > _LONGEST_RUNBOOK:
        raise ValueError(f"must not be longer than {_LONGEST_RUNBOOK:,} characters")
    if parts.username or parts.password:
        raise ValueError("must have no user or password: it is in every message")
    return text


def _check_server(server: str) -> str:
    if not SERVER.fullmatch(server):
        raise ValueError(f"must be host:port, not {server!r}")
    return server


class FilterSection(Strict):
    """Allow and deny for names; deny wins."""

    allow: Expression | None = None
    """a regular expression that matches anywhere in a name; without it every name. `^test-` matches
    names that begin with `test-`; a shell pattern such as `test-*` does not, and gets a warning"""
    deny: Expression | None = None
    """a regular expression for names to leave out, as in `allow`; it wins over `allow`"""

    @property
    def names(self) -> NameFilter:
        """Return the filter of names."""
        return filter_of(self.model_dump())


class TopicFilterSection(FilterSection):
    """The same; where nothing else is denied, topics that are Kafka's own are."""

    allow: Expression | None = None
    """a regular expression, as in `groups.allow`"""
    deny: Expression | None = INTERNAL_TOPICS
    """Kafka's own topics; a value of yours replaces this"""


class PartitionsSection(Strict):
    """The allow-list of partition metrics."""

    groups: FilterSection = FilterSection()
    """filter of the groups with partition metrics, as in `{"allow": "^pay"}`. They are on if
    `partitions` is there, even as `{}`"""
    topics: FilterSection = FilterSection()
    """filter of the topics of these groups"""


class LevelsSection(Strict):
    """The metrics to publish, and the most of them."""

    max_metrics: Annotated[int, Field(ge=0, le=1_000_000)] = _LEVELS.max_metrics
    """[the budget](metrics.md#the-budget) of metrics, up to 1000000; by default 100000 with
    `metrics: otlp`"""
    topics: bool = _LEVELS.topics
    """metrics by topic"""
    max_offset_lag: bool = _LEVELS.max_offset_lag
    """`MaxOffsetLag` by topic"""
    partitions: PartitionsSection | None = None
    scaling: FilterSection | None = None
    """filter of the groups that get `ScalingLag`, `ScalingLagPerMember` and `TasksNeeded`. They are
    on if `scaling` is there"""
    releases: Annotated[tuple[str, ...], Listed] = ()
    """names of the groups that get `ReleaseRisk`, beside those of `alarms.deployments`"""
    drain_time: bool = _LEVELS.drain_time
    """`EstimatedDrainTime` by group"""
    members: bool = _LEVELS.members
    """`Members` by group"""
    rebalancing: bool = _LEVELS.rebalancing
    """`Rebalancing` by group"""
    rates: bool = _LEVELS.rates
    """`ProduceRate` and `ConsumeRate` by group"""
    unusual: bool = _LEVELS.unusual
    """`Unusual` by group"""
    named: Annotated[tuple[str, ...], Listed] = ()
    """groups that come first in the budget, because alarms or scaling watch them"""
    named_only: bool = _LEVELS.named_only
    """publish no other groups but those of `named` and `scaling`"""


class ToleranceSection(Strict):
    """The wanted accuracy of a time lag: seconds, or a share of the age, the larger."""

    seconds: Annotated[Number, Field(ge=0.001, le=3600)] = _RULES.tolerance.floor_ms / 1000
    """seconds that a time lag may be off: fewer seconds need more look-ups"""
    share: Annotated[Number, Field(ge=0, le=1)] = _RULES.tolerance.share
    """share of the time lag that it may be off, if that is more"""


def _check_object(levels: Any) -> Any:
    # Left out they are the cluster's; null says neither that nor any of their own.
    if levels is None:
        raise PydanticKnownError("model_type", {"class_name": LevelsSection.__name__})
    return levels


class OtlpSection(Strict):
    """One OTLP endpoint; without one, with `sigv4`, CloudWatch's own in the function's region."""

    sigv4: bool = False
    """sign with the function's role, for CloudWatch; `endpoint` is then CloudWatch's own in the
    function's region by default"""
    headers_secret: str | None = None
    """name or ARN of a secret in Secrets Manager: a JSON object of headers, as in
    `{"Authorization": "Bearer ..."}`. The key that AWS manages must encrypt it: the collector has
    no right on others"""
    names: Literal["cloudwatch", "otel"] = CLOUDWATCH
    """names of metrics and attributes: those of CloudWatch, or "otel", those of [OpenTelemetry's
    receiver for Kafka](#opentelemetrys-names)"""
    endpoint: Annotated[
        Annotated[str, AfterValidator(_check_url)] | None, Field(validate_default=True)
    ] = None
    """the whole URL with its path, usually `/v1/metrics`"""
    levels: Annotated[LevelsSection | None, BeforeValidator(_check_object)] = None
    """the levels of this endpoint, an object of the same keys (unless given: the cluster's)"""

    @field_validator("headers_secret")
    @classmethod
    def _one_login(cls, secret: str | None, info: ValidationInfo) -> str | None:
        if secret and info.data.get("sigv4"):
            raise ValueError("must be left out with sigv4")
        return secret

    @field_validator("endpoint")
    @classmethod
    def _reachable_and_secret(cls, url: str | None, info: ValidationInfo) -> str | None:
        sigv4, headers = info.data.get("sigv4"), info.data.get("headers_secret")
        if not url and not sigv4:
            raise ValueError("is required; with sigv4 it is CloudWatch's own by default")
        if url and (sigv4 or headers) and urlsplit(url).scheme != _HTTPS:
            raise ValueError("must begin with https:// to be sent a secret")
        return url


class OtlpSink(Strict):
    """A sink that is no word but an object."""

    tag: ClassVar[str | None] = _OTLP

    otlp: OtlpSection


def _tag_of(sink: Any) -> str | None:
    if isinstance(sink, OtlpSink) or (isinstance(sink, Mapping) and set(sink) == {_OTLP}):
        return _OTLP
    return EMF if isinstance(sink, str) and sink in (EMF, CLOUDWATCH) else None


def _check_sinks(sinks: tuple[Sink, ...]) -> tuple[Sink, ...]:
    # Whatever its levels, an endpoint gets groups.
    places = {
        each if isinstance(each, str) else each.otlp.model_copy(update={"levels": None})
        for each in sinks
    }
    if len(places) < len(sinks):
        raise ValueError("must name each sink once")
    if EMF in sinks and CLOUDWATCH in sinks:
        raise ValueError(
            f"must be {EMF} or {CLOUDWATCH}: both publish the same metrics to CloudWatch"
        )
    return sinks


Sink: TypeAlias = Annotated[
    Annotated[Literal["emf", "cloudwatch"], Tag(EMF)] | Annotated[OtlpSink, Tag(_OTLP)],
    Discriminator(
        _tag_of,
        custom_error_type="sink",
        custom_error_message=f'must be "{EMF}", "{CLOUDWATCH}" or {{"{_OTLP}": {{...}}}}',
    ),
]


class CollectorKeys(Strict):
    """A collector's settings, wherever it runs."""

    groups: FilterSection = FilterSection()
    topics: TopicFilterSection = TopicFilterSection()
    uncommitted: ByExpression[Literal["earliest", "apart"]] = EMPTY
    """by group, for partitions without a commit: "earliest" counts lag from the log start, "apart"
    counts them in `PartitionsUncommitted`"""
    allowed_lag: ByExpression[Annotated[int, Field(ge=0, le=_MOST_ALLOWED)]] = EMPTY
    """by topic: the number of records that do not count as lag. 1 suits topics written in
    transactions, if [learning it](metrics.md#rests-after-transaction-markers) takes too long"""
    owner: ByExpression[Annotated[str, AfterValidator(_check_owner)]] = EMPTY
    """by group: its owner, up to 256 characters; shown in the snapshots and in the description of
    the group's alarms"""
    runbook_url: ByExpression[Annotated[str, AfterValidator(check_page)]] = EMPTY
    """by group, or by owner if no group matches: a URL, up to 2,048 characters, that messages,
    events, the group's page and `kafka-lag why` show; without user and password"""
    sla_seconds: ByExpression[Annotated[Number, Field(gt=0, le=LONGEST_AGE)]] = EMPTY
    """by group: the longest time lag allowed, above 0; the group then has `SlaUsed`"""
    delay_seconds: ByExpression[Annotated[Number, Field(gt=0, le=LONGEST_AGE)]] = EMPTY
    """by topic, or by group if no topic matches: the age from which records are read, above 0, for
    [retry and delay topics](concepts.md#delays); only the age beyond it is time lag"""
    slo: ByExpression[ObjectiveKeys] = EMPTY
    """by group: an [SLO](#slo), an object of `age_seconds`, `target` and `days`, for the daily
    report and for alarms of groups in `alarms.groups`"""
    tasks: ByExpression[TaskKeys] = EMPTY
    """by group: an object of `capacity`, `catch_up_seconds`, `members_per_task` and `prefer_even`,
    [as in `scaling`](#a-cluster-what-it-does), for groups that something else scales; an entry of
    `scaling` overrides it"""
    mute: Annotated[tuple[MuteKeys, ...], Listed] = ()
    """a list of [windows](alarms.md#mute-windows) in which alarms on groups and messages wake
    nobody"""
    levels: LevelsSection = LevelsSection()
    sinks: Annotated[tuple[Sink, ...], Listed, AfterValidator(_check_sinks)] = cast(
        "tuple[Sink, ...]", DEFAULTS.sinks
    )
    """where metrics go: any of "emf" or "cloudwatch", and [OTLP endpoints](configuration.md#sinks),
    which may have [`levels` of their own](configuration.md#levels-of-its-own)"""
    namespace: Annotated[
        str,
        matching(r"(?!AWS/)[A-Za-z0-9._\-/#: ]{1,255}", "is no CloudWatch namespace of your own"),
    ] = DEFAULTS.namespace
    """namespace of the metrics"""
    interval_seconds: Annotated[Number, Field(ge=1, le=3600)] = _INTERVAL
    """seconds between scheduled runs"""
    window: Annotated[str, matching(WINDOW_PATTERN, WINDOW_EXPECTED)] = DEFAULT_WINDOW
    """a commit unchanged for this long means that the group is stuck: 90s, 10m or 1h, at least
    three intervals and at most 24h; by default three intervals if these are longer than ten
    minutes"""
    hold: Annotated[int, Field(ge=1, le=1000)] = _RULES.hold
    """runs a status must last before it is reported as `held_status`, 1 to 1000: more runs hide
    short troubles, and delay messages about long ones"""
    tolerance: ToleranceSection = ToleranceSection()
    lookup_budget: Annotated[int, Field(ge=0, le=1_000_000)] = _RULES.lookup_budget
    """the most look-ups by time in a run: fewer spare the brokers and make time lags less exact;
    with 0 time lags come from earlier runs only"""
    risk_horizon_hours: Annotated[Number, Field(gt=0, le=720)] = _RULES.risk_horizon_ms / _HOUR_MS
    """a loss is AT_RISK if it is fewer hours away than this, and less than half of the topic's
    retention; up to 720"""
    ignore_inactive: bool = _RULES.ignore_inactive
    """leave out topics of a group that no member owns and whose commits have not moved for 24 hours
    """
    deadline_seconds: Annotated[Number, Field(ge=1, le=900)] = DEFAULTS.deadline
    """seconds that a run may take: the snapshots must be loaded by three tenths of this, and the
    cluster read by nine tenths"""
    broker_timeout_seconds: Annotated[Number, Field(ge=0.1, le=300)] = (
        DEFAULTS.access.broker_timeout
    )
    """seconds for each broker, and at most a quarter of the remaining time; a broker that hangs
    costs this once a run"""

    @field_validator("window", mode="before")
    @classmethod
    def _no_count(cls, value: Any, info: ValidationInfo) -> Any:
        fault = find_count_fault(value, info.data.get("interval_seconds", _INTERVAL))
        if fault:
            raise ValueError(fault)
        return value

    @field_validator("window")
    @classmethod
    def _fits_interval(cls, value: str, info: ValidationInfo) -> str:
        # An interval with a fault of its own is absent here.
        fault = find_window_fault(value, info.data.get("interval_seconds", 0))
        if fault:
            raise FaultsError([Fault((), fault, joint=True, beside=("interval_seconds",))])
        return value

    @property
    def window_ms(self) -> int:
        """The window; where none is named, as long as the interval needs."""
        named = self.window if "window" in self.model_fields_set else None
        return parse_window(named, self.interval_seconds)

    @property
    def otlp_endpoints(self) -> tuple[OtlpSection, ...]:
        """Its sinks of OTLP."""
        return tuple(each.otlp for each in self.sinks if isinstance(each, OtlpSink))

    @property
    def sink_names(self) -> frozenset[str]:
        """Its sinks that make metrics in CloudWatch's namespaces; OTLP's have no such names."""
        return frozenset(each for each in self.sinks if isinstance(each, str))

    def sla_of(self, group: str) -> float | None:
        """Returns a group's SLA in seconds; null without one."""
        return ByName.of(self.sla_seconds.items()).get(group)

    def objective_of(self, group: str) -> Objective | None:
        """Return a group's objective; null if none is configured."""
        keys = ByName.of(self.slo.items()).get(group)
        return None if keys is None else keys.objective

    def runbook_of(self, group: str) -> str | None:
        """Return the runbook of a group or of its owner; null if none is named."""
        pages, owner = ByName.of(self.runbook_url.items()), self.owner_of(group)
        return pages.get(group) or (None if owner is None else pages.get(owner))

    def owner_of(self, group: str) -> str | None:
        """Return the owner of a group; null if none is named."""
        return ByName.of(self.owner.items()).get(group)


class Document(CollectorKeys):
    """The whole document of a collector that runs without a deployment of this project's."""

    cluster: Name
    """its name in metrics and S3 keys: letters, digits, `.`, `_`, `-`"""
    bootstrap_servers: Annotated[
        tuple[Annotated[str, AfterValidator(_check_server)], ...], Listed, Field(min_length=1)
    ]
    """host:port, all are tried at once"""
    sasl_mechanism: SaslMechanism = cast("SaslMechanism", DEFAULTS.access.sasl_mechanism)
    """or SCRAM-SHA-256 or PLAIN; or OAUTHBEARER for MSK IAM, which needs SASL_SSL, `AWS_REGION` in
    the environment, and no secret"""
    security_protocol: SecurityProtocol = cast(
        "SecurityProtocol", DEFAULTS.access.security_protocol
    )
    """PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL"""
    secret_id: str | None = Field(default=DEFAULTS.secret_id, validate_default=True)
    """name or ARN of a secret. With SASL it holds user and password, and is required unless the
    login is IAM; with SSL it holds a client certificate"""
    cafile: str | None = DEFAULTS.access.cafile
    """file of CA certificates, PEM; it is loaded when the configuration is checked. A relative path
    begins at the configuration's folder (unless given: the system's)"""

    @field_validator("security_protocol")
    @classmethod
    def _role_over_tls_alone(
        cls, protocol: SecurityProtocol, info: ValidationInfo
    ) -> SecurityProtocol:
        if info.data.get("sasl_mechanism") == IAM and protocol != "SASL_SSL":
            raise ValueError(f"must be SASL_SSL for {IAM}")
        return protocol

    @field_validator("secret_id")
    @classmethod
    def _secret_where_needed(cls, secret: str | None, info: ValidationInfo) -> str | None:
        # A key with a fault of its own is absent here, and needs no second one.
        mechanism = info.data.get("sasl_mechanism", IAM)
        if mechanism == IAM:
            if secret and "sasl_mechanism" in info.data:
                raise ValueError(f"must be left out for {IAM}: the function's own role logs in")
        elif info.data.get("security_protocol", "").startswith("SASL") and not secret:
            raise ValueError("is required for a SASL protocol with a password")
        return secret

    @field_validator("cafile")
    @classmethod
    def _readable(cls, name: str | None, info: ValidationInfo) -> str | None:
        check_authorities(name, info)
        return name


def normalised(source: Any, name: str = "the configuration", folder: Path | None = None) -> Any:
    """A configuration as a person writes it, as `kafka_lag.settings` reads it.

    Raises ConfigurationError with every fault. Its `cafile` is tried from `folder`; None: not.
    """
    if not isinstance(source, Mapping):
        raise ConfigurationError(name, ["the configuration must be a JSON object"])
    found, faults = validate(Document, source, folder)
    if found is None:
        raise ConfigurationError(name, faults)
    return written(
        found,
        cluster=found.cluster,
        bootstrap_servers=list(found.bootstrap_servers),
        security_protocol=found.security_protocol,
        sasl_mechanism=found.sasl_mechanism,
        secret_id=found.secret_id,
        cafile=found.cafile,
    )


def written(
    keys: CollectorKeys,
    *,
    cluster: str,
    bootstrap_servers: list[str] | None,
    security_protocol: str,
    sasl_mechanism: str | None,
    secret_id: str | None,
    cafile: str | None,
) -> dict[str, Any]:
    """The configuration in which nothing is left out, with durations in the units of the settings.

    `bootstrap_servers` is None where a deploy finds them out.
    """
    dumped = keys.model_dump(mode="json", include=set(CollectorKeys.model_fields))
    interval_ms = int(dumped.pop("interval_seconds") * 1000)
    dumped.pop("window")
    horizon_hours = dumped.pop("risk_horizon_hours")
    tolerance = dumped["tolerance"]
    return {
        contract.DOCUMENT_VERSION_KEY: contract.DOCUMENT_VERSION,
        "cluster": cluster,
        "bootstrap_servers": bootstrap_servers,
        "security_protocol": security_protocol,
        "sasl_mechanism": sasl_mechanism if security_protocol.startswith("SASL") else None,
        "secret_id": secret_id,
        "cafile": cafile,
        **dumped,
        "mute": [each.normalised() for each in keys.mute],
        "interval_ms": interval_ms,
        "window_ms": keys.window_ms,
        "tolerance": {"floor_ms": round(tolerance["seconds"] * 1000), "share": tolerance["share"]},
        "risk_horizon_ms": round(horizon_hours * _HOUR_MS),
    }
