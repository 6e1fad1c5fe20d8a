# SPDX-License-Identifier: Apache-2.0
"""Settings of a deployed collector: the configuration holds them, and LagCollector takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from kafka_lag_config.document import (
    EMF,
    CollectorKeys,
    OtlpSection,
    OtlpSink,
    check_authorities,
    check_page,
)
from kafka_lag_config.strict import Strict
from kafka_lag_config.types import EMPTY, Distinct, GroupName, Listed, Number, Text, Whole

_LARGEST_MINUTES = 60
# Lambda ends the function after 55 s, and what was read has to be written by then.
_LONGEST_RUN = 50

_FOLLOWS = "follows from auth; leave it out"

# The values of `metrics`, and the sink of the second: CloudWatch's own endpoint.
CLASSIC: Final = "classic"
OTLP: Final = "otlp"
CLOUDWATCH_ENDPOINT = OtlpSink(otlp=OtlpSection(sigv4=True, names="otel"))

# What CloudWatch takes for the retention of a log group.
LogDays = Literal[1, 3, 7, 14, 30, 60, 90, 180, 365, 731]
MemoryMb = Annotated[int, Field(ge=256, le=10240)]
Groups = Annotated[tuple[GroupName, ...], Listed, Distinct]
Count = Annotated[int, Field(ge=1)]


class Function(Strict):
    """The collector's Lambda."""

    memory_mb: MemoryMb = 512
    """memory of the Lambda"""
    reserved_concurrency: Whole | None = None
    """executions reserved for the Lambda: 1 is enough, because runs do not overlap. Small accounts
    have none to reserve (unless given: none)"""
    log_days: LogDays = 14
    """days for which the Lambda's log is kept: 1, 3, 7, 14, 30, 60, 90, 180, 365 or 731"""
    python: Literal["3.13", "3.14"] = "3.13"
    """version of Python: 3.13 or 3.14"""
    architecture: Literal["arm64", "x86_64"] = "arm64"
    """processor: arm64 or x86_64"""


class SlaRuns(Strict):
    """In how many of how many runs an SLA must be broken for a page."""

    datapoints: Count
    """runs in which the SLA must be broken"""
    periods: Count
    """number of runs that are looked at, a day's at most"""

    @model_validator(mode="after")
    def _can_be_reached(self) -> Self:
        if self.datapoints > self.periods:
            raise ValueError(f"{self.datapoints} of {self.periods} runs are never reached")
        return self


class AlarmChange(Strict):
    """Settings of one kind of alarm that differ from its rule."""

    datapoints: Count | None = None
    """so many of `periods` must breach"""
    periods: Count | None = None
    """of so many runs"""
    threshold: Number | None = None
    """the value that it is compared with; not for alarms whose groups have one each"""
    action: Literal["urgent", "notice", "none"] | None = None
    """`urgent`, to the topic that wakes somebody; `notice`, to the topic that is read by day;
    `none`, to nobody"""


class AlarmSettings(Strict):
    """The alarms to create; those on the reporter's own health always exist."""

    groups: Groups = ()
    """exact names of groups with alarms of their own: status, data loss, `sla_seconds`, the budget
    of `slo`"""
    any_group: bool = True
    """three alarms on status, data loss and (if there are `sla_seconds`) SLA of all other groups"""
    any_unusual: bool = False
    """an alarm on groups that are unusual for this hour of the week; it sets `levels.unusual`"""
    anomalies: Groups = ()
    """exact names of groups whose time lag is compared with its own past"""
    offset_lag: dict[GroupName, Whole] = EMPTY
    """by exact name of any group: the number of unread records above which there is an alarm"""
    deployments: Groups = ()
    """exact names of groups with an alarm that [rolls bad releases
    back](alarms.md#deployment-alarms); each gets `ReleaseRisk`"""
    sla_runs: dict[GroupName, SlaRuns] = EMPTY
    """by exact name of a group in `alarms.groups`: in how many runs its SLA must be broken for an
    alarm, as in `{"datapoints": 5, "periods": 10}` (unless given: 3 of 5)"""
    rules: dict[Text, AlarmChange] = EMPTY
    """changes of alarms, by the alarm's name in [the list](alarms.md#all-alarms): an object of
    `datapoints`, `periods`, `threshold` and `action` (urgent, notice or none), as in `{"reading":
    {"datapoints": 3, "action": "urgent"}}`"""
    manual_url: Annotated[str, AfterValidator(check_page)] | None = None
    """URL of your copy of alarms.md, which [alarms link](alarms.md) (unless given:
    docs/alarms.md)"""
    brokers: bool = True
    """alarms on MSK's own metrics of its brokers: disk 85 % full, processor idle less than 40 %"""


class CollectorSettings(CollectorKeys):
    """Settings of what a collector reads, publishes and runs on, not of how it reaches brokers.

    `elsewhere` has those of the collector's words that a cluster says otherwise.
    """

    elsewhere: ClassVar[Mapping[str, str]] = {
        "cluster": "write name",
        "cafile": "write ca_file",
        "security_protocol": _FOLLOWS,
        "sasl_mechanism": _FOLLOWS,
        "secret_id": _FOLLOWS,
    }

    ca_file: Text | None = None
    """PEM file of a private authority that signed the brokers' certificates, relative to this file;
    every certificate in it must be readable (unless given: the system's)"""
    broker_type: Literal["standard", "express"] = "standard"
    """`express` for MSK's Express brokers, which have no disks to watch"""
    function: Function = Function()
    metrics: Literal["classic", "otlp"] = CLASSIC
    """`otlp`: groups, topics and partitions go [to CloudWatch by OTLP](operate.md#metrics-by-otlp),
    paid by the gigabyte, with alarms by PromQL. Only groups that alarms or scaling name also have
    classic metrics"""
    dashboard: bool = True
    """make a dashboard for the cluster"""
    paused: bool = False
    """disable the schedule, and leave out the alarms that would miss the runs"""

    @model_validator(mode="before")
    @classmethod
    def _add_endpoint(cls, given: Any) -> Any:
        if not isinstance(given, Mapping) or given.get("metrics") != OTLP:
            return given
        sinks = given.get("sinks", (EMF,))
        return {**given, "sinks": add_endpoint(sinks)} if isinstance(sinks, list | tuple) else given

    @field_validator("interval_seconds")
    @classmethod
    def _divides_an_hour(cls, seconds: float) -> float:
        minutes = seconds / 60
        if minutes % 1 or _LARGEST_MINUTES % minutes:
            allowed = [60 * each for each in range(1, 61) if _LARGEST_MINUTES % each == 0]
            raise ValueError(
                "must be whole minutes that divide an hour: "
                f"{', '.join(map(str, allowed[:-1]))} or {allowed[-1]}"
            )
        return seconds

    @field_validator("deadline_seconds")
    @classmethod
    def _ends_in_time(cls, seconds: float) -> float:
        if seconds > _LONGEST_RUN:
            raise ValueError(
                f"must be at most {_LONGEST_RUN}, as the function is ended after 55 seconds"
            )
        return seconds

    @field_validator("ca_file")
    @classmethod
    def _found(cls, name: str | None, info: ValidationInfo) -> str | None:
        """Its place as it is from everywhere."""
        place = check_authorities(name, info)
        return name if place is None else str(place.resolve())

    @property
    def by_otlp(self) -> bool:
        """True if CloudWatch gets metrics of all groups by OTLP."""
        return self.metrics == OTLP

    @property
    def interval_minutes(self) -> int:
        """Minutes between scheduled runs."""
        return int(self.interval_seconds) // 60


def add_endpoint(sinks: Any) -> Any:
    """Returns the sinks with CloudWatch's own endpoint, unless one with sigv4 is among them."""
    given = [each.get(OTLP) for each in sinks if isinstance(each, Mapping)]
    given += [each.otlp.model_dump() for each in sinks if isinstance(each, OtlpSink)]
    if any(isinstance(each, Mapping) and each.get("sigv4") for each in given):
        return sinks
    return [*sinks, CLOUDWATCH_ENDPOINT]
