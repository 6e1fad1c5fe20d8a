# SPDX-License-Identifier: Apache-2.0
"""Ids of constructs, which must stay as they are: what is deployed is known by them."""

from __future__ import annotations

import pytest

from kafka_lag_cdk.names import pascal_case


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sla", "Sla"),
        ("data-loss", "DataLoss"),
        ("group_wrong_now", "GroupWrongNow"),
    ],
)
def test_a_name_of_words_becomes_an_id(name: str, expected: str) -> None:
    assert pascal_case(name) == expected
