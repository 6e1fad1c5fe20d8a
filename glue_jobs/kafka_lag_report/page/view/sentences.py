# SPDX-License-Identifier: Apache-2.0
"""Sentences in which the names that strangers chose stay apart.

A sentence is a tuple of plain words and `Name`s, so that whoever shows it can escape and mark
the names.
"""

from dataclasses import dataclass

from kafka_lag_report.page import words
from kafka_lag_report.page.model import TopicSkew

URGENT, SERIOUS, NOTICE = "urgent", "serious", "notice"
BROKER, CONSUMER, PRODUCTION = "broker", "consumer", "production"


@dataclass(frozen=True, slots=True)
class Name:
    """A name that some stranger chose."""

    text: str


Part = str | Name


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at: its kind in a word, how bad it is, the sentence, the section."""

    tag: str
    level: str
    said: tuple[Part, ...]
    section: str


def cause(skew: TopicSkew) -> tuple[Part, ...]:
    """Why a topic's lag is skewed, from `the` or `partition` to the full stop."""
    on = _partitions(skew.cause_partitions)
    if skew.cause == BROKER:
        return (f"broker {skew.cause_leader} leads {on}.",)
    if skew.cause == CONSUMER:
        host: tuple[Part, ...] = (" on ", Name(skew.cause_host)) if skew.cause_host else ()
        who = skew.cause_client or skew.cause_member or ""
        return ("consumer ", Name(who), *host, f" owns {on}.")
    if skew.cause == PRODUCTION:
        return (f"more is produced to {on}.",)
    return (f"neither production, one broker nor one consumer explains {on}.",)


def _partitions(numbers: tuple[int, ...]) -> str:
    if not numbers:
        return "it"
    return f"partition{'s' if len(numbers) > 1 else ''} {words.listing(numbers)}"
