# SPDX-License-Identifier: Apache-2.0
"""The usual figures in a run: read once an hour; a run without them lacks only its findings."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kafka_lag import contract
from kafka_lag.errors import StoreError
from kafka_lag.snapshots.previous import load_newest
from kafka_lag.snapshots.usual import load_usual
from tests.builders import HOUR, MINUTE, NOON, a_reading, cell
from tests.fakes import MemoryStore
from tests.functions.runs import TOPICS, Run

KEY = "usual/cluster=shop/usual.parquet"
SATURDAY = 6  # 2026-01-31


def usual_object(
    rows: Sequence[dict[str, Any]], version: str = "1.0", date: str | None = "2026-01-30"
) -> bytes:
    """As the daily report writes it."""
    kinds = {"string": pa.string(), "int": pa.int32(), "double": pa.float64()}
    schema = pa.schema([(n, kinds[kind]) for n, kind in contract.USUAL_COLUMNS.items()])
    metadata = {"kafka_lag_usual_version": version, "kafka_lag_usual_date": date}
    data = io.BytesIO()
    pq.write_table(
        pa.Table.from_pylist([*rows], schema).replace_schema_metadata(
            {name: text for name, text in metadata.items() if text is not None}
        ),
        data,
        row_group_size=2,
    )
    return data.getvalue()


def row(hour: int, lag: float, *, weekday: int = SATURDAY, group: str = "g") -> dict[str, Any]:
    return {
        "weekday": weekday,
        "hour": hour,
        "consumer_group": group,
        "usual_lag": lag,
        "lag_spread": 1.0,
        "usual_time_lag": None,
        "time_lag_spread": None,
    }


# A lag of 6, and one of 6,000 of the same group.
FEW = a_reading({"g": {"orders": [5, 9]}}, TOPICS)
MANY = a_reading({"g": {"orders": [5, 9]}}, {"orders": [(0, 6004), (0, 10)]}, at=NOON + MINUTE)
EVERY_DAY = [row(hour, 7.0, weekday=day) for day in range(1, 8) for hour in range(24)]


def store_of(data: bytes) -> MemoryStore:
    store = MemoryStore()
    store.objects[KEY] = data
    return store


def said(run: Run, at: int) -> tuple[Any, Any, Any]:
    """usual_lag, usual_time_lag and unusual of the group in the run at this time."""
    groups = load_newest(run.store, "shop", at + 1).value.groups
    names = ("usual_lag", "usual_time_lag", "unusual")
    lag, time_lag, unusual = (cell(groups, name, consumer_group="g") for name in names)
    return lag, time_lag, unusual


def warnings(run: Run) -> list[str]:
    """Without those of readings that are the same an hour later."""
    return [each for each in run.logger.warnings if "log ends" not in each]


def test_groups_are_compared_with_the_hour_and_weekday_of_the_run() -> None:
    rows = [
        *(row(12, 1.0, weekday=day) for day in range(1, 8) if day != SATURDAY),
        *(row(hour, 2.0) for hour in range(24) if hour != 12),
        row(12, 3.0, group="a"),
        row(12, 7.0),
        row(12, 4.0, group="z"),
    ]
    run = Run(FEW, MANY, store=store_of(usual_object(rows)))
    run(NOON)
    assert said(run, NOON) == (7.0, None, False)
    for minute in (1, 2, 3):
        run(NOON + minute * MINUTE)
    assert said(run, NOON + 2 * MINUTE) == (7.0, None, False)
    assert said(run, NOON + 3 * MINUTE) == (7.0, None, True)


@pytest.mark.parametrize(
    ("times", "cause"), [(1.4, contract.UNEXPLAINED), (1.6, contract.MORE_PRODUCED)]
)
def test_an_unusual_backlog_is_of_more_records_from_half_as_many_again_on(
    times: float, cause: str
) -> None:
    figures = {"usual_produce_rate": 100.0, "produce_rate_spread": 1.0}
    minutes = range(13)
    readings = [
        a_reading(
            {"g": {"orders": [written, 9]}},
            {"orders": [(0, written + 10_000), (0, 9)]},
            at=NOON + minute * MINUTE,
            owners={("g", "orders", 0): "m", ("g", "orders", 1): "m"},
        )
        for minute in minutes
        for written in [round(minute * 60 * 100 * times)]
    ]
    run = Run(*readings, store=store_of(usual_object([{**row(12, 7.0), **figures}], "1.1")))
    for minute in minutes:
        run(NOON + minute * MINUTE)
    groups = load_newest(run.store, "shop", NOON + HOUR).value.groups
    found = tuple(cell(groups, name, consumer_group="g") for name in ("status", "unusual", "cause"))
    assert found == (contract.OK, True, cause)


def an_outage(quiet: int, day: datetime) -> Any:
    """Whether it is unusual at noon of this day that nothing is written, where nothing is usual in
    the `quiet` hour alone and 500 records/s are in the others.
    """
    rows = [
        {
            **row(hour, 6.0, weekday=day.isoweekday()),
            "usual_produce_rate": 0.0 if hour == quiet else 500.0,
            "produce_rate_spread": 1.0,
        }
        for hour in range(24)
    ]
    data = usual_object(rows, "1.1", (day - timedelta(days=1)).date().isoformat())
    times = [round(day.timestamp() * 1_000) + minute * MINUTE for minute in range(12, 19)]
    readings = [a_reading({"g": {"orders": [5, 9]}}, TOPICS, at=at) for at in times]
    run = Run(*readings, store=store_of(data))
    for at in times:
        run(at)
    return said(run, times[-1])[2]


@pytest.mark.parametrize(
    ("day", "like_the_hour_before", "like_the_hour_after"),
    [
        pytest.param("2026-03-09", True, False, id="forward in New York"),
        pytest.param("2026-04-06", False, False, id="back in Sydney, forward in Berlin"),
        pytest.param("2026-11-28", False, True, id="four weeks after New York"),
        pytest.param("2026-12-05", True, True, id="learnt since autumn"),
    ],
)
def test_what_is_as_usual_an_hour_beside_is_unusual_but_after_a_clock_change(
    day: str, like_the_hour_before: bool, like_the_hour_after: bool
) -> None:
    noon = datetime.fromisoformat(f"{day}T12:00Z")
    assert (an_outage(11, noon), an_outage(13, noon)) == (like_the_hour_before, like_the_hour_after)


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/Havana", "Australia/Sydney"])
def test_each_clock_change_of_these_years_is_known(zone: str) -> None:
    local = ZoneInfo(zone)
    days = [datetime(2026, 1, 1, 12, tzinfo=UTC) + timedelta(days=n) for n in range(365 * 12)]
    hours = [(local.utcoffset(day) or timedelta()) / timedelta(hours=1) for day in days]
    changes = [
        (day, now - then)
        for day, then, now in zip(days[1:], hours, hours[1:], strict=False)
        if now != then
    ]
    assert len(changes) == 24
    for day, by in changes:
        rows = [row(hour, float(hour), weekday=day.isoweekday()) for hour in range(24)]
        store = store_of(usual_object(rows, date=day.date().isoformat()))
        found = load_usual(store, "shop", round(day.timestamp() * 1_000))
        usual, *beside = (frame.numbers("usual_lag").to_list() for frame in found)
        assert usual == [12.0]
        assert [12.0 + by] in beside


def test_the_object_is_read_once_an_hour() -> None:
    store = store_of(usual_object([row(12, 7.0), row(13, 8.0)]))
    run = Run(store=store, interval_ms=10 * MINUTE)
    run(NOON)
    run.store.calls.clear()
    for minute in range(10, 60, 10):
        run(NOON + minute * MINUTE)
    assert "read" not in run.store.calls
    run(NOON + HOUR)
    assert run.store.calls.count("read") == 1
    assert said(run, NOON + HOUR)[0] == 8.0


@pytest.mark.parametrize("rows", [None, [row(11, 7.0), row(13, 7.0)]], ids=["report", "hour"])
def test_what_no_report_has_learnt_yet_is_unknown(rows: list[dict[str, Any]] | None) -> None:
    run = Run(store=MemoryStore() if rows is None else store_of(usual_object(rows)))
    run()
    assert said(run, NOON) == (None, None, None)
    assert run.logger.warnings == []


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"scribble", "not a readable file of usual figures"),
        (usual_object(EVERY_DAY)[:-200], "not a readable file of usual figures"),
        (usual_object(EVERY_DAY, date=None), "not a readable file of usual figures"),
        (usual_object(EVERY_DAY, date="soon"), "not a readable file of usual figures"),
        (usual_object(EVERY_DAY, version="2.0"), "deploy the collector"),
        (usual_object(EVERY_DAY, date="2025-12-19"), "the daily report has written none since"),
    ],
)
def test_an_object_of_no_use_is_one_warning_and_no_failure(data: bytes, words: str) -> None:
    run = Run(store=store_of(data))
    for at, read in ((NOON, True), (NOON + MINUTE, False), (NOON + HOUR, True)):
        run.store.calls.clear()
        assert run(at) == 3
        assert ("read" in run.store.calls) == read
        assert said(run, at) == (None, None, None)
    (warning,) = warnings(run)
    assert words in warning
    assert KEY in warning


def test_an_object_without_a_produce_rate_and_one_of_a_newer_minor_version_are_read() -> None:
    old = io.BytesIO()
    written = pq.read_table(io.BytesIO(usual_object([row(12, 7.0)], version="1.9")))
    pq.write_table(written.drop_columns([*contract.USUAL_ADDED]), old)
    run = Run(store=store_of(old.getvalue()))
    run()
    assert said(run, NOON)[0] == 7.0


class _Stumbling(MemoryStore):
    """Fails to give the usual figures so many times."""

    def __init__(self, data: bytes, times: int, error: BaseException) -> None:
        super().__init__(error=error)
        self.objects[KEY], self.times = data, times

    def read(self, key: str) -> bytes:
        if key == KEY and self.times and self.error:
            self.times -= 1
            raise self.error
        return super().read(key)


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (StoreError("slow down"), "slow down"),
        (MemoryError("no room"), r"The snapshot store .*MemoryError"),
    ],
)
def test_a_store_that_failed_is_one_warning_and_asked_again_in_the_next_run(
    error: BaseException, cause: str
) -> None:
    run = Run(FEW, store=_Stumbling(usual_object(EVERY_DAY), 2, error))
    for minute, known in enumerate((None, None, 7.0)):
        run(NOON + minute * MINUTE)
        assert said(run, NOON + minute * MINUTE)[0] == known
    [warning] = warnings(run)
    assert re.match(f"what is usual for the groups is not known: {cause}", warning)


def test_a_run_that_cannot_load_its_past_does_not_ask_for_the_usual_either() -> None:
    run = Run(store=MemoryStore({"keys"}))
    with pytest.raises(StoreError):
        run()
    assert "read" not in run.store.calls
