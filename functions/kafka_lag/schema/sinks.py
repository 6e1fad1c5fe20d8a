# SPDX-License-Identifier: Apache-2.0
"""The part of a configuration document that chooses where metrics go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import urlsplit

from marshmallow import RAISE, Schema, ValidationError, fields, post_load, validates_schema

from kafka_lag.schema.fields import switch
from kafka_lag.schema.levels import LevelsSchema
from kafka_lag.sinks.config import CLOUDWATCH, EMF, NAMED, OtlpConfig, SinkConfig

_OTLP = "otlp"
_HTTPS = "https"


def _url(text: str) -> None:
    """Told in logs, so nothing in it may be secret."""
    try:
        parts = urlsplit(text)
        port_is_lawful = parts.port is None or parts.port > 0
    except ValueError:
        parts, port_is_lawful = urlsplit(""), False
    whole = parts.scheme in ("http", _HTTPS) and parts.hostname and parts.path.strip("/")
    if not (whole and port_is_lawful and text.isascii() and text.isprintable()) or " " in text:
        raise ValidationError("must be a whole URL, as in https://collector:4318/v1/metrics")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValidationError("must have no password, query or fragment: use headers_secret")


class OtlpSchema(Schema):
    """One OTLP endpoint."""

    class Meta:
        """Unknown keys are faults."""

        unknown = RAISE

    endpoint = fields.String(load_default=None, allow_none=True, validate=_url)
    headers_secret = fields.String(load_default=None, allow_none=True)
    sigv4 = switch(default=False)
    levels = fields.Nested(LevelsSchema, load_default=None, allow_none=False)

    @validates_schema(skip_on_field_errors=False)
    def _somewhere(self, data: dict[str, Any], **_: Any) -> None:
        if "endpoint" in data and not data["endpoint"] and not data.get("sigv4"):
            told = "is required; with sigv4 it is CloudWatch's own unless it is told"
            raise ValidationError(told, "endpoint")

    @validates_schema(skip_on_field_errors=False)
    def _one_login(self, data: dict[str, Any], **_: Any) -> None:
        if data.get("headers_secret") and data.get("sigv4"):
            raise ValidationError("must be left out with sigv4", "headers_secret")

    @validates_schema(skip_on_field_errors=False)
    def _never_in_the_open(self, data: dict[str, Any], **_: Any) -> None:
        secret = data.get("headers_secret") or data.get("sigv4")
        if secret and data.get("endpoint") and urlsplit(data["endpoint"]).scheme != _HTTPS:
            raise ValidationError("must begin with https:// to be told a secret", "endpoint")

    @post_load
    def _made(self, data: dict[str, Any], **_: Any) -> OtlpConfig:
        return OtlpConfig(**data)


class SinkField(fields.Field[SinkConfig]):
    """The name of a sink, or an object that says which OTLP endpoint; `schemas` are by its key."""

    schemas: ClassVar[Mapping[str, type[Schema]]] = {_OTLP: OtlpSchema}

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> SinkConfig:
        told = super()._deserialize(value, attr, data, **kwargs)
        if isinstance(told, str) and told in NAMED:
            return told
        if isinstance(told, Mapping) and set(told) == {_OTLP}:
            try:
                made: OtlpConfig = OtlpSchema().load(told[_OTLP])
            except ValidationError as error:
                raise ValidationError({_OTLP: error.messages}) from error
            return made
        raise ValidationError(f'must be "{EMF}", "{CLOUDWATCH}" or {{"{_OTLP}": {{...}}}}')


def is_signed(told: Any) -> bool:
    """Whether a sink as it was written, however wrongly, is signed for the function's region."""
    otlp = told.get(_OTLP) if isinstance(told, Mapping) else None
    return told == CLOUDWATCH or (isinstance(otlp, Mapping) and otlp.get("sigv4") is True)


def several(chosen: Sequence[SinkConfig]) -> None:
    """Raises ValidationError where two of them would publish the same metrics to one place."""
    # Whatever its levels, an endpoint is told of groups.
    places = {
        replace(each, levels=None) if isinstance(each, OtlpConfig) else each for each in chosen
    }
    if len(places) < len(chosen):
        raise ValidationError("must name each sink once")
    if EMF in chosen and CLOUDWATCH in chosen:
        told = f"must be {EMF} or {CLOUDWATCH}: both publish the same metrics to CloudWatch"
        raise ValidationError(told)
