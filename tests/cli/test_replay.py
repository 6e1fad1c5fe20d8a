# SPDX-License-Identifier: Apache-2.0
"""`kafka-lag replay`: the pages of planted days follow from the way the days were made."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
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
from kafka_lag.snapshots.keys import object_key
from kafka_lag.snapshots.parquet import to_parquet
from kafka_lag.snapshots.store import FolderStore
from kafka_lag_cli.replay import replay
from kafka_lag_config.reading import CONTEXT_KEY
from tests.builders import MINUTE
from tests.cli.snapshots import a_group, a_snapshot_of
from tests.golden import Golden

MIDNIGHT = 1_769_817_600_000  # 2026-01-31 00:00 UTC
DAY = "2026-01-31"
MINUTES = 24 * 60
UNKNOWN = float("nan")


def all_day(value: Any, dtype: Any = np.float64) -> np.ndarray[Any, Any]:
    return np.full(MINUTES, value, dtype)


class Group:
    """A group's day, a number a minute: it is well, but for what a test is about."""

    def __init__(self) -> None:
        self.age, self.lag = all_day(2), all_day(10)
        self.status, self.incident = all_day(contract.OK, object), all_day(UNKNOWN)
        self.until_loss, self.tasks = all_day(contract.NO_LOSS_SECONDS), all_day(UNKNOWN)

    def stops(self, begin: int, end: int) -> Group:
        """The age grows by the minute; after ten of these minutes it is ERR."""
        self.age[begin:end] = 60.0 * np.arange(end - begin)
        self.status[begin + 10 : end] = contract.ERR
        self.incident[begin + 10 : end] = MIDNIGHT + begin * MINUTE
        return self

    def needs(self, begin: int, end: int, tasks: int) -> Group:
        """So many tasks are needed."""
        self.tasks[begin:end] = tasks
        return self

    def is_unread(self, begin: int, end: int) -> Group:
        for values in (self.age, self.lag, self.until_loss):
            values[begin:end] = UNKNOWN
        self.status[begin:end] = None
        return self


def write_day(
    state: Path, groups: Mapping[str, Group], no_runs: Collection[int] = (), day: str = DAY
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
                "tasks_needed": _known(group.tasks[minutes]).cast(pa.int32()),
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


class State:
    """A folder of recorded days, and the command on it with the document a.json."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.document("a")

    def write(self, groups: Mapping[str, Group], no_runs: range = range(0), day: str = DAY) -> None:
        write_day(self.folder, groups, no_runs, day)

    def document(self, file: str, **changes: Any) -> None:
        a_document(self.folder / f"{file}.json", **changes)

    def run(self, *arguments: str, config: str = "a") -> Result:
        place = ["--config", str(self.folder / f"{config}.json"), "--state", str(self.folder)]
        days = ["--from", DAY, "--to", DAY]
        return CliRunner().invoke(replay, [*place, *days, *arguments], catch_exceptions=False)

    def json(self, *arguments: str, config: str = "a") -> list[dict[str, Any]]:
        """What a program gets, a cluster each."""
        result = self.run("--output", "json", *arguments, config=config)
        assert result.exit_code == 0, result.output
        found: list[dict[str, Any]] = json.loads(result.stdout)
        return found

    def pages(self, *arguments: str, config: str = "a") -> list[dict[str, Any]]:
        (cluster,) = self.json(*arguments, config=config)
        pages: list[dict[str, Any]] = cluster["pages"]
        return pages


@pytest.fixture
def state(tmp_path: Path) -> State:
    return State(tmp_path)


def at(minute: int) -> str:
    return f"{DAY}T{minute // 60:02}:{minute % 60:02}:00Z"


def test_a_stopped_group_pages_once_three_bad_minutes_are_seen(state: State) -> None:
    state.write({"billing": Group().stops(600, 660)})
    (page,) = state.pages()
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
    }


def changed(column: str, *values: tuple[slice, float]) -> Group:
    """A fine group but for some minutes of one column."""
    group = Group()
    for minutes, value in values:
        getattr(group, column)[minutes] = value
    return group


SLO = {"age_seconds": 300, "target": 99}
BRIEFLY_LATE = [(slice(begin, begin + 3), 301) for begin in (600, 610, 620, 900)]
TWO_STOPS = {"billing": Group().stops(600, 609), "mailer": Group().stops(700, 709)}
LATE = changed("age", (slice(600, 605), 301))


# A day's groups, what the document says beside an alarm on `billing`, and the pages: their alarm,
# group, and the minutes in which they begin and end.
@pytest.mark.parametrize(
    ("groups", "document", "pages"),
    [
        pytest.param({"billing": Group(), "mailer": Group()}, {}, [], id="all are fine"),
        pytest.param(
            {"mailer": Group().stops(600, 660), "billing": Group()},
            {},
            [("any-group", "mailer", 613, 663)],
            id="a group that nobody named",
        ),
        pytest.param(
            # By PromQL. The last value lasts for five minutes, and pages as often after them.
            {"mailer": Group().stops(600, 660).is_unread(640, 650), "billing": Group()},
            {"metrics": "otlp"},
            [("any-group", "mailer", 613, 646), ("any-group", "mailer", 653, 663)],
            id="by OTLP, and a gap",
        ),
        pytest.param(
            {"mailer": Group().stops(600, 660), "billing": Group()},
            {"metrics": "otlp", "hold": 5},
            [("any-group", "mailer", 615, 665)],
            id="by OTLP, after five runs",
        ),
        pytest.param(
            {"mailer": Group().stops(600, 660)}, {"groups": {"deny": "^mailer$"}}, [], id="denied"
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
            {"billing": Group().stops(600, 700).is_unread(640, 643)},
            {},
            [("status", "billing", 613, 703)],
            id="a short gap",
        ),
        pytest.param(
            # Gaps make two bad minutes enough, once the older of them is as old as three.
            {"billing": Group().stops(600, 700).is_unread(640, 660)},
            {},
            [("status", "billing", 613, 646), ("status", "billing", 662, 703)],
            id="a longer gap",
        ),
        pytest.param(
            # 610 and 700 are 10:10 and 11:40: the first is over in its window, the second is not.
            {"billing": Group().stops(610, 640).stops(700, 800), "mailer": Group().stops(700, 760)},
            {"mute": [{"cron": "0 10-11 * * *", "duration": "2h", "groups": "billing"}]},
            [("any-group", "mailer", 713, 763), ("status", "billing", 780, 803)],
            id="mute windows",
        ),
        pytest.param(
            {"billing": Group().stops(1_400, MINUTES)},
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
    state: State,
) -> None:
    state.write(groups)
    state.document("a", **document)
    assert [
        (page["alarm"], page["consumer_group"], page["begin"], page["end"])
        for page in state.pages()
    ] == [(alarm, name, at(begin), end and at(end)) for alarm, name, begin, end in pages]


def test_runs_that_do_not_come_page_by_the_heartbeat(state: State) -> None:
    state.write({"billing": Group()}, no_runs=range(600, 630))
    (page,) = state.pages()
    # The last run, of 599, leaves the five minutes that are looked at once 605 is the newest seen.
    assert (page["alarm"], page["begin"], page["end"]) == ("heartbeat", at(604), at(631))


def test_a_page_is_not_late_by_an_incident_that_was_over_before(state: State) -> None:
    billing = Group().stops(2 * 60, 2 * 60 + 30).stops(12 * 60, 12 * 60 + 30)
    # An incident is not known before its status is held.
    billing.incident[12 * 60 :] = UNKNOWN
    state.write({"billing": billing})
    assert [page["delay_seconds"] for page in state.pages()] == [13 * 60, None]


def test_what_people_read_of_a_replay(state: State, golden: Golden) -> None:
    audit = Group().stops(800, 900).is_unread(840, 845)
    stops = {"billing": Group().stops(600, 609), "mailer": Group().stops(700, 720), "audit": audit}
    state.write(stops | {"=evil\x1b[31m": Group().stops(600, 660)})
    state.write({"billing": Group()}, no_runs=range(60), day="2026-01-30")
    alarms = {"groups": ["billing", "audit"]}
    state.document("a", sla_seconds={"^billing$": 120, "^mailer$": 120}, alarms=alarms)
    state.document("none", alarms={"any_group": False})
    texts = {}
    for name in ("a.json", "none.json"):
        result = state.run(config=name.partition(".")[0])
        assert "\x1b" not in result.output
        text = f"exit code {result.exit_code}\n{result.output}".replace(str(state.folder), "/here")
        texts[name] = "\n".join(line.rstrip() for line in text.splitlines() if line.strip())
    golden.holds_cases("replay.txt", texts)
    assert "'=evil" in state.run("--output", "csv").stdout


def test_days_before_the_first_run_are_neither_missed_nor_calm(state: State) -> None:
    state.write({"billing": Group().stops(600, 660)}, no_runs=range(120))
    (cluster,) = state.json("--from", "2026-01-02")
    assert cluster["from"] == at(120)
    assert [(page["alarm"], page["begin"]) for page in cluster["pages"]] == [("status", at(613))]
    assert cluster["pages_a_week"] == pytest.approx(7 * 24 / 22)


def test_snapshots_count_where_there_is_no_history(state: State) -> None:
    store = FolderStore(state.folder)
    for minute in range(600, 620):
        taken_at = MIDNIGHT + minute * MINUTE
        status = contract.OK if minute < 610 else contract.ERR
        group = a_group("billing", status=status, members=1, taken_at=taken_at)
        key = object_key(contract.GROUPS, "shop", taken_at)
        data = to_parquet(a_snapshot_of(group, at=taken_at).groups, contract.GROUPS)
        store.write_once(key, data)
    pages = [page for page in state.pages() if page["alarm"] != "heartbeat"]
    assert [(page["alarm"], page["begin"]) for page in pages] == [("status", at(613))]


def test_a_cluster_that_cdk_json_lacks_is_an_error_that_names_the_file(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = json.loads((state.folder / "a.json").read_text())
    (state.folder / "cdk.json").write_text(json.dumps({"context": {CONTEXT_KEY: document}}))
    monkeypatch.chdir(state.folder)
    answer = CliRunner().invoke(replay, ["--cluster", "nope"])
    assert answer.exit_code == 2
    assert "cdk.json has no cluster nope: it has shop." in answer.stderr


def test_one_of_several_clusters_without_runs_in_these_days_is_named_and_left_out(
    state: State,
) -> None:
    state.write({"billing": Group().stops(600, 660)})
    whole = json.loads((state.folder / "a.json").read_text())
    whole["clusters"].append(json.loads(json.dumps(whole["clusters"][0]).replace("shop", "mall")))
    (state.folder / "a.json").write_text(json.dumps(whole))
    (state.folder / "history/groups/cluster=mall/dt=2025-01-01").mkdir(parents=True)
    answer = state.run("--output", "json")
    assert [each["cluster"] for each in json.loads(answer.stdout)] == ["shop"]
    assert answer.stderr.startswith("There is no run of mall from 2026-01-31 00:00 UTC")
