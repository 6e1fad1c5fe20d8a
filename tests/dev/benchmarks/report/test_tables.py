# SPDX-License-Identifier: Apache-2.0
"""What is printed of the measured runs."""

import io
import json

from rich.console import Console

from dev.benchmarks.report.days import Size
from dev.benchmarks.report.estimate import Speed
from dev.benchmarks.report.job import Checked, JobRun
from dev.benchmarks.report.tables import WIDTH, Measured, as_json, show

SIZE = Size(partitions=1_000, minutes=1_440)
RUN = JobRun(seconds=144.0, stages={"scan": 30.0, "pages": 9.0}, peak_bytes=2**31)
WHOLE = Measured(name="whole", size=SIZE, run=RUN, check=Checked(6.0, (), ("a differs",)))
SLOW = Measured(
    name="delay",
    size=SIZE,
    run=JobRun(seconds=300.0),
    delay_seconds=0.1,
    opens={("scan", "snapshots/groups"): 1_440},
)
SPEED = Speed(fixed=1.0, per_row=1e-6, cores=2, wait_per_object=0.003)


def shown() -> str:
    out = io.StringIO()
    show(Console(file=out, width=WIDTH), [WHOLE, SLOW], SPEED)
    return out.getvalue()


def test_the_ratio_is_that_of_the_reports_without_the_page() -> None:
    assert WHOLE.ratio == 5.0
    assert SLOW.ratio is None
    assert WHOLE.rows_a_second == 10_000


def test_tables_have_runs_stages_openings_and_the_estimate() -> None:
    text = shown()

    for said in ("10,000", "2,048", "5.0x", "scan", "snapshots/groups", "1,440", "100,000 group"):
        assert said in text
    assert "?" in text


def test_json_holds_the_same() -> None:
    reported = json.loads(json.dumps(as_json([WHOLE, SLOW], SPEED)))

    assert reported["runs"][0]["stages"] == {"scan": 30.0, "pages": 9.0}
    assert reported["runs"][0]["differences"] == ["a differs"]
    assert reported["runs"][1]["opens"] == [
        {"stage": "scan", "dataset": "snapshots/groups", "opens": 1_440}
    ]
    assert len(reported["estimates"]) == 5
