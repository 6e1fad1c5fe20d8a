# SPDX-License-Identifier: Apache-2.0
"""The input is large enough, the same each time, and answers whatever a commit asks of it."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from dev.compare import readings
from dev.compare.hostile import NAMES, Hostile
from dev.compare.orders import RECORDED
from dev.compare.probe.aws import stand_in
from dev.compare.probe.runs import answer
from dev.compare.readings import (
    DATASETS,
    GROUPS,
    NEWEST,
    LoggedIndex,
    Reading,
    Recording,
    Run,
    Runs,
    to_list,
)
from dev.compare.requests import BEARER, TOKEN, Request, requests
from dev.compare.simulated import BEGIN, MINUTE_MS, PATTERNS, Simulated

MOST_BYTES = 10 * 1024 * 1024


def rows(run: Run) -> dict[str, dict[str, list[object]]]:
    assert isinstance(run.reading, Reading)
    return {
        name: {column: to_list(values) for column, values in run.reading.tables[name].items()}
        for name in DATASETS
    }


def groups(runs: Runs) -> set[object]:
    tables = (run.reading.tables[GROUPS] for run in runs.runs() if isinstance(run.reading, Reading))
    return {name for table in tables for name in to_list(table["consumer_group"])}


def test_what_is_committed_stays_small() -> None:
    assert 0 < sum(path.stat().st_size for path in RECORDED.iterdir()) < MOST_BYTES


def test_the_recording_has_runs_with_and_without_an_answer() -> None:
    runs = list(Recording(RECORDED).runs())
    assert len(runs) == len(Recording(RECORDED)) > 45
    assert any(isinstance(run.reading, str) for run in runs)
    reasons = {
        reason
        for run in runs
        if isinstance(run.reading, Reading)
        for name in DATASETS
        for reason in to_list(run.reading.tables[name]["unread_reason"])
    }
    assert {None, "timeout", "denied", "no_leader"} <= reasons


def test_there_are_more_than_twenty_patterns_and_all_are_in_the_cluster() -> None:
    assert len(PATTERNS) > 20
    assert all(pattern.__doc__ for pattern in PATTERNS)
    simulated = Simulated(0.05)
    assert {"steady", "stuck", "job-week", "led", "share"} <= groups(simulated)


def test_the_same_seed_gives_the_same_runs_and_another_one_others() -> None:
    one, again, other = (
        [rows(run) for run in islice(Simulated(0.05, seed).runs(), 40)] for seed in (1, 1, 2)
    )
    assert one == again
    assert one != other


def test_no_commit_of_a_simulated_consumer_that_keeps_up_is_beyond_its_log() -> None:
    run = list(Simulated(0.2).runs())[-1]
    tables = rows(run)
    ends = dict(
        zip(
            zip(
                tables["topic_partitions"]["topic"],
                tables["topic_partitions"]["partition_id"],
                strict=True,
            ),
            tables["topic_partitions"]["end_offset"],
            strict=True,
        )
    )
    commits = tables["group_partitions"]
    steady = [
        (ends[topic, part], commit)
        for name, topic, part, commit in zip(
            *(commits[c] for c in ("consumer_group", "topic", "partition_id", "committed_offset")),
            strict=True,
        )
        if name == "steady"
    ]
    assert steady
    assert all(end == commit for end, commit in steady)


def test_a_simulated_time_index_names_the_first_record_at_or_after_a_time() -> None:
    run = list(islice(Simulated(0.05).runs(), 30))[-1]
    times = np.array([NEWEST, BEGIN + 10 * MINUTE_MS, run.taken_at + MINUTE_MS])
    answers = run.time_index.answer(["steady"] * 3, np.zeros(3, np.int64), times)
    assert answers.found.tolist() == [True, True, False]
    assert answers.none.tolist() == [False, False, True]
    earlier = run.time_index.answer(["steady"], np.zeros(1, np.int64), answers.times[1:2])
    assert earlier.offsets[0] == answers.offsets[1]
    assert answers.offsets[1] < answers.offsets[0]
    assert answers.times[1] >= times[1]


def test_a_recorded_time_index_knows_what_was_there_in_its_run(tmp_path: Path) -> None:
    (run,) = islice(Hostile().runs(), 1)
    logs: readings.Logs = {("plain", "id-0", 0): (np.arange(2_000), np.arange(2_000) * 1_000)}
    readings.store(tmp_path, Hostile.document, [run], logs)
    (read,) = Recording(tmp_path).runs()
    assert rows(read) == rows(run)
    assert isinstance(read.time_index, LoggedIndex)
    times = np.array([NEWEST, 5_500, 999_000, 999_001])
    answers = read.time_index.answer(["plain"] * 4, np.zeros(4, np.int64), times)
    assert answers.offsets.tolist() == [999, 6, 999, 0]
    assert answers.found.tolist() == [True, True, True, False]
    nobody = read.time_index.answer(["nobody"], np.zeros(1, np.int64), times[:1])
    assert not nobody.found[0]
    assert not nobody.none[0]


def test_every_hostile_name_is_a_group_and_is_requested() -> None:
    assert groups(Hostile()) == set(NAMES)
    found = requests("hostile", "plain", "plain")
    assert len(found) >= 150
    assert len({each.name for each in found}) == len(found)
    assert not [each.path for each in found if "{" in each.path]


@pytest.fixture(name="aws")
def _aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, value in os.environ.items():
        # What the stand-in sets is taken back.
        monkeypatch.setenv(name, value)
    before = set(os.environ)
    with stand_in():
        yield
    for name in set(os.environ) - before:
        del os.environ[name]


@pytest.mark.usefixtures("aws")
def test_views_answer_signed_requests_and_requests_by_token_each_as_they_are_set_up() -> None:
    path, bearer = "/burrow/admin", {"authorization": f"Bearer {TOKEN}"}
    for _ in range(2):
        assert status(Request(path)) == 200
        assert status(Request(path, headers=bearer, signed=False)) == 401
        assert status(Request(path, headers=bearer, signed=False, auth=BEARER)) == 200
        assert status(Request(path, auth=BEARER)) == 401


@pytest.mark.usefixtures("aws")
def test_some_tokens_are_right_and_some_are_not() -> None:
    by_token = [each for each in requests("c", "g", "t") if each.auth == BEARER]
    assert {200, 401} <= {status(each) for each in by_token if each.path == "/burrow/admin"}
    near = [each for each in by_token if each.path.endswith("/lag") and each.method == "GET"]
    found = Counter(status(each) == 401 for each in near)
    assert found[True] > 10
    assert found[False] > 3


def status(request: Request) -> int:
    return int(json.loads(answer(request))["statusCode"])


def test_there_are_three_deployments_to_compare() -> None:
    assert len(list((Path(__file__).parents[3] / "examples").glob("*.json"))) >= 3
