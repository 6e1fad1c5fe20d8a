# SPDX-License-Identifier: Apache-2.0
"""The base of every model of a configuration, and its errors in this project's words."""

from __future__ import annotations

import json
import types
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from kafka_lag_cdk.config.faults import Fault, FaultsError, Place, unknown

_EXPECTED = {
    "missing": "is required",
    "string_type": "must be text",
    "string_unicode": "must be words that can be printed",
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
# Where files are looked for, in the context of a validation.
FOLDER = "folder"

M = TypeVar("M", bound="Strict")


class Strict(BaseModel):
    """Frozen; unknown keys are faults, and no text is taken for a number or a truth value.

    `elsewhere` has what to say of keys that are not these but are written by those who know
    another document. A model that `lists_keys` names them all where something is no object.
    `missing` has what to say of required keys beside that. `tag` is what its union calls it, where
    no `type` does.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    elsewhere: ClassVar[Mapping[str, str]] = {}
    missing: ClassVar[Mapping[str, str]] = {}
    lists_keys: ClassVar[bool] = False
    tag: ClassVar[str | None] = None


def validate(
    model: type[M], source: Any, folder: Path | None = None, beside: Iterable[str] = ()
) -> tuple[M | None, list[Fault]]:
    """The model, or None and all faults; `beside` are keys that are valid beside the model's.

    Files are looked for from `folder`; None: not at all.
    """
    try:
        return model.model_validate(source, context={FOLDER: folder}), []
    except ValidationError as error:
        return None, list(_faults(error, model, beside))


def _faults(error: ValidationError, model: type[Strict], beside: Iterable[str]) -> Iterator[Fault]:
    for found in error.errors(include_url=False):
        several = found.get("ctx", {}).get("error")
        if isinstance(several, FaultsError):
            above = _without_tags(found["loc"], model)
            if above and above[-1] == _KEY:
                above = above[:-1]
            yield from (fault.below(*above) for fault in several.faults)
        else:
            yield _fault(dict(found), model, beside)


def _fault(found: dict[str, Any], model: type[Strict], beside: Iterable[str]) -> Fault:
    kind, place = found["type"], _without_tags(found["loc"], model)
    if kind == "extra_forbidden":
        key, models = str(place[-1]), _models_at(found["loc"][:-1], [model])
        valid = {name for each in models for name in each.model_fields}
        if len(place) == 1:
            valid |= set(beside)
        known = [each.elsewhere[key] for each in models if key in each.elsewhere]
        return Fault(place, known[0] if known else unknown(key, valid))
    sentence = _sentence(found, model)
    if place and place[-1] == _KEY:
        return Fault(place[:-2], f"the key {place[-2]} {sentence}")
    return Fault(place, sentence)


def _sentence(found: dict[str, Any], model: type[Strict]) -> str:
    values = dict(found.get("ctx", {}))
    if values.get("min_length") == 1:
        values["min_length"] = _FEWEST
    models = _models_at(found["loc"], [model])
    if found["type"] == "model_type" and all(each.lists_keys for each in models):
        return f"must be an object with {', '.join(models[0].model_fields)}"
    if found["type"] == "missing":
        above, key = _models_at(found["loc"][:-1], [model]), found["loc"][-1]
        wanted = [each.missing[key] for each in above if key in each.missing]
        return ": ".join([_EXPECTED["missing"], *wanted])
    # A list of objects has none of which one word would be an example.
    if found["type"] == "tuple_type" and not models and isinstance(found["input"], str):
        return f"{_EXPECTED['tuple_type']}, as in {json.dumps([found['input']])}"
    values["tags"] = ", ".join(f"'{_tag(each)}'" for each in models)
    sentence = _EXPECTED.get(found["type"])
    return sentence.format(**values) if sentence else str(found["msg"])


def _models_at(place: Place, models: list[type[Strict]]) -> list[type[Strict]]:
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


def _without_tags(place: Place, model: type[Strict]) -> Place:
    kept: list[int | str] = []
    for index, part in enumerate(place):
        tags = {_tag(each) for each in _models_at(place[:index], [model])} - {None}
        if not (isinstance(part, str) and part in tags):
            kept.append(part)
    return tuple(kept)


def _tag(model: type[Strict]) -> Any:
    field = model.model_fields.get("type")
    return get_args(field.annotation)[0] if field else model.tag


def _models_in(annotation: Any) -> list[type[Strict]]:
    if isinstance(annotation, type) and issubclass(annotation, Strict):
        return [annotation]
    if get_origin(annotation) in (Annotated, Union, types.UnionType, tuple, dict):
        return [model for part in get_args(annotation) for model in _models_in(part)]
    return []
