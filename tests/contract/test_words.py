# SPDX-License-Identifier: Apache-2.0
"""Words of statuses: every name has one, no two alike, and the docs have the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafka_lag import contract
from kafka_lag.contract.words import MEANINGS, WORDS, find_word, name_troubles

DOCS = [path.read_text() for path in (Path(__file__).parents[2] / "docs").glob("*.md")]
METRICS = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()


def test_every_status_and_reason_has_a_word_of_its_own() -> None:
    reasons = {*contract.StatusReason, *contract.UnreadReason}
    assert set(WORDS) == reasons | set(contract.CONSUMER_STATUS_SEVERITIES)
    assert len(set(WORDS.values())) == len(WORDS)
    assert set(MEANINGS) == set(contract.CONSUMER_STATUS_SEVERITIES)


def test_the_documented_words_and_meanings_are_these() -> None:
    part = METRICS.split("### In words")[1].split("How soon")[0]
    rows = re.findall(r"^\| (\w+) \| ([\w ]+) \| (.+) \([^)]+\) \|$", part, re.MULTILINE)
    assert rows == [(name, WORDS[name], MEANINGS[name]) for name in MEANINGS]


def test_the_docs_have_the_rules_own_limit_of_what_is_too_slow() -> None:
    # A backlog that is surely worked off takes 3 times its age at most.
    said = [re.findall(r"(\w+) times (?:its|the record's) age", text) for text in DOCS]
    assert {number for numbers in said for number in numbers} == {
        f"{contract.SLOW_FROM_AGES:g}",
        "3",
    }


def test_a_word_of_a_later_version_is_shown_as_it_is() -> None:
    assert find_word("hard_to_say") == "hard to say"


@pytest.mark.parametrize(
    ("consumer", "reason", "lost", "words"),
    [
        pytest.param(None, None, 0, [], id="well"),
        pytest.param(contract.STOPPED, None, 0, ["stopped"], id="stopped"),
        pytest.param(
            contract.STOPPED, contract.RECORDS_LOST, 5, ["stopped", "records lost"], id="both"
        ),
        pytest.param(None, contract.RECORDS_LOST, 5, ["records lost"], id="a-mere-loss"),
        pytest.param(
            contract.STALLED, None, 5, ["stalled", "records lost"], id="lost-by-another-partition"
        ),
        pytest.param(contract.SLOW, contract.SLOW, 0, ["too slow"], id="said-once"),
        pytest.param(
            contract.STOPPED, contract.INACTIVE, None, ["stopped", "inactive"], id="inactive"
        ),
        pytest.param(None, contract.PAUSING, None, ["pausing"], id="nothing-wrong"),
    ],
)
def test_a_loss_hides_no_consumer_and_no_consumer_a_loss(
    consumer: str | None, reason: str | None, lost: int | None, words: list[str]
) -> None:
    assert name_troubles(consumer, reason, lost) == words
