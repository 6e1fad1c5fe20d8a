# SPDX-License-Identifier: Apache-2.0
"""Words of statuses: every status has one, and no two are alike."""

from __future__ import annotations

import pytest

from kafka_lag import contract
from kafka_lag.wording.words import MEANINGS, WORDS, find_word, name_troubles


def test_every_status_and_reason_has_a_word_of_its_own() -> None:
    reasons = {*contract.StatusReason, *contract.UnreadReason}
    others = {*contract.CONSUMER_STATUS_SEVERITIES, contract.TROUBLE_SLA_BROKEN}
    assert set(WORDS) == reasons | others
    assert len(set(WORDS.values())) == len(WORDS)
    assert set(MEANINGS) == set(contract.CONSUMER_STATUS_SEVERITIES)


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
