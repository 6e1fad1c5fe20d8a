# SPDX-License-Identifier: Apache-2.0
"""The kinds of value a configuration document may hold, and how each is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, fields, validate

from kafka_lag.lag.rules import ByName


class Pattern(fields.String):
    """A regular expression, searched for anywhere in a name; null is none."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        if not text:
            raise ValidationError("must not be empty: every name matches that")
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


class Choices(fields.Field[ByName[Any]]):
    """A JSON object from regular expressions to values of one kind, in the order it was written."""

    def __init__(self, value: fields.Field[Any]) -> None:
        super().__init__(load_default=ByName)
        self._value = value

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> Any:
        told = super()._deserialize(value, attr, data, **kwargs)
        if not isinstance(told, Mapping):
            raise ValidationError("must be an object of regular expressions and their values")
        choices: list[tuple[Any, Any]] = []
        faults: dict[str, Any] = {}
        for text, chosen in told.items():
            try:
                choices.append((Pattern().deserialize(text), self._value.deserialize(chosen)))
            except ValidationError as error:
                # Told under the expression, as any fault is under its key.
                faults[text] = error.messages
        if faults:
            raise ValidationError(faults)
        return ByName(tuple(choices))


def number(default: float, low: float, high: float, *, above: bool = False) -> Number:
    """A number from `low`, or only above it, to `high`."""
    limits = validate.Range(min=low, max=high, min_inclusive=not above)
    return Number(load_default=default, validate=limits)


def count(default: int, low: int, high: int) -> fields.Integer:
    """A whole number from `low` to `high`."""
    limits = validate.Range(min=low, max=high)
    return fields.Integer(strict=True, load_default=default, validate=limits)


def switch(*, default: bool) -> Truth:
    """On or off."""
    return Truth(load_default=default)
