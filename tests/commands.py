# SPDX-License-Identifier: Apache-2.0
"""The commands on a page, as people type them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from importlib.util import find_spec

import click

from kafka_lag_cli.command import kafka_lag

_ROOT = click.Context(kafka_lag, info_name="kafka-lag")
_PRINTED = re.compile(r"^```text\n.*?^```$", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_QUOTED = re.compile(r"`((?:uvx? )?[^`\n]*kafka-lag [^`\n]*)`")
_INDENTED = re.compile(r"(?:^ {4}\S.*\n)+", re.MULTILINE)


def typed_in(page: str) -> list[list[str]]:
    """The words of each command in the page's blocks of code, without comments and uv.

    A block of `text` is what a command prints.
    """
    page = _PRINTED.sub("", page)
    blocks = _FENCE.findall(page) + _INDENTED.findall(_FENCE.sub("", page))
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := _words_of(line.strip()))]


def of_kafka_lag(page: str, *, in_sentences: bool = True) -> list[list[str]]:
    """The arguments of each call of kafka-lag in the page, and of those within its sentences."""
    quoted = _QUOTED.findall(_FENCE.sub("", page)) if in_sentences else []
    calls = typed_in(page) + [_words_of(each) for each in quoted]
    return [words[1:] for words in calls if words[:1] == ["kafka-lag"] and len(words) > 1]


def _words_of(line: str) -> list[str]:
    try:
        words = shlex.split(line, comments=True)
    except ValueError:  # No command: a line of JSON or of text.
        return []
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        words = words[1:]
    if words and words[0] in ("uv", "uvx") and "kafka-lag" in words:
        words = words[words.index("kafka-lag") :]
    ends = [at for at, word in enumerate(words) if word in (">", "|", "&&", "2>")]
    return words[: ends[0]] if ends else words


def is_there(name: str) -> bool:
    """Whether the subcommand's module exists."""
    return find_spec(f"kafka_lag_cli.{name}") is not None


def subcommand(name: str) -> click.Command:
    """The subcommand of this name."""
    found = kafka_lag.get_command(_ROOT, name)
    if found is None:
        raise LookupError(f"kafka-lag has no subcommand {name}")
    return found


def subcommands() -> Iterator[click.Command]:
    """Every subcommand that is there."""
    for name in kafka_lag.list_commands(_ROOT):
        if is_there(name):
            yield subcommand(name)
