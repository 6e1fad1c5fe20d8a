# SPDX-License-Identifier: Apache-2.0
"""Right answers about a case, and the same view of a case warm and cold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from dev.sim.cases.drawn import HEALTHY, TROUBLES
from dev.sim.events import MINUTE, Case, MissRuns
from dev.sim.live.waves import plan_waves
from dev.sim.run import WATCHED, Kept, run_case
from dev.sim.scorers.causes import (
    IN_TIME,
    NO_TROUBLE,
    NOT_EXPLAINED,
    PAST,
    RIGHT,
    WRONG,
    Run,
    judge,
    score,
)
from dev.sim.truth import Effect
from kafka_lag import contract
from kafka_lag.lag.model import Snapshot
from kafka_lag.snapshots.previous import Loaded, Memory, load_memory
from kafka_lag.snapshots.store import FolderStore

RIGHT_ONE, WRONG_ONE, UNEXPLAINED = contract.STOPPED, contract.HOT_PARTITION, contract.UNEXPLAINED


def verdict(answers: Sequence[str | None], right: str | None, ill_from: int | None) -> str:
    """The verdict on a group with an answer for each run, which is in trouble from one run on."""
    runs = [
        Run(
            frozenset({"g"} if ill_from is not None and number >= ill_from else ()),
            {} if said is None else {"g": said},
        )
        for number, said in enumerate(answers)
    ]
    (found,) = judge("case", {"g": (Effect(right, 0.0),) if right else ()}, runs)
    return found.verdict


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        pytest.param([RIGHT_ONE], RIGHT, id="at-once"),
        pytest.param([*[None] * (IN_TIME - 1), RIGHT_ONE], RIGHT, id="just-in-time"),
        pytest.param([*[UNEXPLAINED] * IN_TIME, RIGHT_ONE], NOT_EXPLAINED, id="too-late"),
        pytest.param([None] * 5, NOT_EXPLAINED, id="nothing-said"),
        pytest.param([RIGHT_ONE, WRONG_ONE], WRONG, id="changed-its-mind"),
        pytest.param([RIGHT_ONE] * (WATCHED - 1) + [WRONG_ONE], WRONG, id="last-one-watched"),
        pytest.param([RIGHT_ONE] * WATCHED + [WRONG_ONE], RIGHT, id="after-it-is-watched"),
    ],
)
def test_a_group_in_trouble_is_judged_from_its_first_run_in_it(
    answers: list[str | None], expected: str
) -> None:
    # An answer before the trouble is not about it.
    assert verdict([WRONG_ONE, *answers], RIGHT_ONE, ill_from=1) == expected


def test_a_group_that_no_run_saw_in_trouble_is_neither_right_nor_wrong() -> None:
    assert verdict([None] * 20, RIGHT_ONE, ill_from=None) == NO_TROUBLE


@pytest.mark.parametrize(
    ("answers", "expected"),
    [([None] * 3, RIGHT), ([None, UNEXPLAINED], RIGHT), ([None] * 30 + [RIGHT_ONE], WRONG)],
    ids=["nothing", "unexplained", "named-once"],
)
def test_any_cause_of_a_healthy_group_is_wrong(answers: list[str | None], expected: str) -> None:
    assert verdict(answers, None, ill_from=None) == expected


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        pytest.param("a" * 20 + "-" * 20, RIGHT, id="ends"),
        pytest.param("a" * 40, PAST, id="stays"),
        pytest.param("a" * 15 + "b" * 5 + "a" * 20, RIGHT, id="comes-back"),
        pytest.param("a" * 15 + "b" * 25, PAST, id="does-not-end"),
        pytest.param("a" * 15 + "b" * 5 + "-" * 20, NOT_EXPLAINED, id="does-not-come-back"),
        pytest.param("b" * 40, PAST, id="named-too-soon"),
    ],
)
def test_a_cause_is_named_as_long_as_it_is_one(answers: str, expected: str) -> None:
    names = {"a": RIGHT_ONE, "b": WRONG_ONE, "-": UNEXPLAINED}
    runs = [
        Run(frozenset("g"), {"g": names[answer]}, number * MINUTE)
        for number, answer in enumerate(answers)
    ]
    first = Effect(RIGHT_ONE, 0.0, math.inf if "b" in answers else 20 * MINUTE)
    second = Effect(WRONG_ONE, 15 * MINUTE, 20 * MINUTE)
    effects = (first, second) if "b" in answers else (first,)
    (found,) = judge("case", {"g": effects}, runs, ends=True)

    assert found.verdict == expected


def find(name: str) -> Case:
    return next(case for case in (*TROUBLES, *HEALTHY) if case.name == name)


@pytest.mark.parametrize(
    "name",
    [
        "moved-to-another-topic",
        *(pytest.param(e, marks=pytest.mark.thorough) for e in ("poison-skipped-small", "deploys")),
    ],
)
def test_a_case_is_scored(name: str) -> None:
    found = score(find(name))

    assert {each.verdict for each in found} == {RIGHT}
    assert any(each.right for each in found) is (name != "deploys")


def cells(snapshots: list[Snapshot]) -> list[object]:
    return [
        {name: column.to_list() for name, column in each.dataset(dataset).columns.items()}
        for each in snapshots
        for dataset in contract.DATASETS
    ]


def test_a_cold_collector_sees_what_a_warm_one_sees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts: list[int] = []

    def load(store: FolderStore, cluster: str, taken_at: int, interval_ms: int) -> Loaded[Memory]:
        starts.append(taken_at)
        return load_memory(store, cluster, taken_at, interval_ms)

    monkeypatch.setattr("dev.sim.run.load_memory", load)
    case = replace(find("poison-skipped-small"), warm_up=3 * MINUTE, watched=5 * MINUTE)
    warm = list(run_case(case))
    cold = list(run_case(case, Kept(FolderStore(tmp_path), "shop", cold=True)))

    assert cells(cold) == cells(warm)
    assert starts == [each.taken_at for each in cold]


def test_runs_are_missed() -> None:
    case = replace(find("poison-skipped-small"), warm_up=2 * MINUTE, watched=5 * MINUTE)
    missed = replace(case, happens=(*case.happens, (0.0, MissRuns(4 * MINUTE))))

    assert len(list(run_case(missed))) == len(list(run_case(case))) - 4 == 3


def test_staged_cases_run_on_brokers_in_a_few_waves() -> None:
    waves = plan_waves(TROUBLES)

    assert len(waves) <= 7
    assert all(len(wave) == 1 for wave in waves if any(case.alone for case in wave))
