# SPDX-License-Identifier: Apache-2.0
"""`probe.py TREE OUT KINDS INPUT...`: one commit's code over the inputs; its answers as files.

Below OUT: `emf/CLUSTER/RUN.jsonl`, `messages/CLUSTER/RUN.json`, `http/CLUSTER/NUMBER.json`,
`templates/EXAMPLE/STACK.json`, and `store`, the folder that snapshots and reports lie in. A failure
is a file with the error in it. Nothing of this checkout is imported.
"""

from __future__ import annotations

import gzip
import importlib
import io
import json
import logging
import os
import re
import sys
import tempfile
import time
from base64 import b64decode
from collections import deque
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

import boto3
import botocore.handlers
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from moto import mock_aws

TREE, OUT = Path(sys.argv[1]), Path(sys.argv[2])
KINDS, INPUTS = sys.argv[3].split(","), [Path(each) for each in sys.argv[4:]]
BUCKET, REGION = "compared", "eu-west-1"
# The time index's question for the newest timestamp [KIP-734].
NEWEST = -3
# A run is over so many seconds after its scheduled time, and S3 sends its event.
COMPLETE_AFTER = 20.0
# Runs whose objects the notifier and the views find: more makes the stand-in's listings slow.
KEPT = 60
# Clusters with more runs than a day of five minutes has are for the rules, and asked no questions.
MOST_ASKED = 300


@cache
def find(name: str) -> Any:
    """What `module:name` is, wherever in the tree it is by now. Raises LookupError."""
    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ModuleNotFoundError, AttributeError):
        found = list(_defining(attribute))
        same = [each for each in found if each.rpartition(".")[2] == module.rpartition(".")[2]]
        if len(found) != 1 and len(same) != 1:
            raise LookupError(
                f"{name} is not there, and {attribute} in {found or 'no module'}: "
                "say in dev/compare/probe.py what it is called"
            ) from None
        return getattr(importlib.import_module((same if len(same) == 1 else found)[0]), attribute)


def _defining(attribute: str) -> Iterator[str]:
    defined = re.compile(rf"^(class|def) {attribute}\b|^{attribute}\b.* = ", re.MULTILINE)
    for root in map(Path, os.environ["PYTHONPATH"].split(os.pathsep)):
        for path in sorted(root.rglob("*.py")) if root.is_relative_to(TREE) else ():
            if defined.search(path.read_text()):
                yield ".".join(path.relative_to(root).with_suffix("").parts)


class Replay:
    """A source that says what was put down, whatever it is asked for by name."""

    def __init__(self, folder: Path) -> None:
        self._read = ["topic_partitions", "group_partitions", "groups"]
        self._tables = {name: _by_run(folder / f"{name}.parquet") for name in self._read}
        logs = folder / "logs.parquet"
        self._logs = _logs(logs) if logs.exists() else {}
        self._run: dict[str, Any] = {}
        self._seen: dict[tuple[str, int], Any] = {}
        self._number = 0

    def load(self, number: int, run: dict[str, Any]) -> None:
        """What the next read is."""
        self._number, self._run = number, run

    def names(self, dataset: str, column: str) -> list[str]:
        """All names that the runs have in a column."""
        tables = self._tables[dataset].values()
        return sorted({name for table in tables for name in table[column].to_pylist() if name})

    def read(self, _request: Any, _deadline: float) -> Any:
        """The reading, or the error that the brokers ended in."""
        if "error" in self._run:
            raise find("kafka_lag.errors:SourceError")(self._run["error"])
        tables = {name: self._tables[name][self._number] for name in self._read}
        seen = tables["topic_partitions"].to_pylist()
        self._seen = {(row["topic"], row["partition_id"]): row for row in seen}
        problem = find("kafka_lag.lag.model:Problem")
        rest: dict[str, Any] = {
            name: value if isinstance(value, dict) else frozenset(map(_hashable, value))
            for name, value in self._run.items()
            if name not in ("taken_at", "cold", "problems")
        }
        rest["problems"] = tuple(problem(*each) for each in self._run["problems"])
        reading = find("kafka_lag.lag.model:ClusterReading")
        known = {n: value for n, value in rest.items() if n in reading.__dataclass_fields__}
        return reading(**{name: _frame(table) for name, table in tables.items()}, **known)

    def look_up(self, requests: Any, _deadline: float) -> Any:
        """What the time index of that run has for whatever times are asked."""
        places = list(
            zip(
                requests.partitions.columns["topic"].to_list(),
                requests.partitions.columns["partition_id"].values.tolist(),
                strict=True,
            )
        )
        answers = [self._answer(*pair) for pair in zip(places, requests.times, strict=True)]
        found, none, offsets, times = zip(*answers, strict=True) if answers else ((),) * 4
        return find("kafka_lag.lag.time_index:LookupResults")(
            *(np.array(each, bool) for each in (found, none)),
            *(np.array(each, np.int64) for each in (offsets, times)),
        )

    def _answer(self, place: tuple[str, int], time: int) -> tuple[bool, bool, int, int]:
        row = self._seen.get(place)
        if row is None or row["unread_reason"] is not None or not self._logs:
            return False, False, 0, 0
        empty = np.zeros(0, np.int64)
        offsets, times = self._logs.get((place[0], row["topic_id"], place[1]), (empty, empty))
        first, last = np.searchsorted(offsets, [row["start_offset"], row["end_offset"]])
        times = times[first:last]
        later = times >= (times.max(initial=0) if time == NEWEST else time)
        if not later.any():
            return False, True, 0, 0
        at = int(np.argmax(later))
        return True, False, int(offsets[first + at]), int(times[at])

    def not_responding(self) -> tuple[Any, ...]:
        """Nobody: which brokers were lost is in the reading."""
        return ()


class Quiet:
    """Warnings of a run, which are no public interface."""

    def warning(self, message: str, /) -> None:
        """Nothing."""

    info = warning


def _by_run(path: Path) -> dict[int, Any]:
    whole = pq.read_table(path)
    numbers = whole["run"].to_numpy()
    edges = np.searchsorted(numbers, np.arange(int(numbers.max(initial=-1)) + 2))
    rest = whole.drop_columns(["run"])
    return {n: rest.slice(a, b - a) for n, (a, b) in enumerate(pairwise(edges.tolist()))}


def _frame(table: Any) -> Any:
    column, strings = find("kafka_lag.lag.columns:Column"), find("kafka_lag.lag.columns:Strings")
    columns = {}
    for name in table.column_names:
        array = table[name].combine_chunks()
        if pa.types.is_integer(array.type) or pa.types.is_floating(array.type):
            values = array.fill_null(0).to_numpy(zero_copy_only=False)
            columns[name] = column(values, np.asarray(array.is_valid()))
        else:
            columns[name] = strings.of(map(_hashable, array.to_pylist()))
    return find("kafka_lag.lag.frame:Frame").of(columns)


def _logs(path: Path) -> dict[Any, Any]:
    table = pq.read_table(path)
    keys = [table[name].to_pylist() for name in ("topic", "topic_id", "partition_id")]
    rows = list(zip(*keys, strict=True))
    offsets, times = table["offset"].to_numpy(), table["timestamp"].to_numpy()
    edges = [at for at in range(len(rows)) if at == 0 or rows[at] != rows[at - 1]]
    return {rows[a]: (offsets[a:b], times[a:b]) for a, b in pairwise([*edges, len(rows)])}


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class Now:
    """The time of day that the commit's code sees, in seconds."""

    seconds = 0.0


def replay(folder: Path, sent: list[Any], topic: str) -> None:
    """A cluster's runs by this commit's collector, then its messages and answers."""
    described = json.loads((folder / "runs.json").read_text())
    document, runs = described["document"], described["runs"]
    settings = find("kafka_lag.settings:settings_of")(
        find("kafka_lag_cdk.config.document:normalised")(document)
    )
    cluster, source, stream = document["cluster"], Replay(folder), io.StringIO()
    store = find("kafka_lag.snapshots.store:FolderStore")(OUT / "store")
    emf = find("kafka_lag.sinks.emf:EmfSink")(stream)
    sink = find("kafka_lag.sinks.metric_sets:ConfiguredSink")(emf, settings.levels)
    make = find("kafka_lag.collector:Collector")
    bucket, collector = Bucket(cluster), None
    every = max(1, len(runs) // MOST_ASKED)
    for number, run in enumerate(runs):
        Now.seconds = run["taken_at"] / 1_000 + COMPLETE_AFTER
        if collector is None or run["cold"]:
            # The time that a run takes is no difference.
            collector = make(settings, source, store, [sink], Quiet(), lambda: 0.0)
        source.load(number, run)
        with failures("emf", cluster, run["taken_at"]):
            collector.run(run["taken_at"])
        save(stream.getvalue(), "emf", cluster, f"{run['taken_at']}.jsonl")
        stream.seek(stream.truncate(0))
        bucket.put_new()
        if "messages" in KINDS and number % every == 0:
            notify(bucket, run["taken_at"], topic)
            save(json.dumps(sent, default=str), "messages", cluster, f"{run['taken_at']}.json")
            sent.clear()
    if "http" in KINDS and every == 1:
        groups = source.names("groups", "consumer_group")
        for number, request in enumerate(
            requests(cluster, groups, source.names("topic_partitions", "topic"))
        ):
            save(json.dumps(answer(request)), "http", cluster, f"{number:04}.json")


class failures:  # noqa: N801 - reads as a statement
    """What ends a step of a run is its result."""

    def __init__(self, kind: str, cluster: str, taken_at: int) -> None:
        self._place = kind, cluster, f"{taken_at}-failed.json"

    def __enter__(self) -> None:
        """Nothing to do."""

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> bool:
        if isinstance(error, find("kafka_lag.errors:ReporterError")):
            save(json.dumps(f"{type(error).__name__}: {error}"), *self._place)
            return True
        return False


class Bucket:
    """A cluster's newest objects where the handlers read them."""

    def __init__(self, cluster: str) -> None:
        self._cluster, self._keys = f"cluster={quote(cluster, safe='')}", deque[str]()
        self._seen: set[Path] = set()
        self._client: Any = boto3.client("s3")

    def put_new(self) -> None:
        """Uploads what a run has left, and removes the oldest."""
        if not {"messages", "http"} & set(KINDS):
            return
        # The newest hour's folder and the one before have all that is new.
        for dataset in (OUT / "store" / "snapshots").glob(f"*/{self._cluster}"):
            for hour in sorted(dataset.glob("*/*"))[-2:]:
                for path in sorted(set(hour.iterdir()) - self._seen):
                    self._seen.add(path)
                    self._keys.append(str(path.relative_to(OUT / "store")))
                    body = path.read_bytes()
                    self._client.put_object(Bucket=BUCKET, Key=self._keys[-1], Body=body)
        while len(self._keys) > 3 * KEPT:
            self._client.delete_object(Bucket=BUCKET, Key=self._keys.popleft())

    def newest(self, dataset: str, taken_at: int) -> str | None:
        """The key of the run's object, None where it left none."""
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(taken_at / 1_000))
        wanted = (key for key in reversed(self._keys) if key.split("/")[1] == dataset)
        return next((key for key in wanted if stamp in key), None)


def notify(bucket: Bucket, taken_at: int, topic: str) -> None:
    """The event that S3 sends of a run's groups."""
    key = bucket.newest("groups", taken_at)
    if key is None:
        return
    os.environ |= {"KAFKA_LAG_STATUS_TOPIC": topic, "KAFKA_LAG_EVENT_BUS": "status"}
    detail = {"bucket": {"name": BUCKET}, "object": {"key": key}}
    event = {"detail-type": "Object Created", "source": "aws.s3", "detail": detail}
    with failures("messages", key.split("/")[2], taken_at):
        find("kafka_lag.notify_status:handler")(event, Context())


class Context:
    """What handlers ask of a Lambda context."""

    function_name = aws_request_id = "compared"
    memory_limit_in_mb = 512
    invoked_function_arn = "arn:aws:lambda:eu-west-1:111122223333:function:compared"

    def get_remaining_time_in_millis(self) -> int:
        """A minute, always."""
        return 60_000


def requests(cluster: str, groups: list[str], topics: list[str]) -> list[dict[str, Any]]:
    """Requests about each group and topic, of each kind, well made and not."""
    v3, page = f"/v3/kafka/{cluster}", f"/cluster/{cluster}"
    paths = [
        *("/burrow/admin", "/burrow/admin/ready", "/v3/kafka", "/v3/config", "/metrics", "/"),
        *(v3, f"{v3}/consumer", f"{v3}/topic", f"{v3}/nothing", "/v3/kafka/nowhere/consumer"),
        *("/nothing", "//", "/%00", "/%zz", "/../x", "/v3/kafka/" + "x" * 5_000, page),
    ]
    for name in (quote(each, safe="") for each in [*groups, "nobody"]):
        paths += [f"{v3}/consumer/{name}{rest}" for rest in ("", "/lag", "/status")]
        paths += [f"{page}/group/{name}", f"/metrics?group={name}"]
    for name in (quote(each, safe="") for each in [*topics, "nothing"]):
        paths += [f"{v3}/topic/{name}", f"{v3}/topic/{name}/consumers", f"{page}/topic/{name}"]
    for query in ("level=group", "level=topic", "level=partition", "level=x", "shard=0of4", "x=1"):
        paths += [f"/metrics?{query}", f"/metrics?{query}&cluster={cluster}"]
    for query in ("q=a", "status=ERR", "status=OK", "sort=lag", "sort=-lag", "sort=x", "page=2"):
        paths += [f"/?{query}", f"{page}/group/{quote(groups[0], safe='')}?{query}"]
    some = paths[4:8]
    ways: list[dict[str, Any]] = [{"path": path} for path in paths]
    ways += [{"path": path, "method": method} for path in some for method in ("HEAD", "POST")]
    ways += [{"path": path, "headers": {"accept-encoding": "gzip"}} for path in some]
    return ways + [{"path": path, "signed": False} for path in some]


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """The request, and its answer with the body unpacked."""
    os.environ |= {"KAFKA_LAG_BUCKET": BUCKET, "KAFKA_LAG_AUTH": "iam"}
    path, _, query = request["path"].partition("?")
    http = {"method": request.get("method", "GET"), "path": path, "sourceIp": "192.0.2.1"}
    iam = {"iam": {"userArn": "arn:aws:iam::111122223333:user/grafana"}}
    context = {"stage": "$default", "requestId": "compared", "http": http}
    event = {
        "version": "2.0",
        "rawPath": path,
        "rawQueryString": query,
        "headers": {"host": "x.lambda-url.eu-west-1.on.aws", **request.get("headers", {})},
        "requestContext": {**context, "authorizer": iam}
        if request.get("signed", True)
        else context,
        "isBase64Encoded": False,
    }
    try:
        found = dict(find("kafka_lag.serve_lag:handler")(event, Context()))
    except Exception as error:  # noqa: BLE001 - whatever ends the function is its answer
        return {"request": request, "raised": f"{type(error).__name__}: {error}"}
    body = found.pop("body", "") or ""
    raw = b64decode(body) if found.get("isBase64Encoded") else body.encode()
    unpacked = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    return {"request": request, **found, "body": unpacked.decode(errors="backslashreplace")}


def report(dates: list[str], sent: list[Any], topic: str) -> None:
    """The days' reports, and the summary that was sent."""
    place = str(OUT / "store")
    words = ["--input", place, "--output", place, "--date", dates[0], "--until", dates[-1]]
    words += ["--topic-arn", topic, "--summary", "always"]
    code = find("kafka_lag_report.daily_report:main")(words)
    save(json.dumps({"exit code": code, "sent": sent}, default=str), "reports", "summary.json")
    sent.clear()


def templates() -> None:
    """The stacks of each example, synthesised in process with a package that is nobody's."""
    from aws_cdk import App  # noqa: PLC0415 - loading the CDK takes seconds, and starts Node

    context = json.loads((TREE / "cdk.json").read_text())["context"]
    context.pop("msk-lag-reporter", None)
    examples = TREE / "examples"
    for path in sorted([*examples.glob("*.json"), *examples.glob("*.toml")]):
        with tempfile.TemporaryDirectory() as place:
            package = Path(place, "package")
            package.mkdir()
            (package / "code.py").write_text("# Whatever a function holds.\n")
            app = App(context=context, outdir=str(Path(place, "out")))
            read = find("kafka_lag_cdk.config.reading:read")
            find("kafka_lag_cdk.stacks:stacks_of")(app, read(path.name, path.parent), package)
            for stack in app.synth().stacks:
                name = f"{stack.stack_name}@{stack.environment.region}.json"
                save(json.dumps(stack.template), "templates", path.stem, name)


def save(text: str, *place: str) -> None:
    """Puts down a part of the answers, unless there is nothing in it."""
    if text not in ("", "[]") and place[0] in KINDS:
        path = OUT.joinpath(*(quote(each, safe="=@") for each in place))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def stand_in(listen: Callable[..., None]) -> str:
    """A bucket, a bus, and a topic whose ARN is returned; `listen` hears of what is sent."""
    os.environ |= {
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    os.environ.pop("AWS_PROFILE", None)
    for operation in ("sns.Publish", "sns.PublishBatch", "events.PutEvents"):
        name = f"provide-client-params.{operation}"
        botocore.handlers.BUILTIN_HANDLERS.append((name, listen))
    s3: Any = boto3.client("s3")
    s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
    boto3.client("events").create_event_bus(Name="status")
    return str(boto3.client("sns").create_topic(Name="status")["TopicArn"])


def main() -> None:
    """All kinds, in the order of the inputs' times."""
    logging.disable(logging.CRITICAL)
    if "templates" in KINDS:
        templates()
    if KINDS == ["templates"]:
        return
    # Before the commit's modules are imported, which may keep the function.
    time.time = lambda: Now.seconds
    sent: list[Any] = []
    with mock_aws():
        topic = stand_in(lambda params, model, **_: sent.append({model.name: dict(params)}))
        for folder in INPUTS:
            replay(folder, sent, topic)
        if "reports" in KINDS:
            report(os.environ["COMPARED_DATES"].split(), sent, topic)


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    # Threads of Spark and Node must not keep the process.
    os._exit(0)
