# SPDX-License-Identifier: Apache-2.0
"""The check of the docs' English: its findings, and text that it ignores."""

from __future__ import annotations

import pytest

from dev.plain import WORDS, find

HARD = [
    "Of two expressions the first decides.",
    "It is said aloud. Whoever asks gets an answer.",
    "What was unread is counted.",
    "It is kept, as it may be needed.",
    "It is absent where that is not known.",
    "A group nobody heard of.",
    "That is no recovery.",
    "Groups which are none.",
    "Take those that are behind.",
    "It says what is so.",
    "A group of which one partition is read.",
]


@pytest.mark.parametrize("sentence", HARD)
def test_a_hard_sentence_is_found(sentence: str) -> None:
    assert list(find(sentence))


@pytest.mark.parametrize("word", WORDS)
def test_a_barred_word_is_found_but_not_as_a_name(word: str) -> None:
    assert list(find(f"This {word} is here."))
    assert list(find(f"This is `{word}`, and [a link]({word}.md).\n```text\n{word}\n```\n")) == []


def test_a_plain_sentence_is_left_alone_and_lines_are_counted() -> None:
    plain = "The group is behind because its member has stopped. There is no other reason.\n"
    assert list(find(plain)) == []
    assert [line for line, *_ in find(f"{plain}\n```text\na\nb\n```\n{HARD[0]}")] == [7]
