# SPDX-License-Identifier: Apache-2.0
"""Which answers about a planted case are right, and what the collector's rules say of it."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from dev.causes.__main__ import main
from dev.causes.cases import BEGIN as BEGIN_MINUTE
from dev.causes.cases import Case
from dev.causes.cluster import Cluster, Group, Topic, run_minutes
from dev.causes.score import (
    IN_TIME,
    NO_TROUBLE,
    NOT_EXPLAINED,
    RIGHT,
    WATCHED,
    WRONG,
    Namer,
    Run,
    count,
    find_troubled,
    judge,
    name_ours,
    plant,
)
from kafka_lag import contract
from kafka_lag.lag.model import Snapshot

TROUBLE, MINUTES = 6, 32
RIGHT_ONE, WRONG_ONE, UNEXPLAINED = contract.STOPPED, contract.HOT_PARTITION, contract.UNEXPLAINED


def a_case(right: str | None) -> Case:
    topic = Topic("t", np.full(2, 5.0))
    cluster = Cluster([topic], [Group("g", topic, {"m": 20.0})], np.random.default_rng(0))
    planted = {} if right is None else {"g": frozenset({right})}
    return Case("stopped-small-1", cluster, lambda _, __: None, planted)


def runs_of(answers: Sequence[str | None], ill_from: int | None) -> list[Run]:
    """A run an answer; the group is in trouble from one of them on."""
    return [
        Run(
            frozenset({"g"}) if ill_from is not None and number >= ill_from else frozenset(),
            {"program": {} if said is None else {"g": said}},
        )
        for number, said in enumerate(answers)
    ]


@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        pytest.param([RIGHT_ONE], RIGHT, id="at-once"),
        pytest.param([*[None] * (IN_TIME - 1), RIGHT_ONE], RIGHT, id="just-in-time"),
        pytest.param([*[UNEXPLAINED] * IN_TIME, RIGHT_ONE], NOT_EXPLAINED, id="too-late"),
        pytest.param([UNEXPLAINED] * 5, NOT_EXPLAINED, id="unexplained"),
        pytest.param([None] * 5, NOT_EXPLAINED, id="nothing-said"),
        pytest.param([RIGHT_ONE, WRONG_ONE], WRONG, id="changed-its-mind"),
        pytest.param(
            [RIGHT_ONE, *[RIGHT_ONE] * (WATCHED - 2), WRONG_ONE], WRONG, id="last-one-watched"
        ),
        pytest.param([*[RIGHT_ONE] * WATCHED, WRONG_ONE], RIGHT, id="after-it-is-watched"),
    ],
)
def test_a_group_in_trouble_is_judged_from_its_first_run_in_it(
    answers: list[str | None], verdict: str
) -> None:
    # What is said before the trouble is no answer about it.
    runs = runs_of([WRONG_ONE, *answers], ill_from=1)

    (found,) = judge(plant(a_case(RIGHT_ONE)), runs, "program")

    assert found.verdict == verdict


def test_a_trouble_that_made_none_is_neither_right_nor_wrong() -> None:
    (found,) = judge(plant(a_case(RIGHT_ONE)), runs_of([None] * 20, ill_from=None), "program")

    assert found.verdict == NO_TROUBLE


@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        ([None] * 3, RIGHT),
        ([None, UNEXPLAINED], RIGHT),
        ([None] * 30 + [RIGHT_ONE], WRONG),
    ],
    ids=["nothing", "unexplained", "named-once"],
)
def test_of_a_healthy_group_any_cause_is_wrong(answers: list[str | None], verdict: str) -> None:
    (found,) = judge(plant(a_case(None)), runs_of(answers, ill_from=None), "program")

    assert found.verdict == verdict
    assert count([found]) == {"(healthy)": {verdict: 1}}


def planted(name: str) -> Iterator[Snapshot]:
    """Two groups on two topics, one of which has a trouble after some minutes."""
    topic = Topic("t", np.full(6, 10.0), noise=0.0)
    other = Topic("o", np.full(6, 10.0), noise=0.0)
    ill = Group("ill", topic, {"m-0": 45.0, "m-1": 45.0})
    well = Group("well", other, {"x-0": 90.0})
    cluster = Cluster([topic, other], [ill, well], np.random.default_rng(7))

    def change(_: Cluster, minute: int) -> None:
        if minute != TROUBLE:
            return
        if name == "stopped":
            ill.speed = {}
        elif name == "hot":
            topic.rates[:] = [4, 4, 4, 80, 4, 4]
        elif name == "stuck":
            ill.stuck[3] = float(topic.end[3])

    yield from run_minutes(cluster, MINUTES, change)


@pytest.fixture(name="recorded", scope="module")
def _recorded() -> dict[str, list[Snapshot]]:
    return {name: list(planted(name)) for name in ("stopped", "hot", "stuck", "none")}


def last_answer(namer: Namer, snapshots: Sequence[Snapshot]) -> dict[str, str]:
    return dict([namer(each) for each in snapshots][-1])


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("stopped", contract.STOPPED),
        ("hot", contract.HOT_PARTITION),
        ("stuck", contract.STUCK_RECORD),
    ],
)
def test_the_group_in_trouble_alone_is_named(
    recorded: dict[str, list[Snapshot]], name: str, cause: str
) -> None:
    assert last_answer(name_ours(), recorded[name]) == {"ill": cause}


def test_nobody_is_named_where_all_is_well(recorded: dict[str, list[Snapshot]]) -> None:
    assert last_answer(name_ours(), recorded["none"]) == {}
    assert {find_troubled(each) for each in recorded["none"]} == {frozenset()}


@pytest.mark.thorough
def test_recordings_are_written_with_their_truth_and_judged_by_a_file_of_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["write", str(tmp_path), "--only", "stopped"])
    with (tmp_path / "truth.csv").open(newline="") as file:
        truth = list(csv.DictReader(file))
    ill = [row for row in truth if row["causes"]]
    answers = tmp_path / "answers.csv"
    with answers.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("case", "group", "minute", "cause"))
        for row in ill:
            for minute in range(BEGIN_MINUTE, BEGIN_MINUTE + 60):
                writer.writerow((row["case"], row["group"], minute, contract.STOPPED))
    main(["judge", str(answers), "--only", "stopped"])

    assert {row["begins"] for row in truth} == {str(BEGIN_MINUTE)}
    assert all(list((tmp_path / row["case"] / "snapshots").iterdir()) for row in ill)
    assert f"{len(ill)} groups in trouble: right 100.0%, wrong 0.0%" in capsys.readouterr().out
