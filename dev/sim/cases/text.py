# SPDX-License-Identifier: Apache-2.0
"""Reads cases that are written as text.

A line has a name and statements, and lines further to the right continue it. `topic`, `group` and
the times of `Case` describe the case. Any other statement is an event and its arguments, after the
time at which it happens (`600/1500`: at 600 s and then each 1,500 s within an hour; `10m/1h/9h`:
within nine hours). `40m` and `2h` are seconds, `60/6` the rates of six partitions that get 60
records/s together. A word in capitals stands for a text, and a name without statements
begins a section.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from dev.sim import events
from dev.sim.events import Case, Group, Topic, even, skew

Step: TypeAlias = tuple[str, list[Any], dict[str, Any]]
_SECONDS = {"h": 3600, "m": 60, "s": 1}
_HOUR = 3_600
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
# A word that stands for a text: `SMALL = topic orders 60/6`.
_ABBREVIATION = re.compile(r"^([A-Z_]+) = (.*)\n", re.MULTILINE)


def read_step(text: str) -> Step:
    """Returns the verb, the arguments and the named arguments of a statement."""
    verb, *words = text.split()
    plain = [value_of(word) for word in words if "=" not in word]
    return verb, plain, read_options(text)


def read_options(text: str) -> dict[str, Any]:
    """Returns the named arguments in a text."""
    named = (word.split("=") for word in text.split() if "=" in word)
    return {name: value_of(word) for name, word in named}


def value_of(word: str) -> Any:
    """Returns the value that a word means."""
    if word.startswith("skew:"):
        count, number, weight, *times = (value_of(each) for each in word.split(":")[1:])
        return skew(count, {number: weight}, *times)
    if "," in word:
        return tuple(value_of(each) for each in word.split(",") if each)
    if "/" in word:
        rate, count = word.split("/")
        return even(int(count), float(rate))
    if word[-1] in _SECONDS and _NUMBER.fullmatch(word[:-1]):
        return value_of(word[:-1]) * _SECONDS[word[-1]]
    if _NUMBER.fullmatch(word):
        return float(word) if "." in word else int(word)
    return {"True": True, "False": False, "inf": float("inf"), "-": None}.get(word, word)


def read_sections(name: str) -> Mapping[str, list[tuple[str, list[str]]]]:
    """Returns the sections of a file beside this one: names with their statements."""
    text = (Path(__file__).parent / name).read_text("utf-8")
    text = re.sub(r" *#.*\n", "", text)
    abbreviations = dict(_ABBREVIATION.findall(text))
    text = _ABBREVIATION.sub("", text)
    for word, meaning in reversed(abbreviations.items()):
        text = re.sub(rf"\b{word}\b", meaning, text)
    sections: dict[str, list[tuple[str, list[str]]]] = {}
    for block in re.split(r"\n+(?! )", text.strip()):
        section, *lines = re.split(r"\n {4}(?! )", block)
        named = (re.sub(r"\n +", "; ", line).strip().split(" | ") for line in lines)
        sections[section.strip()] = [(each, what.split("; ")) for each, what in named]
    return sections


def read_cases(name: str) -> Mapping[str, tuple[Case, ...]]:
    """Returns the cases of a file by section."""
    sections = read_sections(name).items()
    return {each: tuple(_read_case(*one) for one in cases) for each, cases in sections}


def _read_case(name: str, statements: list[str]) -> Case:
    topics, groups, happens = dict[str, Topic](), dict[str, Group](), list[Any]()
    times = dict[str, Any]()
    for statement in statements:
        verb, arguments, options = read_step(statement)
        match verb:
            case "topic":
                topics[arguments[0]] = Topic(arguments[1], **options)
            case "group":
                groups[arguments[0]] = Group(arguments[1], **options)
            case "warm_up" | "watched" | "learnt" | "pause":
                times[verb] = arguments[0]
            case _:
                happens += read_events(statement)
    return Case(name, topics, groups, tuple(happens), **times)


def read_events(statement: str) -> Iterator[tuple[float, events.Event]]:
    """Yields an event at each time at which it happens, at 0 if the statement has no time."""
    at, _, rest = statement.partition(" ")
    if at[0].isalpha():
        at, rest = "0", statement
    verb, arguments, options = read_step(rest)
    event = getattr(events, verb)(*arguments, **options)
    if "/" not in at:
        yield value_of(at), event
        return
    first, every, *until = map(value_of, at.split("/"))
    for turn in range(((until or [_HOUR])[0] - first) // every):
        yield first + every * turn, event
