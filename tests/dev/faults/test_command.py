# SPDX-License-Identifier: Apache-2.0
"""The campaign's command: it runs on brokers, judges, and says by its exit code what it found."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from dev.faults.__main__ import main, show
from dev.faults.run import Finding
from dev.kafka import CONSUMER_PROTOCOL
from tests.dev.faults.test_campaign import result, run
from tests.kafka_versions import needs


def test_one_wrong_number_makes_a_campaign_bad_and_is_shown_with_the_truth() -> None:
    found, out = result(run()), io.StringIO()
    found.wrong.append(Finding(1, "lag", "group a on t-0", "8", "9"))
    found.during[1] = "kill"
    show(found, Console(file=out, width=200))
    assert [result(run()).good, found.good] == [True, False]
    line = "WRONG 1 times: lag. First in run 1 (kill): group a on t-0 says 8, truth: 9"
    assert line in out.getvalue()


@needs(CONSUMER_PROTOCOL)
@pytest.mark.kafka
@pytest.mark.thorough
def test_a_short_campaign_judges_its_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """On a busy machine runs are late, and numbers as wrong as that: `make faults` judges these."""
    code = main(["--minutes", "0.1", "--fault", "cold"])
    out = capsys.readouterr().out
    ((runs, wrong, late),) = re.findall(r"(\d+) runs [^$]* (\d+) wrong, .* (\d+) late", out)
    assert int(runs) > 0
    assert code == 1 or (wrong, late) == ("0", "0")
