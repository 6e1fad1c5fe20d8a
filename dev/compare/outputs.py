# SPDX-License-Identifier: Apache-2.0
"""Writes the outputs of one commit for the same inputs: `outputs.py TREE OUT KIND...`.

Each commit runs its own copy of this file, because names differ between commits. For each kind it
writes `OUT/KIND.json`: WHAT a value is (a table, a route, a type of resource), WHERE it is (a run
and a row, a request), and the value as a tree. The readings are seven minutes of three real brokers
under faults, and a simulated day with every fault that a report knows. The templates are those of
the examples.
"""

from __future__ import annotations

import io
import json
import logging
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote

import boto3
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from moto import mock_aws

from dev.sim.cases.days import make_everything
from dev.sim.reading import read_sight
from dev.sim.world import Staged
from kafka_lag import contract
from kafka_lag.collector import Collector
from kafka_lag.errors import ReporterError, SourceError
from kafka_lag.lag.columns import Rows
from kafka_lag.lag.frame import Frame
from kafka_lag.lag.model import ClusterReading, Problem, Throttled
from kafka_lag.lag.time_index import NEWEST, LookupResults
from kafka_lag.notify.conditional_objects import S3ConditionalObjects
from kafka_lag.notify.delivery import Channel
from kafka_lag.notify.eventbridge import EventBridgeChannel
from kafka_lag.notify.notifier import Notifier, StoredRuns
from kafka_lag.notify.sns import SnsChannel
from kafka_lag.settings import settings_of
from kafka_lag.sinks.emf import EmfSink
from kafka_lag.sinks.metric_sets import ConfiguredSink
from kafka_lag.snapshots.parquet import from_arrow
from kafka_lag.snapshots.store import FolderStore
from kafka_lag.views.app import answer
from kafka_lag.views.http import Request
from kafka_lag.views.latest_run import Snapshots
from kafka_lag_config.document import normalised
from kafka_lag_report.daily_report import main as write_report

RECORDED = Path(__file__).with_name("recorded")
MIDNIGHT = datetime(2026, 1, 5, tzinfo=UTC)
INTERVAL = 300
# Tables' columns that say whose row it is, as far as one has them.
KEYS = (
    *("cluster", "dt", "dataset", "consumer_group", "topic", "partition_id", "leader", "hour"),
    *("measure", "member_id", "client_id", "client_host", "taken_at"),
)
LOGIN = {"bootstrap_servers": ["nowhere:9096"], "secret_id": "AmazonMSK_compared"}

# A scheduled time, ms UTC, and what the brokers answered, or the error in which the reading ended.
Run: TypeAlias = tuple[int, ClusterReading | str]
# By topic, its id and the partition: offsets and timestamps of all records.
Records: TypeAlias = dict[tuple[str, str, int], tuple[Any, Any]]


class Input(NamedTuple):
    """One cluster: its configuration, its runs, and what its time index knows."""

    document: Mapping[str, Any]
    runs: Iterator[Run]
    records: Records


def read_recorded() -> Input:
    """Returns the recorded runs."""
    recorded = json.loads((RECORDED / "runs.json").read_text())
    tables = {name: pq.read_table(RECORDED / f"{name}.parquet") for name in contract.DATASETS}

    def read(number: int, run: dict[str, Any]) -> Run:
        if "error" in run:
            return run["taken_at"], run["error"]
        known: dict[str, Any] = {
            "problems": tuple(Problem(*each) for each in run.get("problems", ())),
            "hidden_topics": run.get("hidden_topics", {}),
        }
        for name in ("unlisted_groups", "gone_topics", "gone_groups"):
            known[name] = frozenset(run.get(name, ()))
        for name, table in tables.items():
            of_run = table.filter(pc.field("run") == number).drop_columns(["run"])
            types = contract.COLUMNS[name]
            columns = {each: from_arrow(of_run[each], types[each]) for each in of_run.column_names}
            known[name] = Frame.of(columns)
        return run["taken_at"], ClusterReading(**known)

    logs = pq.read_table(RECORDED / "logs.parquet")
    keys = logs.select(["topic", "topic_id", "partition_id"]).to_pylist()
    rows = [tuple(row.values()) for row in keys]
    edges = [at for at in range(len(rows)) if at == 0 or rows[at] != rows[at - 1]]
    offsets, times = logs["offset"].to_numpy(), logs["timestamp"].to_numpy()
    records = {rows[a]: (offsets[a:b], times[a:b]) for a, b in pairwise([*edges, len(rows)])}
    runs = (read(number, run) for number, run in enumerate(recorded["runs"]))
    return Input(recorded["document"], runs, records)


def make_day() -> Input:
    """Returns a day with a known truth and a run every five minutes.

    Its time index answers nothing.
    """
    case = make_everything()
    slas = {f"^{name}$": each.sla_seconds for name, each in case.groups.items()}
    document = {
        **LOGIN,
        "cluster": case.name,
        "interval_seconds": INTERVAL,
        "owner": {"^sla-stalled$": "payments team"},
        "sla_seconds": {pattern: seconds for pattern, seconds in slas.items() if seconds},
        "levels": {"drain_time": True, "members": True, "rebalancing": True},
    }
    world, midnight = Staged(case).world, round(MIDNIGHT.timestamp() * 1_000)

    def runs() -> Iterator[Run]:
        layout = world.layout()
        while world.now < case.warm_up + case.watched:
            world.live_a_minute()
            second = round(world.now - case.warm_up)
            if second >= 0 and second % INTERVAL == 0 and (sight := world.sight()):
                at = midnight + second * 1_000
                yield at, read_sight(layout, sight, at)

    return Input(document, runs(), {})


class Replay:
    """A source that returns recorded readings, whatever it is asked for."""

    def __init__(self, records: Records) -> None:
        self.next: ClusterReading | str = ""
        self._records = records

    def read(self, _request: Any, _deadline: float) -> ClusterReading:
        """Returns the next reading, or raises its recorded error as SourceError."""
        if isinstance(self.next, str):
            raise SourceError(self.next)
        return self.next

    def look_up(self, partitions: Frame, times: Rows, _deadline: float) -> LookupResults:
        """Returns the recorded time index's answers for these partitions and times."""
        results = LookupResults.unanswered(len(times))
        if not self._records or isinstance(self.next, str):
            return results
        names = ("topic", "partition_id", "topic_id", "start_offset", "end_offset")
        columns = [self.next.topic_partitions.columns[name].to_list() for name in names]
        logs = {row[:2]: row[2:] for row in zip(*columns, strict=True)}
        wanted = [partitions.columns[name].to_list() for name in names[:2]]
        for at, place in enumerate(zip(*wanted, strict=True)):
            topic_id, start, end = logs.get(place, (None, None, None))
            offsets, stamps = self._records.get((place[0], topic_id, place[1]), ((), ()))
            if start is None or end is None:
                continue
            first, last = np.searchsorted(offsets, [start, end])
            there = np.asarray(stamps[first:last])
            time = times[at]
            later = there >= (there.max(initial=0) if time == NEWEST else time)
            results.found[at], results.none[at] = later.any(), not later.any()
            if later.any():
                results.offsets[at] = offsets[first + int(np.argmax(later))]
                results.times[at] = there[int(np.argmax(later))]
        return results

    def not_responding(self) -> tuple[Problem, ...]:
        """Returns nothing, because the reading holds the brokers that did not respond."""
        return ()

    def throttled(self) -> Throttled | None:
        """Returns None, because no quota is replayed."""
        return None


class Quiet:
    """Ignores the warnings of a run, because they are not public interface."""

    def warning(self, message: str, /) -> None:
        pass

    info = warning


class Outputs:
    """Saved values by kind, what and where; `sent` are messages since they were last saved."""

    def __init__(self, kinds: Sequence[str], folder: Path) -> None:
        self.kinds, self.folder = kinds, folder
        self._trees: dict[str, Any] = {kind: defaultdict(dict) for kind in kinds}
        self.sent: list[tuple[str, Any]] = []

    def save(self, kind: str, what: str, where: str, value: Any) -> None:
        """Saves a value; a second one at the same place is saved as "again"."""
        if kind in self.kinds:
            values = self._trees[kind][what]
            while where in values:
                where += " again"
            values[where] = opened(value)

    def save_sent(self, kind: str, where: str) -> None:
        """Saves the messages that were sent since the last call."""
        for operation, message in self.sent:
            self.save(kind, operation, where, message)
        self.sent.clear()

    def write(self) -> None:
        """Writes one file per kind."""
        for kind, tree in self._trees.items():
            text = json.dumps(tree, default=str).replace(str(self.folder), "(out)")
            (self.folder / f"{kind}.json").write_text(text)


def opened(value: Any) -> Any:
    """Returns the value with all JSON texts in it parsed."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return opened(json.loads(value))
        except ValueError:
            return value
    if isinstance(value, dict):
        return {str(key): opened(each) for key, each in value.items()}
    return [opened(each) for each in value] if isinstance(value, list) else value


def replay(given: Input, store: FolderStore, outputs: Outputs, topic: str) -> None:
    """Replays a cluster's runs, and saves their outputs, messages, and finally the HTTP answers."""
    settings = settings_of(normalised(given.document))
    cluster, source, stream, taken_at = settings.cluster, Replay(given.records), io.StringIO(), 0
    sink = ConfiguredSink(EmfSink(stream), settings.levels)
    # The time that a run takes is no difference.
    collector = Collector(settings, source, store, [sink], Quiet(), lambda: 0.0)
    channels: list[Channel] = [
        SnsChannel(boto3.client("sns"), topic, chat=True),
        EventBridgeChannel(boto3.client("events"), "status", lambda _: None),
    ]
    objects = S3ConditionalObjects(boto3.client("s3"), "compared")
    runs, clock = StoredRuns(store), lambda: taken_at / 1_000
    notifier = Notifier(channels, runs, objects, Quiet(), clock=clock, owner="compared")
    for taken_at, source.next in given.runs:
        where = f"{cluster} {taken_at}"
        try:
            collector.run(taken_at)
        except ReporterError as error:
            outputs.save("emf", "error", where, str(error))
        for line in stream.getvalue().splitlines():
            save_metrics(outputs, where, json.loads(line))
        stream.seek(stream.truncate(0))
        if "messages" in outputs.kinds:
            notifier.notify({cluster: taken_at})
            outputs.save_sent("messages", where)
    if "http" in outputs.kinds:
        snapshots = Snapshots(store, clock)
        for path in paths(snapshots, cluster, taken_at):
            request = Request.of("GET", *path.partition("?")[::2], {"host": "compared"})
            found = answer(request, snapshots, taken_at)
            body = found.body.decode(errors="backslashreplace")
            value = {"status": found.status, "type": found.content_type, "body": body}
            route = "/".join(request.path.split("/")[:2])
            outputs.save("http", route, path, {**value, "headers": dict(found.headers)})


def save_metrics(outputs: Outputs, where: str, line: dict[str, Any]) -> None:
    """Saves an EMF line, each metric with its value, its unit and its set of dimensions."""
    sets = line["_aws"].pop("CloudWatchMetrics", [])
    names = [name for each in sets for dimensions in each["Dimensions"] for name in dimensions]
    place = ", ".join(f"{name}={line.get(name)}" for name in dict.fromkeys(names))
    for each in sets:
        for metric in each.pop("Metrics"):
            name = metric.pop("Name")
            line[name] = {"value": line.get(name), **metric, "set": each}
    outputs.save("emf", "line", f"{where} {place}", line)


def paths(snapshots: Snapshots, cluster: str, taken_at: int) -> Iterator[str]:
    """Requests about each group and topic, of each kind, well made and not."""
    v3, page = f"/v3/kafka/{cluster}", f"/cluster/{cluster}"
    yield from ("/burrow/admin", "/burrow/admin/ready", "/v3/kafka", "/v3/config", "/metrics", "/")
    yield from (v3, f"{v3}/consumer", f"{v3}/topic", f"{v3}/nothing", "/v3/kafka/nowhere/consumer")
    yield from ("/nothing", "//", "/%00", "/%zz", "/../x", "/v3/kafka/" + "x" * 5_000, page)
    for query in ("level=group", "level=topic", "level=partition", "level=x", "shard=0of4", "x=1"):
        yield from (f"/metrics?{query}", f"/metrics?{query}&cluster={cluster}")
    yield from (
        f"/?{q}" for q in ("q=a", "status=ERR", "status=OK", "sort=-lag", "sort=x", "page=2")
    )
    groups = snapshots.frame(cluster, contract.GROUPS, taken_at).strings("consumer_group")
    topics = snapshots.frame(cluster, contract.TOPIC_PARTITIONS, taken_at).strings("topic")
    for name in (quote(each, safe="") for each in [*groups.categories, "nobody"]):
        yield from (f"{v3}/consumer/{name}{rest}" for rest in ("", "/lag", "/status"))
        yield from (f"{page}/group/{name}", f"{page}/group/{name}?page=2", f"/metrics?group={name}")
    for name in (quote(each, safe="") for each in [*topics.categories, "nothing"]):
        yield from (f"{v3}/topic/{name}", f"{v3}/topic/{name}/consumers", f"{page}/topic/{name}")


def save_files(outputs: Outputs, root: Path) -> None:
    """Snapshots, and a report's tables and pages; Spark names its files anew each time."""
    for path in sorted(path for path in root.rglob("[!._]*") if path.is_file()):
        place = path.relative_to(root)
        kind = "parquet" if place.parts[0] == "snapshots" else "reports"
        if path.suffix != ".parquet":
            outputs.save(kind, path.name, str(place), path.read_text(errors="backslashreplace"))
        elif kind in outputs.kinds:
            where = place.parent if path.name.startswith("part-") else place
            save_table(outputs, kind, str(where), pq.ParquetFile(path).read())


def save_table(outputs: Outputs, kind: str, where: str, table: Any) -> None:
    """Types, order and metadata of a table's columns, and each row by its keys."""
    what = where.split("/")[1]
    types = {
        field.name: str(field.type.value_type if pa.types.is_dictionary(field.type) else field.type)
        for field in table.schema
    }
    metadata = table.schema.metadata or {}
    own = {k.decode(): v.decode() for k, v in metadata.items() if k.startswith(b"kafka_lag")}
    outputs.save(kind, what, f"{where} columns", {"type of": types, "order": list(types), **own})
    keys = [key for key in KEYS if key in types]
    rows = [([str(row[key]) for key in keys], row) for row in table.to_pylist()]
    for key, row in sorted(rows, key=lambda each: each[0]):
        outputs.save(kind, what, f"{where} {', '.join(key)}", row)


def save_templates(outputs: Outputs, tree: Path) -> None:
    """Saves the stacks of each example, synthesised in this process with an empty package."""
    from aws_cdk import App  # noqa: PLC0415 - loading the CDK takes seconds, and starts Node

    from kafka_lag_cdk.stacks import stacks_of  # noqa: PLC0415
    from kafka_lag_config.reading import read  # noqa: PLC0415

    context = json.loads((tree / "cdk.json").read_text())["context"]
    context.pop("msk-lag-reporter", None)
    for path in sorted([*tree.glob("examples/*.json"), *tree.glob("examples/*.toml")]):
        with tempfile.TemporaryDirectory() as place:
            package = Path(place, "package")
            package.mkdir()
            (package / "code.py").write_text("# Whatever a function holds.\n")
            app = App(context=context, outdir=str(Path(place, "out")))
            stacks_of(app, read(path.name, path.parent), package)
            for stack in app.synth().stacks:
                name = f"{path.stem} {stack.stack_name} {stack.environment.region}"
                resources = stack.template.pop("Resources", {})
                outputs.save("templates", "stack", name, stack.template)
                for resource, properties in resources.items():
                    outputs.save("templates", properties["Type"], f"{name} {resource}", properties)


def main(tree: Path, folder: Path, kinds: Sequence[str]) -> None:
    """Writes the outputs of a tree of these kinds."""
    logging.disable(logging.CRITICAL)
    outputs, root = Outputs(kinds, folder), folder / "store"
    if "templates" in kinds:
        save_templates(outputs, tree)
    if set(kinds) - {"templates"}:
        with mock_aws():
            session = boto3.Session("local", "local", region_name="eu-west-1")
            boto3.DEFAULT_SESSION = session
            for event in ("sns.Publish", "sns.PublishBatch", "events.PutEvents"):
                session.events.register(
                    f"provide-client-params.{event}",
                    lambda params, model, **_: outputs.sent.append((model.name, dict(params))),
                )
            here: Any = {"LocationConstraint": "eu-west-1"}
            session.client("s3").create_bucket(Bucket="compared", CreateBucketConfiguration=here)
            session.client("events").create_event_bus(Name="status")
            topic = session.client("sns").create_topic(Name="status")["TopicArn"]
            for given in (make_day(), read_recorded()):
                replay(given, FolderStore(root), outputs, topic)
            if "reports" in kinds:
                place, date = str(root), MIDNIGHT.date().isoformat()
                words = ["--input", place, "--output", place, "--date", date]
                words += ["--topic-arn", topic, "--summary", "always"]
                code = write_report(words, lambda: MIDNIGHT + timedelta(days=2))
                outputs.save("reports", "exit code", date, code)
                outputs.save_sent("reports", date)
            save_files(outputs, root)
    outputs.write()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
