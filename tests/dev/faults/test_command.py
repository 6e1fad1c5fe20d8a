# SPDX-License-Identifier: Apache-2.0
"""The campaign's command: it runs on brokers, judges, and exits with 1 if a value was wrong."""

from __future__ import annotations

import io
import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from dev.faults.__main__ import Result, main, show
from dev.faults.judge import Finding, Verdict
from dev.kafka import CONSUMER_PROTOCOL
from tests.dev.faults.test_judge import RUN
from tests.kafka_versions import needs

CALM = replace(RUN, calm=True)
UNREAD = replace(RUN, rows=None, error="no broker answers")


def result(**changes: Any) -> Result:
    """A campaign that is good, with changes."""
    checked = Verdict(checked=Counter(lag=1), whole=1)
    good: dict[str, Any] = {"faults": Counter(["kill"]), "runs": [CALM, RUN], "verdict": checked}
    return Result(1, **good | changes)


def test_one_wrong_number_makes_a_campaign_bad_and_is_shown_with_the_truth() -> None:
    found, out = result(), io.StringIO()
    console = Console(file=out, width=200, markup=False)
    assert show(found, console) == 0
    found.verdict.wrong.append(Finding(replace(RUN, during="kill"), "lag", "a on t-0", 8, 9))
    assert show(found, console) == 1
    assert "WRONG 1 times: lag. First in run 1 (kill): a on t-0 says 8, truth: 9" in out.getvalue()


@pytest.mark.parametrize(
    "poor",
    [
        {"runs": []},
        {"runs": [CALM, UNREAD, UNREAD]},
        {"runs": [RUN]},
        {"runs": [CALM, CALM, CALM]},
        {"verdict": Verdict(whole=1)},
        {"faults": Counter[str]()},
        {"errors": ["faults did not end: kill"]},
    ],
)
def test_a_campaign_that_shows_nothing_is_not_good(poor: dict[str, Any]) -> None:
    assert show(result(**poor), Console(file=io.StringIO())) == 1


@needs(CONSUMER_PROTOCOL)
@pytest.mark.kafka
@pytest.mark.thorough
def test_a_short_campaign_judges_its_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """On a busy machine runs are late, and numbers as wrong as that: the command judges these."""
    code = main(["--minutes", "0.1", "--fault", "cold"])
    out, err = capsys.readouterr()
    found = re.findall(r"(\d+) runs \([^$]*\), (\d+) wrong", out)
    assert len(found) == 1, f"{out}\n{err}"
    ((runs, wrong),) = found
    assert int(runs) > 0
    assert code == 1 or wrong == "0"
