# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag replay`: the pages of planted days follow from how the days were made."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from dev.documents import describe_cluster
from kafka_lag import contract
from kafka_lag.lag.columns import Column
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.parquet import to_parquet
from kafka_lag.snapshots.store import FolderStore
from kafka_lag_cli.replay import replay
from tests.builders import MINUTE
from tests.cli.snapshots import a_group, a_snapshot_of
from tests.golden import Golden

MIDNIGHT = 1_769_817_600_000  # 2026-01-31 00:00 UTC
DAY = "2026-01-31"
MINUTES = 24 * 60
NO_LOSS = float(contract.NO_LOSS_SECONDS)
UNKNOWN = float("nan")


@dataclass
class Group:
    """A group's day, a number a minute, of which a test changes what it is about."""

    age: np.ndarray[Any, Any]
    status: np.ndarray[Any, Any]
    incident: np.ndarray[Any, Any]
    lag: np.ndarray[Any, Any]
    until_loss: np.ndarray[Any, Any]
    needed: np.ndarray[Any, Any]

    @classmethod
    def fine(cls) -> Group:
        ages, unknown = np.full(MINUTES, 2.0), np.full(MINUTES, UNKNOWN)
        status = np.full(MINUTES, contract.OK, object)
        return cls(
            ages,
            status,
            unknown.copy(),
            np.full(MINUTES, 10.0),
            np.full(MINUTES, NO_LOSS),
            np.full(MINUTES, 3.0),
        )

    def stops(self, begin: int, end: int) -> Group:
        """The age grows by the minute; after ten of these minutes it is ERR."""
        self.age[begin:end] = 60.0 * np.arange(end - begin)
        self.status[begin + 10 : end] = contract.ERR
        self.incident[begin + 10 : end] = MIDNIGHT + begin * MINUTE
        return self

    def is_unread(self, begin: int, end: int) -> Group:
        for values in (self.age, self.lag, self.until_loss, self.needed):
            values[begin:end] = UNKNOWN
        self.status[begin:end] = None
        return self


def write_day(
    state: Path, groups: Mapping[str, Group], no_runs: range = range(0), day: str = DAY
) -> None:
    """A day of history, a run a minute but for some."""
    midnight = int(datetime.fromisoformat(f"{day}T00:00Z").timestamp()) * 1000
    minutes = np.array([minute for minute in range(MINUTES) if minute not in no_runs])
    times = pa.timestamp("ms", tz="UTC")
    tables = [
        pa.table(
            {
                "taken_at": pa.array(midnight + minutes * MINUTE).cast(times),
                "consumer_group": pa.array([name] * len(minutes)),
                "status": pa.array(group.status[minutes].tolist(), pa.string()),
                "time_lag_seconds": _known(group.age[minutes]),
                "incident_since": _known(group.incident[minutes]).cast(pa.int64()).cast(times),
                "lag": _known(group.lag[minutes]).cast(pa.int64()),
                "seconds_until_loss": _known(group.until_loss[minutes]),
                "tasks_needed": _known(group.needed[minutes]).cast(pa.int32()),
                "members": pa.array([3] * len(minutes), pa.int32()),
            }
        )
        for name, group in groups.items()
    ]
    folder = state / f"history/groups/cluster=shop/dt={day}"
    folder.mkdir(parents=True)
    pq.write_table(pa.concat_tables(tables), folder / "part-0.parquet")


def _known(values: np.ndarray[Any, Any]) -> pa.Array:
    return pa.array(values, mask=np.isnan(values))


def a_document(path: Path, **changes: Any) -> Path:
    """A deployment's document with one cluster."""
    cluster = describe_cluster("shop", alarms={"groups": ["billing"]}) | changes
    whole = {"shared": {"notify": {"email": ["oncall@example.com"]}}, "clusters": [cluster]}
    path.write_text(json.dumps(whole))
    return path


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Result]:
    """The command on the folder of the test, whose document is a.json."""
    a_document(tmp_path / "a.json")

    def invoke(*arguments: str, config: str = "a.json") -> Result:
        days = ["--from", DAY, "--to", DAY]
        given = ["--config", str(tmp_path / config), "--state", str(tmp_path), *days]
        return CliRunner().invoke(replay, [*given, *arguments], catch_exceptions=False)

    return invoke


def pages_of(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    (cluster,) = json.loads(result.stdout)
    pages: list[dict[str, Any]] = cluster["pages"]
    return pages


def at(minute: int) -> str:
    return f"{DAY}T{minute // 60:02}:{minute % 60:02}:00Z"


def test_a_stopped_group_pages_once_three_bad_minutes_are_seen(
    tmp_path: Path, run: Callable[..., Result]
) -> None:
    write_day(tmp_path, {"billing": Group.fine().stops(600, 660)})
    (page,) = pages_of(run("--output", "json"))
    # ERR from 610; the third ERR is of 612 and seen a minute later. Then two good ones of five
    # leave three bad: over once only two are seen.
    assert page == {
        "cluster": "shop",
        "alarm": "status",
        "consumer_group": "billing",
        "begin": at(613),
        "end": at(663),
        "delay_seconds": 13 * 60,
        "worst_time_lag_seconds": 59 * 60,
        "worst_status": contract.ERR,
        "change": None,
        "later_seconds": None,
    }


def fine() -> Group:
    return Group.fine()


def changed(column: str, *values: tuple[slice, float]) -> Group:
    """A fine group but for some minutes of one column."""
    group = Group.fine()
    for minutes, value in values:
        getattr(group, column)[minutes] = value
    return group


SLO = {"age_seconds": 300, "target": 99}
BRIEFLY_LATE = [(slice(begin, begin + 3), 301) for begin in (600, 610, 620, 900)]
TWO_STOPS = {"billing": fine().stops(600, 609), "mailer": fine().stops(700, 709)}
LATE = changed("age", (slice(600, 605), 301))


# A day's groups, what the document says beside an alarm on `billing`, and the pages: their alarm,
# group, and the minutes in which they begin and end.
@pytest.mark.parametrize(
    ("groups", "document", "pages"),
    [
        pytest.param({"billing": fine(), "mailer": fine()}, {}, [], id="all are fine"),
        pytest.param(
            {"mailer": fine().stops(600, 660), "billing": fine()},
            {},
            [("any-group", "mailer", 613, 663)],
            id="a group that nobody named",
        ),
        pytest.param(
            {"mailer": fine().stops(600, 660)}, {"groups": {"deny": "^mailer$"}}, [], id="denied"
        ),
        pytest.param(
            TWO_STOPS,
            # Above 120 s from the fourth minute of the stop on.
            {"sla_seconds": {"^(billing|mailer)$": 120}},
            [("sla", "billing", 606, 612), ("any-sla", "mailer", 706, 712)],
            id="promises of the document",
        ),
        pytest.param(
            {"billing": changed("until_loss", (slice(600, 620), 3_600))},
            {},
            [("data-loss", "billing", 603, 623)],
            id="a loss is near",
        ),
        pytest.param(
            {"billing": changed("lag", (slice(600, 620), 1_000), (slice(700, 720), 1_001))},
            {"alarms": {"offset_lag": {"billing": 1000}}},
            [("offset-lag", "billing", 703, 723)],
            id="more records than allowed",
        ),
        pytest.param(
            # Nine of sixty minutes at 99 %: the ninth is of 622, and seen a minute later.
            {"billing": changed("age", *BRIEFLY_LATE).is_unread(903, 960)},
            {"slo": {"^billing$": SLO}},
            [("slo-fast", "billing", 623, 661)],
            id="a budget that goes too fast, and a gap",
        ),
        pytest.param(
            {"billing": LATE, "mailer": LATE},
            {
                "slo": {"b": SLO | {"target": 99.5}, "m": SLO},
                "alarms": {"groups": ["billing", "mailer"]},
            },
            [("slo-fast", "billing", 605, 661)],
            id="targets of their own",
        ),
        pytest.param(
            {"billing": fine().stops(600, 700).is_unread(640, 643)},
            {},
            [("status", "billing", 613, 703)],
            id="a short gap",
        ),
        pytest.param(
            # Gaps make two bad minutes enough, once the older of them is as old as three.
            {"billing": fine().stops(600, 700).is_unread(640, 660)},
            {},
            [("status", "billing", 613, 646), ("status", "billing", 662, 703)],
            id="a longer gap",
        ),
        pytest.param(
            {"billing": fine().stops(1_400, MINUTES)},
            {},
            [("status", "billing", 1_413, None)],
            id="on at the end",
        ),
    ],
)
def test_pages_of_a_day_follow_from_its_minutes(
    groups: dict[str, Group],
    document: dict[str, Any],
    pages: list[tuple[str, str, int, int | None]],
    tmp_path: Path,
    run: Callable[..., Result],
) -> None:
    write_day(tmp_path, groups)
    a_document(tmp_path / "b.json", **document)
    found = pages_of(run("--output", "json", config="b.json"))
    assert [
        (page["alarm"], page["consumer_group"], page["begin"], page["end"]) for page in found
    ] == [(alarm, name, at(begin), end and at(end)) for alarm, name, begin, end in pages]


def test_runs_that_do_not_come_page_by_the_heartbeat(
    tmp_path: Path, run: Callable[..., Result]
) -> None:
    write_day(tmp_path, {"billing": Group.fine()}, no_runs=range(600, 630))
    (page,) = pages_of(run("--output", "json"))
    # The last run, of 599, leaves the five minutes that are looked at once 605 is the newest seen.
    assert (page["alarm"], page["begin"], page["end"]) == ("heartbeat", at(604), at(631))


def test_a_page_is_not_late_by_an_incident_that_was_over_before(
    tmp_path: Path, run: Callable[..., Result]
) -> None:
    billing = Group.fine().stops(2 * 60, 2 * 60 + 30).stops(12 * 60, 12 * 60 + 30)
    # An incident is not known before its status is held.
    billing.incident[12 * 60 :] = UNKNOWN
    write_day(tmp_path, {"billing": billing})
    delays = [page["delay_seconds"] for page in pages_of(run("--output", "json"))]
    # The second one's is since its status was bad.
    assert delays == [13 * 60, 3 * 60]


def test_what_people_read_of_a_replay(
    tmp_path: Path, run: Callable[..., Result], golden: Golden
) -> None:
    stops = {"billing": Group.fine().stops(600, 609), "mailer": Group.fine().stops(700, 720)}
    # Whether five minutes without a value are farther than CloudWatch looks back is left open.
    stops["audit"] = Group.fine().stops(800, 900).is_unread(840, 845)
    write_day(tmp_path, stops | {"=evil\x1b[31m": Group.fine().stops(600, 660)})
    write_day(tmp_path, {"billing": Group.fine()}, no_runs=range(60), day="2026-01-30")
    alarms = {"groups": ["billing", "audit"]}
    documents: dict[str, dict[str, Any]] = {
        "a": {"sla_seconds": {"^billing$": 120, "^mailer$": 120}, "alarms": alarms},
        "b": {"sla_seconds": {"^audit$": 120, "^mailer$": 300}, "alarms": {}},
        "none": {"alarms": {"any_group": False}},
        "other": {"name": "other"},
    }
    for name, changes in documents.items():
        a_document(tmp_path / f"{name}.json", **changes)
    against = ("--against", str(tmp_path / "b.json"))
    cases = {
        "a.json": run(),
        "a.json --lines --group audit": run("--lines", "--group", "audit"),
        "a.json --against b.json": run(*against),
        "a.json --against b.json --brief": run(*against, "--brief"),
        "a.json --against other.json --brief": run(
            "--against", str(tmp_path / "other.json"), "--brief"
        ),
        "none.json": run(config="none.json"),
        "a.json --propose 5 --from 2026-01-02": run("--propose", "5", "--from", "2026-01-02"),
        "a.json --html nowhere/page.html": run("--html", str(tmp_path / "nowhere" / "page.html")),
    }
    assert not any("\x1b" in result.output for result in cases.values())
    texts = {
        name: f"exit code {result.exit_code}\n{result.output}".replace(str(tmp_path), "/here")
        for name, result in cases.items()
    }
    golden.holds_cases(
        "replay.txt",
        {
            name: "\n".join(line.rstrip() for line in text.splitlines() if line.strip())
            for name, text in texts.items()
        },
    )
    assert "'=evil" in run("--output", "csv").stdout


def test_tasks_are_what_the_rules_set_by_the_tasks_that_were_needed(
    tmp_path: Path, run: Callable[..., Result]
) -> None:
    group = Group.fine()
    group.needed[600:900] = 5
    write_day(tmp_path, {"billing": group})
    service = {"group": "billing", "ecs_cluster": "web", "service": "billing", "min": 1}
    a_document(tmp_path / "b.json", scaling=[service | {"max": 8, "partitions": 8, "tasks": {}}])
    a_document(tmp_path / "c.json", scaling=[service | {"max": 4, "partitions": 8, "tasks": {}}])
    (cluster,) = json.loads(run("--output", "json", config="b.json").stdout)
    (found,) = cluster["services"]
    assert found["changes"] == 2
    # Three tasks for a day, and two more for five hours.
    assert found["task_hours"] == pytest.approx(3 * 24 + 2 * 5, abs=0.1)
    against = run("--against", str(tmp_path / "b.json"), config="c.json")
    assert "+0, -0 pages and -5 task hours in 1 day; 0 stay." in against.stdout


def test_days_before_the_first_run_are_neither_missed_nor_calm(
    tmp_path: Path, run: Callable[..., Result]
) -> None:
    write_day(tmp_path, {"billing": Group.fine().stops(600, 660)}, no_runs=range(120))
    (cluster,) = json.loads(run("--from", "2026-01-02", "--output", "json").stdout)
    assert cluster["from"] == at(120)
    assert [page["alarm"] for page in cluster["pages"]] == ["status"]
    assert cluster["pages"][0]["begin"] == at(613)
    assert cluster["pages_a_week"] == pytest.approx(7 * 24 / 22)


def test_pages_of_one_group_have_its_range(tmp_path: Path, run: Callable[..., Result]) -> None:
    billing = Group.fine().stops(600, 700).is_unread(640, 645)
    write_day(
        tmp_path,
        {"billing": billing, "mailer": Group.fine().stops(100, 200)},
        no_runs=range(900, 930),
    )
    answer = run("--group", "billing", "--output", "json")
    (cluster,) = json.loads(answer.stdout)
    assert {page["consumer_group"] for page in cluster["pages"]} == {"billing"}
    assert (cluster["least_pages"], cluster["most_pages"]) == (1, 2)


def test_two_documents_add_remove_and_move_pages(
    tmp_path: Path, run: Callable[..., Result]
) -> None:
    write_day(
        tmp_path,
        {
            "billing": Group.fine().stops(600, 609),
            "mailer": Group.fine().stops(700, 720),
            "audit": Group.fine().stops(800, 809),
        },
    )
    a_document(tmp_path / "a.json", sla_seconds={"^billing$": 120, "^mailer$": 120})
    a_document(tmp_path / "b.json", sla_seconds={"^audit$": 120, "^mailer$": 300}, alarms={})
    answer = run("--against", str(tmp_path / "a.json"), "--output", "csv", config="b.json")
    rows = list(csv.DictReader(io.StringIO(answer.stdout)))
    found = [
        (row["change"], row["alarm"], row["consumer_group"], row["later_seconds"]) for row in rows
    ]
    assert found == [
        ("removed", "sla", "billing", ""),
        ("moved", "any-sla", "mailer", "180.0"),
        ("same", "any-group", "mailer", "0.0"),
        ("added", "any-sla", "audit", ""),
    ]
    text = run("--against", str(tmp_path / "a.json"), config="b.json").stdout
    assert "+1, -1 pages in 1 day; 1 stay, 1 move (up to 3 min later)." in text


def test_snapshots_count_where_there_is_no_history(
    tmp_path: Path, run: Callable[..., Result]
) -> None:
    store = FolderStore(tmp_path)
    for minute in range(600, 620):
        taken_at = MIDNIGHT + minute * MINUTE
        status = contract.OK if minute < 610 else contract.ERR
        frame = a_snapshot_of(a_group("billing", status=status, members=1), at=taken_at).groups
        frame = frame.with_columns(taken_at=_constant(taken_at, len(frame)))
        key = object_key(contract.GROUPS, "shop", taken_at)
        store.write_once(key, to_parquet(frame, contract.GROUPS))
    pages = [page for page in pages_of(run("--output", "json")) if page["alarm"] != "heartbeat"]
    assert [(page["alarm"], page["begin"]) for page in pages] == [("status", at(613))]


def _constant(value: int, count: int) -> Column:
    return Column.of(np.full(count, value, np.int64))


def write_stops(root: Path) -> None:
    """A stop of 9 minutes on each of six days, but for the last one, whose takes 19."""
    for day in range(26, 32):
        length = 19 if day == 31 else 9
        write_day(root, {"billing": Group.fine().stops(600, 600 + length)}, day=f"2026-01-{day}")


def test_a_promise_is_chosen_on_two_thirds_of_the_days_and_tried_on_the_rest(
    tmp_path: Path, run: Callable[..., Result]
) -> None:
    write_stops(tmp_path)
    a_document(tmp_path / "b.json", sla_seconds={"^billing$": 120})
    answer = run("--propose", "0", "--from", "2026-01-26", "--output", "json", config="b.json")
    (found,) = json.loads(answer.stdout)
    assert found == {
        "cluster": "shop",
        "group": "billing",
        # Of 9 minutes three are above: too few of ten, and 600 s in 3 of 5 would be later.
        "sla_seconds": 300,
        "datapoints": 5,
        "periods": 10,
        "now_seconds": 120.0,
        "chosen": 0.0,
        "tried": 15.0,
        "tried_now": 30.0,
        # The fifth minute above is the tenth after the first, and is seen a minute later.
        "delay_seconds": 11 * 60.0,
        "later_seconds": 5 * 60.0,
    }


def test_a_proposal_is_what_the_document_then_pages(
    tmp_path: Path, run: Callable[..., Result]
) -> None:
    write_stops(tmp_path)
    (found,) = json.loads(run("--propose", "0", "--from", "2026-01-26", "--output", "json").stdout)
    runs = {"datapoints": found["datapoints"], "periods": found["periods"]}
    a_document(
        tmp_path / "b.json",
        sla_seconds={"^billing$": found["sla_seconds"]},
        alarms={"groups": ["billing"], "sla_runs": {"billing": runs}},
    )
    answer = run("--from", "2026-01-26", "--output", "json", config="b.json")
    pages = [page for page in pages_of(answer) if page["alarm"] == "sla"]
    assert [page["begin"] for page in pages] == [at(611)]


def test_a_promise_that_keeps_no_budget_is_not_proposed(
    tmp_path: Path, run: Callable[..., Result]
) -> None:
    group = Group.fine()
    group.age[:] = 0
    group.age[600:700] = group.age[800:900] = 100_000.0
    for day in (29, 30, 31):
        write_day(tmp_path, {"billing": group}, day=f"2026-01-{day}")
    answer = run("--propose", "59", "--from", "2026-01-29", "--output", "json")
    (found,) = json.loads(answer.stdout)
    assert (found["sla_seconds"], found["tried"]) == (None, None)
    assert (
        json.loads(run("--propose", "60", "--from", "2026-01-29", "--output", "json").stdout)[0][
            "sla_seconds"
        ]
        == 30
    )


def propose(run: Callable[..., Result], first: str) -> list[dict[str, Any]]:
    answer = run("--propose", "6", "--from", first, "--output", "json")
    found: list[dict[str, Any]] = json.loads(answer.stdout)
    return found


@pytest.mark.parametrize(
    ("ages", "seconds"),
    [((200.0, 400.0), 600), ((200.0, 290.0), 300), ((2.0, 2.0), 30)],
    ids=["up to 400 s", "up to 290 s", "2 s"],
)
def test_a_promise_that_is_always_broken_is_none(
    tmp_path: Path, run: Callable[..., Result], ages: tuple[float, float], seconds: int
) -> None:
    # One alarm that never ends is one page.
    group = Group.fine()
    group.age[:] = np.resize(ages, MINUTES)
    for day in range(24, 32):
        write_day(tmp_path, {"billing": group}, day=f"2026-01-{day}")
    (found,) = propose(run, "2026-01-24")
    assert found["sla_seconds"] == seconds


def test_a_group_is_judged_by_the_days_that_it_was_there(
    tmp_path: Path, run: Callable[..., Result]
) -> None:
    # Nine days: the newcomer is there in the last four, with a stop in each of them.
    for day in range(23, 32):
        groups = {"billing": Group.fine()}
        if day >= 28:
            groups["newcomer"] = Group.fine().stops(600, 609)
        if day >= 30:
            groups["youngest"] = Group.fine()
        write_day(tmp_path, groups, day=f"2026-01-{day}")
    found = {each["group"]: each for each in propose(run, "2026-01-23")}
    assert (found["newcomer"]["sla_seconds"], found["newcomer"]["datapoints"]) == (300, 5)
    # Two days are too few.
    assert found["youngest"]["sla_seconds"] is None


def test_the_page_draws_each_group_that_pages_and_escapes_its_name(
    tmp_path: Path, run: Callable[..., Result]
) -> None:
    group = Group.fine().stops(600, 660)
    group.age[100:200] = UNKNOWN
    write_day(tmp_path, {"<b>evil</b>": group, "fine": Group.fine()})
    page = tmp_path / "page.html"
    assert run("--html", str(page)).exit_code == 0
    html = page.read_text()
    assert html.count("<figure>") == 1
    assert "&lt;b&gt;evil&lt;/b&gt;" in html
    assert "<b>evil" not in html
    assert set(re.findall(r'<rect class="(\w+)"', html)) == {"added"}
    (age,) = re.findall(r'class="age" d="([^"]+)"', html)
    # A gap in the middle: two lines. Where nothing is known nothing is drawn.
    assert age.count("M") == 2
    assert "nan" not in html


def test_a_page_that_cannot_take_its_place_leaves_nothing_behind(
    tmp_path: Path, run: Callable[..., Result]
) -> None:
    write_day(tmp_path, {"billing": Group.fine()})
    folder = tmp_path / "pages"
    folder.mkdir()
    assert run("--html", str(folder / "page.html")).exit_code == 0
    # Longer than a name may be.
    assert run("--html", str(folder / ("x" * 300))).exit_code == 1
    assert [each.name for each in folder.iterdir()] == ["page.html"]


def test_one_of_several_clusters_without_runs_in_these_days_is_named_and_left_out(
    tmp_path: Path, run: Callable[..., Result]
) -> None:
    write_day(tmp_path, {"billing": Group.fine().stops(600, 660)})
    whole = json.loads((tmp_path / "a.json").read_text())
    other = json.loads(json.dumps(whole["clusters"][0]).replace("shop", "mall"))
    whole["clusters"].append(other)
    (tmp_path / "b.json").write_text(json.dumps(whole))
    (tmp_path / "history/groups/cluster=mall/dt=2025-01-01").mkdir(parents=True)
    answer = run("--output", "json", config="b.json")
    assert [each["cluster"] for each in json.loads(answer.stdout)] == ["shop"]
    assert answer.stderr.startswith("There is no run of mall from 2026-01-31 00:00 UTC")
