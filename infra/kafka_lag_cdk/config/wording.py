# SPDX-License-Identifier: Apache-2.0
"""What pydantic finds wrong, said in this project's words."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from kafka_lag_cdk.config.faults import Fault, FaultsError, Place, unknown

_EXPECTED = {
    "missing": "is required",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a number",
    "bool_type": "must be true or false",
    "dict_type": "must be an object",
    "tuple_type": "must be a list",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "greater_than_equal": "must be at least {ge:g}",
    "greater_than": "must be above {gt:g}",
    "less_than_equal": "must be at most {le:g}",
    "too_short": "must have at least {min_length}",
    "too_long": "must have at most {max_length}",
    "literal_error": "must be {expected}",
    "union_tag_invalid": "type must be one of {tags}",
    "union_tag_not_found": "type is required, one of {tags}",
    "value_error": "{error}",
}
_FEWEST = "one"

# What pydantic puts behind a key that is wrong itself.
_KEY = "[key]"
# Holds what stands in a cluster's own object: nobody writes it.
_INNER = "collector"


def told(
    error: ValidationError, model: type[BaseModel], beside: Mapping[Place, Iterable[str]]
) -> Iterator[Fault]:
    """Each fault with its place; `beside` holds keys that are valid beside a model's."""
    for found in error.errors(include_url=False):
        several = found.get("ctx", {}).get("error")
        if isinstance(several, FaultsError):
            above = _without_tags(found["loc"], model)
            yield from (fault.below(*above) for fault in several.faults)
        else:
            yield _fault(dict(found), model, beside)


def _fault(
    found: dict[str, Any], model: type[BaseModel], beside: Mapping[Place, Iterable[str]]
) -> Fault:
    kind, place = found["type"], _without_tags(found["loc"], model)
    if kind == "extra_forbidden":
        above = found["loc"][:-1]
        valid = {*_fields_at(above, model), *beside.get(above, ())} - {_INNER}
        return Fault(place, unknown(str(place[-1]), valid))
    sentence = _sentence(found, model)
    if place and place[-1] == _KEY:
        return Fault(place[:-2], f"the key {place[-2]} {sentence}")
    return Fault(place, sentence)


def _sentence(found: dict[str, Any], model: type[BaseModel]) -> str:
    values = dict(found.get("ctx", {}))
    if values.get("min_length") == 1:
        values["min_length"] = _FEWEST
    tags = (_tag(each) for each in _models_at(found["loc"], [model]))
    values["tags"] = ", ".join(f"'{tag}'" for tag in tags)
    sentence = _EXPECTED.get(found["type"])
    return sentence.format(**values) if sentence else str(found["msg"])


def _fields_at(place: Place, model: type[BaseModel]) -> set[str]:
    found = _models_at(place, [model])
    return {name for each in found for name in each.model_fields}


def _models_at(place: Place, models: list[type[BaseModel]]) -> list[type[BaseModel]]:
    for part in place:
        if isinstance(part, int):
            continue
        below = [m.model_fields[part].annotation for m in models if part in m.model_fields]
        if below:
            models = [inner for annotation in below for inner in _models_in(annotation)]
        else:
            # The tag of a union, which pydantic puts into the place.
            models = [m for m in models if _tag(m) == part] or models
    return models


def _without_tags(place: Place, model: type[BaseModel]) -> Place:
    kept: list[int | str] = []
    for index, part in enumerate(place):
        tags = {_tag(each) for each in _models_at(place[:index], [model])} - {None}
        if not (isinstance(part, str) and part in tags):
            kept.append(part)
    return tuple(kept)


def _tag(model: type[BaseModel]) -> str | None:
    field = model.model_fields.get("type")
    return get_args(field.annotation)[0] if field else None


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    if get_origin(annotation) in (Annotated, Union, types.UnionType, tuple, dict):
        return [model for part in get_args(annotation) for model in _models_in(part)]
    return []
