# SPDX-License-Identifier: Apache-2.0
"""What a configuration document may hold: names, types, ranges, defaults."""

from __future__ import annotations

import re
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

from functions import contract
from functions.lag.model import NameFilter
from functions.sinks.budget import Levels
from functions.snapshots.keys import CLUSTER_NAME

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN")

# Kafka's and MSK's own bookkeeping, which nobody's consumers lag on by accident.
INTERNAL_TOPICS = r"^__(consumer_offsets|transaction_state|share_group_state)$|^__amazon_msk_"


class Pattern(fields.String):
    """A regular expression, searched for anywhere in a name; null is none."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        try:
            return re.compile(text)
        except re.error as error:
            raise ValidationError(f"is not a regular expression ({error}): {text!r}") from error


class Number(fields.Float):
    """A JSON number: neither a string that looks like one nor a truth value."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, str | bool):
            raise ValidationError("not a valid number")
        return super()._deserialize(value, attr, data, **kwargs)


class Truth(fields.Boolean):
    """A JSON true or false, and no word for it."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> Any:
        if not isinstance(value, bool):
            raise ValidationError("must be true or false")
        return super()._deserialize(value, attr, data, **kwargs)


def _number(default: float, low: float, high: float) -> Number:
    return Number(load_default=default, validate=validate.Range(min=low, max=high))


def _count(default: int, low: int, high: int) -> fields.Integer:
    return fields.Integer(
        strict=True, load_default=default, validate=validate.Range(min=low, max=high)
    )


class FilterSchema(Schema):
    """Allow and deny for names; deny wins."""

    class Meta:
        """Unknown keys are faults."""

        unknown = RAISE

    allow = Pattern(load_default=None, allow_none=True)
    deny = Pattern(load_default=None, allow_none=True)

    @post_load
    def _made(self, data: dict[str, Any], **_: Any) -> NameFilter:
        return NameFilter(**data)


class TopicFilterSchema(FilterSchema):
    """The same; unless told otherwise, topics that are Kafka's own are denied."""

    deny = Pattern(load_default=re.compile(INTERNAL_TOPICS), allow_none=True)


class PartitionsSchema(Schema):
    """The allow-list of partition metrics."""

    class Meta:
        """Unknown keys are faults."""

        unknown = RAISE

    groups = fields.Nested(FilterSchema, load_default=NameFilter)
    topics = fields.Nested(FilterSchema, load_default=NameFilter)


class LevelsSchema(Schema):
    """Which metrics are published, and how many at most."""

    class Meta:
        """Unknown keys are faults."""

        unknown = RAISE

    max_metrics = _count(1000, 0, 1_000_000)
    topics = Truth(load_default=True)
    max_offset_lag = Truth(load_default=False)
    partitions = fields.Nested(PartitionsSchema, load_default=None, allow_none=True)
    named = fields.List(fields.String(), load_default=list)

    @post_load
    def _made(self, data: dict[str, Any], **_: Any) -> Levels:
        partitions = data.pop("partitions") or {"groups": None, "topics": NameFilter()}
        return Levels(
            **{**data, "named": frozenset(data["named"])},
            partition_groups=partitions["groups"],
            partition_topics=partitions["topics"],
        )


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
        fields.String(validate=validate.Regexp(r".+:\d{1,5}\Z", error="must be host:port")),
        required=True,
        validate=validate.Length(min=1),
    )
    security_protocol = fields.String(load_default="SASL_SSL", validate=validate.OneOf(PROTOCOLS))
    sasl_mechanism = fields.String(
        load_default="SCRAM-SHA-512", validate=validate.OneOf(MECHANISMS)
    )
    secret_id = fields.String(load_default=None, allow_none=True)
    cafile = fields.String(load_default=None, allow_none=True)
    groups = fields.Nested(FilterSchema, load_default=NameFilter)
    topics = fields.Nested(TopicFilterSchema, load_default=lambda: TopicFilterSchema().load({}))
    uncommitted_earliest = Pattern(load_default=None, allow_none=True)
    levels = fields.Nested(LevelsSchema, load_default=Levels)
    namespace = fields.String(
        load_default=contract.NAMESPACE,
        validate=validate.Regexp(
            r"(?!AWS/)[A-Za-z0-9._\-/#: ]{1,255}\Z", error="is no CloudWatch namespace of your own"
        ),
    )
    interval_seconds = _number(60.0, 1.0, 3600.0)
    window = _count(10, 1, 1000)
    deadline_seconds = _number(45.0, 1.0, 900.0)
    broker_timeout_seconds = _number(10.0, 0.1, 300.0)

    @validates_schema(skip_on_field_errors=False)
    def _secret_where_needed(self, data: dict[str, Any], **_: Any) -> None:
        # A field with a fault of its own is absent here, and needs no second one.
        sasl = data.get("security_protocol", "").startswith("SASL")
        if sasl and "secret_id" in data and not data["secret_id"]:
            raise ValidationError("is required for a SASL protocol", "secret_id")


def faults_of(document: Any) -> list[str]:
    """Every fault as `path: what is wrong`, none for a good document."""
    if not isinstance(document, Mapping):
        return ["the document must be a JSON object"]
    errors = DocumentSchema().validate(document)
    return sorted(_flat(errors, (), DocumentSchema()))


def _flat(errors: Any, path: tuple[str, ...], schema: Schema | None) -> Iterator[str]:
    if isinstance(errors, list):
        yield from (f"{'.'.join(path) or 'document'}: {_worded(e, path, schema)}" for e in errors)
        return
    for key, below in errors.items():
        inner = schema.fields.get(key) if schema else None
        nested = inner.schema if isinstance(inner, fields.Nested) else None
        place = path if key == "_schema" else (*path, str(key))
        yield from _flat(below, place, nested if isinstance(below, dict) else schema)


def _worded(message: str, path: tuple[str, ...], schema: Schema | None) -> str:
    if message == "Unknown field." and schema is not None:
        near = get_close_matches(path[-1], schema.fields, n=1)
        return "unknown key" + (f", did you mean {near[0]}?" if near else "")
    return message[0].lower() + message[1:].rstrip(".")
