# SPDX-License-Identifier: Apache-2.0
"""What a configuration document may hold: names, types, ranges, defaults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from marshmallow import (
    RAISE,
    Schema,
    ValidationError,
    fields,
    post_load,
    validate,
    validates_schema,
)

from kafka_lag import contract
from kafka_lag.brokers.access import IAM
from kafka_lag.lag.rules import APART, EARLIEST, NameFilter, Tolerance
from kafka_lag.schema.fields import Choices, count, number, switch
from kafka_lag.schema.levels import FilterSchema, LevelsSchema, TopicFilterSchema
from kafka_lag.schema.sinks import SinkField, several
from kafka_lag.sinks.config import EMF, Levels
from kafka_lag.snapshots.keys import CLUSTER_NAME

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN")

# Beyond these a number is a slip of the pen.
_MOST_ALLOWED = 10**12
_LONGEST_SLA = 366 * 86_400

_LONGEST_WINDOW_HOURS = 24


class ToleranceSchema(Schema):
    """How exact a time lag must be: seconds, or a share of the age, the larger."""

    class Meta:
        """Unknown keys are faults."""

        unknown = RAISE

    seconds = number(1.0, 0.001, 3600)
    share = number(0.001, 0, 1)

    @post_load
    def _made(self, data: dict[str, Any], **_: Any) -> Tolerance:
        return Tolerance(round(data["seconds"] * 1000), data["share"])


def _readable(text: str) -> None:
    if not text.isprintable() or text.isspace():
        raise ValidationError("must be words that can be printed")


class DocumentSchema(Schema):
    """One cluster's document."""

    class Meta:
        """Unknown keys are faults."""

        unknown = RAISE

    cluster = fields.String(
        required=True,
        validate=validate.Regexp(
            CLUSTER_NAME.pattern + r"\Z", error="must be letters, digits, '.', '_' or '-'"
        ),
    )
    bootstrap_servers = fields.List(
        fields.String(
            validate=validate.Regexp(r".+:\d{1,5}\Z", error="must be host:port, not {input!r}")
        ),
        required=True,
        validate=validate.Length(min=1),
    )
    security_protocol = fields.String(load_default="SASL_SSL", validate=validate.OneOf(PROTOCOLS))
    sasl_mechanism = fields.String(
        load_default="SCRAM-SHA-512", validate=validate.OneOf((*MECHANISMS, IAM))
    )
    secret_id = fields.String(load_default=None, allow_none=True)
    cafile = fields.String(load_default=None, allow_none=True)
    groups = fields.Nested(FilterSchema, load_default=NameFilter)
    topics = fields.Nested(TopicFilterSchema, load_default=lambda: TopicFilterSchema().load({}))
    uncommitted = Choices(fields.String(validate=validate.OneOf((EARLIEST, APART))))
    allowed_lag = Choices(count(0, 0, _MOST_ALLOWED))
    owner = Choices(fields.String(validate=[validate.Length(1, 256), _readable]))
    sla_seconds = Choices(number(0, 0, _LONGEST_SLA, above=True))
    levels = fields.Nested(LevelsSchema, load_default=Levels)
    sinks = fields.List(SinkField(), load_default=lambda: [EMF], validate=several)
    namespace = fields.String(
        load_default=contract.NAMESPACE,
        validate=validate.Regexp(
            r"(?!AWS/)[A-Za-z0-9._\-/#: ]{1,255}\Z", error="is no CloudWatch namespace of your own"
        ),
    )
    interval_seconds = number(60.0, 1, 3600)
    window = count(10, 1, 1000)
    hold = count(3, 1, 1000)
    tolerance = fields.Nested(ToleranceSchema, load_default=Tolerance)
    lookup_budget = count(10_000, 0, 1_000_000)
    risk_horizon_hours = number(24.0, 0, 720, above=True)
    ignore_inactive = switch(default=False)
    deadline_seconds = number(45.0, 1, 900)
    broker_timeout_seconds = number(10.0, 0.1, 300)

    @validates_schema(skip_on_field_errors=False)
    def _window_within_a_day(self, data: dict[str, Any], **_: Any) -> None:
        if "window" in data and "interval_seconds" in data:
            fault = window_fault(data["window"], data["interval_seconds"])
            if fault:
                raise ValidationError(fault, "window")

    @validates_schema(skip_on_field_errors=False)
    def _secret_where_needed(self, data: dict[str, Any], **_: Any) -> None:
        # A field with a fault of its own is absent here, and needs no second one.
        sasl = data.get("security_protocol", "").startswith("SASL")
        password = sasl and data.get("sasl_mechanism", IAM) != IAM
        if password and "secret_id" in data and not data["secret_id"]:
            raise ValidationError("is required for a SASL protocol with a password", "secret_id")

    @validates_schema(skip_on_field_errors=False)
    def _role_over_tls_alone(self, data: dict[str, Any], **_: Any) -> None:
        if data.get("sasl_mechanism") != IAM:
            return
        if data.get("security_protocol", "SASL_SSL") != "SASL_SSL":
            raise ValidationError(f"must be SASL_SSL for {IAM}", "security_protocol")
        if data.get("secret_id"):
            told = f"must be left out for {IAM}: the function's own role logs in"
            raise ValidationError(told, "secret_id")


def window_fault(window: int, interval_seconds: float) -> str | None:
    """What is wrong with a window of so many intervals, None if nothing.

    Rows that cannot be read are kept for a day: beyond it there is nothing left to count.
    """
    hours = window * interval_seconds / 3600
    if hours <= _LONGEST_WINDOW_HOURS:
        return None
    return (
        f"must be at most {_LONGEST_WINDOW_HOURS} hours of intervals, and {window} of "
        f"{interval_seconds:g} seconds are {hours:.4g}"
    )


def faults_of(document: Any) -> list[str]:
    """Every fault as `path: what is wrong`, none for a good document."""
    if not isinstance(document, Mapping):
        return ["the document must be a JSON object"]
    errors = DocumentSchema().validate(document)
    return sorted(_flat(errors, (), DocumentSchema()))


def _flat(errors: Any, path: tuple[str, ...], whole: Any) -> Iterator[str]:
    """`whole` describes what the errors are of: a schema, a field, None where nothing does."""
    if isinstance(errors, list):
        yield from (f"{'.'.join(path) or 'document'}: {_worded(e, path, whole)}" for e in errors)
        return
    for key, below in errors.items():
        place = path if key == "_schema" else (*path, str(key))
        yield from _flat(below, place, _part(whole, key) if isinstance(below, dict) else whole)


def _part(whole: Any, key: Any) -> Any:
    found: Any = None
    if isinstance(whole, Schema):
        found = whole.fields.get(key)
    elif isinstance(whole, fields.List):
        found = whole.inner
    elif isinstance(whole, SinkField):
        found = whole.schemas[key]()
    return found.schema if isinstance(found, fields.Nested) else found


def _worded(message: str, path: tuple[str, ...], whole: Any) -> str:
    known = whole.fields if isinstance(whole, Schema) else {}
    if message == "Unknown field." and known:
        near = get_close_matches(path[-1], known, n=1)
        return "unknown key" + (f", did you mean {near[0]}?" if near else "")
    if message == "Invalid input type." and known:
        return f"must be an object with {', '.join(known)}"
    return message[0].lower() + message[1:].rstrip(".")
