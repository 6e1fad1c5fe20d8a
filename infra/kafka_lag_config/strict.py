# SPDX-License-Identifier: Apache-2.0
"""The base of every model of a configuration, and pydantic's errors as faults at their places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from kafka_lag_config.faults import ConfigurationError, Fault, FaultsError, Place, unknown

# What pydantic puts before the sentence of a check of ours.
_OF_OURS = "Value error, "
# What pydantic puts behind a key that is wrong itself.
_KEY = "[key]"
# An object of so many keys is described by them.
_FEW_KEYS = 2
# Where files are looked for, in the context of a validation.
FOLDER = "folder"

# Of a surrogate pair, which no encoding has bytes for.
_HALF = re.compile("[\ud800-\udfff]")

M = TypeVar("M", bound="Strict")


class Strict(BaseModel):
    """Frozen; unknown keys are faults, and no text is taken for a number or a truth value.

    The text below a key describes it, in the docs and in editors: `dev.schema` reads it, as
    pydantic would at each import.
    `elsewhere` has what to say of keys that are not these but are written by those who know
    another configuration. `tag` is what its union calls it, where no `type` does.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    elsewhere: ClassVar[Mapping[str, str]] = {}
    tag: ClassVar[str | None] = None

    def __init__(self, **keys: Any) -> None:
        """Raises ConfigurationError, which has the sentences of a configuration file."""
        try:
            super().__init__(**keys)
        except ValidationError as error:
            raise ConfigurationError(type(self).__name__, _faults(error, type(self), ())) from None

    # What is nested is validated as without an __init__, so that all faults are found together.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @model_validator(mode="before")
    @classmethod
    def _check_texts(cls, source: Any) -> Any:
        """The source, whose names can be written in any encoding. JSON can escape what cannot."""
        for text in _texts_in(source):
            if not text.isascii() and (half := _HALF.search(text)):
                raise ValueError(f"{half[0]!r} is half of a character, in {text!r}")
        return source


def _texts_in(source: Any) -> Iterator[str]:
    """All texts of a configuration, keys included."""
    if isinstance(source, str):
        yield source
    elif isinstance(source, Mapping):
        for key, value in source.items():
            yield from _texts_in(key)
            yield from _texts_in(value)
    elif isinstance(source, (list, tuple)):
        for each in source:
            yield from _texts_in(each)


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
    sentence = str(found["msg"]).removeprefix(_OF_OURS)
    if kind == "model_type":
        # Pydantic would name a class, which no document has.
        keys = [name for each in _models_at(found["loc"], [model]) for name in each.model_fields]
        sentence = f"must be an object{_of_keys(keys)}"
    if place and place[-1] == _KEY:
        return Fault(place[:-2], f"the key {place[-2]}: {sentence}")
    return Fault(place, sentence)


def _of_keys(keys: Sequence[str]) -> str:
    """Returns the two keys of a small object, such as a filter, in words; nothing for others."""
    if len(keys) != _FEW_KEYS:
        return ""
    return f" of {' and '.join(keys)}"


def _models_at(place: Place, models: list[type[Strict]]) -> list[type[Strict]]:
    for part in place:
        if isinstance(part, int):
            continue
        below = [m.model_fields[part].annotation for m in models if part in m.model_fields]
        if below:
            models = [inner for annotation in below for inner in models_in(annotation)]
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


def models_in(annotation: Any) -> list[type[Strict]]:
    """The models that a value of this annotation may be, or hold."""
    own = isinstance(annotation, type) and issubclass(annotation, Strict)
    below = [model for part in get_args(annotation) for model in models_in(part)]
    return [annotation, *below] if own else below
