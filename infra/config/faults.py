# SPDX-License-Identifier: Apache-2.0
"""Faults of a configuration as sentences: where, what was expected, the nearest valid name."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

_EXPECTED = {
    "missing": "is required",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "dict_type": "must be an object",
    "tuple_type": "must be a list",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
}

Place = tuple[int | str, ...]


class ConfigurationError(Exception):
    """A configuration with faults; its text lists them all, one a line."""

    def __init__(self, source: str, faults: Iterable[str]) -> None:
        self.faults = tuple(dict.fromkeys(faults))
        lines = "".join(f"\n  {fault}" for fault in self.faults)
        super().__init__(f"The configuration in {source} has faults:{lines}")


def told(
    error: ValidationError, model: type[BaseModel], more: Mapping[Place, Iterable[str]]
) -> list[str]:
    """Each fault as `path: sentence`; `more` holds keys valid beside a model's."""
    return [_fault(dict(fault), model, more) for fault in error.errors(include_url=False)]


def path_of(place: Place) -> str:
    """`clusters[0].vpc.id` for ("clusters", 0, "vpc", "id")."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.lstrip(".")


def unknown(key: str, valid: Iterable[str]) -> str:
    """What to say of a key that means nothing here."""
    near = get_close_matches(key, sorted(valid), n=1)
    return "unknown key" + (f", did you mean {near[0]}?" if near else "")


def _fault(
    fault: dict[str, Any], model: type[BaseModel], more: Mapping[Place, Iterable[str]]
) -> str:
    place, kind, context = fault["loc"], fault["type"], fault.get("ctx", {})
    path = path_of(_without_tags(place, model))
    if kind == "extra_forbidden":
        valid = {*_fields_at(place[:-1], model), *more.get(place[:-1], ())}
        return f"{path}: {unknown(str(place[-1]), valid)}"
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return f"{path}: type must be one of {context.get('expected_tags', 'those documented')}"
    if kind == "value_error":
        return f"{path}: {context['error']}" if path else str(context["error"])
    sentence = _EXPECTED.get(kind) or fault["msg"].replace("Input should", "must").lower()
    return f"{path or 'document'}: {sentence}"


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
