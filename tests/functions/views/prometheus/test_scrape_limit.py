# SPDX-License-Identifier: Apache-2.0
"""What /metrics says is too large is what a function URL would not pass on."""

from functions.views.function_url import MOST_BYTES as MOST_OF_THE_URL
from functions.views.prometheus.scrape import MOST_BYTES


def test_an_answer_that_is_allowed_passes_through_the_url() -> None:
    assert MOST_BYTES < MOST_OF_THE_URL
