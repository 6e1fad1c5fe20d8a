# SPDX-License-Identifier: Apache-2.0
"""The programs: pinned versions, the configuration that their own documentation recommends, and
what their metrics are called.

A program is the executable `.local/truth/NAME-VERSION/NAME`, built or installed as its own
documentation says: nothing of it is in this project, nor a script that would build it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from dev.kafka.node.settings import HOST
from dev.truth.exposition import Series
from kafka_lag.brokers.access import CLIENT_ID

PROGRAMS = Path(__file__).parents[2] / ".local" / "truth"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a program is to connect and to listen; a folder of its own, empty."""

    bootstrap: str
    port: int
    folder: Path

    @property
    def servers(self) -> list[str]:
        """host:port of each broker."""
        return self.bootstrap.split(",")


@dataclass(frozen=True, slots=True)
class Start:
    """Arguments behind the executable, variables, and files of the folder by name."""

    arguments: Sequence[str] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Program:
    """`interval`: seconds between its reads of the brokers; 0: it reads when it is scraped.

    `age` is null where it has no time lag. `recommended` names where the configuration is from.
    `installed` is what it is called below `.local/truth`, where another name is not its own.
    """

    name: str
    version: str
    home: str
    client_id: str
    interval: float
    recommended: str
    start: Callable[[Place], Start]
    lag: Series
    age: Series | None
    path: str = "/metrics"
    command: tuple[str, ...] = ()
    installed: str = ""

    @property
    def file(self) -> Path:
        """Its executable, below PROGRAMS."""
        name = self.installed or self.name
        return Path(f"{name}-{self.version}", name)

    def executable(self, folder: Path = PROGRAMS) -> list[str]:
        """What starts it; an empty list where it is not here."""
        if self.command:
            return [*self.command]
        return [str(folder / self.file)] if (folder / self.file).is_file() else []


def _ours(place: Place) -> Start:
    listen = ["--listen", f"{HOST}:{place.port}", "--state", str(place.folder / "state")]
    return Start(["serve", "--bootstrap-servers", place.bootstrap, "--interval", "15", *listen])


def _kminion(place: Place) -> Start:
    return Start(
        variables={
            "KAFKA_BROKERS": place.bootstrap,
            "EXPORTER_HOST": HOST,
            "EXPORTER_PORT": str(place.port),
        }
    )


def _kafka_exporter(place: Place) -> Start:
    servers = [f"--kafka.server={each}" for each in place.servers]
    return Start([*servers, f"--web.listen-address={HOST}:{place.port}"])


_BURROW = """\
[client-profile.profile]
kafka-version="2.8.0"
client-id="burrow"

[cluster.local]
client-profile="profile"
class-name="kafka"
servers={servers}
topic-refresh=60
offset-refresh=30
groups-reaper-refresh=30

[consumer.local]
class-name="kafka"
cluster="local"
client-profile="profile"
servers={servers}
group-denylist="^(console-consumer-|python-kafka-consumer-).*$"
group-allowlist=""

[httpserver.default]
address="{address}"
"""


def _burrow(place: Place) -> Start:
    address = f"{HOST}:{place.port}"
    text = _BURROW.format(servers=json.dumps(place.servers), address=address)
    return Start(["--config-dir", str(place.folder)], files={"burrow.toml": text})


def _klag(place: Place) -> Start:
    return Start(
        variables={
            "KAFKA_BOOTSTRAP_SERVERS": place.bootstrap,
            "METRICS_REPORTER": "prometheus",
            "HTTP_PORT": str(place.port),
            "KAFKA_CLIENT_ID": "klag",
        }
    )


_KLAG_EXPORTER = """\
[exporter]
poll_interval = "30s"
http_port = {port}
http_host = "{host}"
granularity = "partition"

[exporter.timestamp_sampling]
enabled = true
mode = "{mode}"
rate_history_samples = 5
rate_history_max_age = "10m"
rate_min_msgs_per_sec = 0.01
cache_ttl = "60s"
max_concurrent_fetches = 10
fetch_timeout = "5s"
skip_data_loss_partitions = false

[exporter.otel]
enabled = false

[[clusters]]
name = "truth"
bootstrap_servers = "{bootstrap}"
group_whitelist = [".*"]
group_blacklist = []
topic_whitelist = [".*"]
topic_blacklist = ["^__.*"]

[clusters.consumer_properties]
"client.id" = "{client}"
"""


def _klag_exporter(mode: str, client: str) -> Callable[[Place], Start]:
    def start(place: Place) -> Start:
        text = _KLAG_EXPORTER.format(
            port=place.port, host=HOST, bootstrap=place.bootstrap, mode=mode, client=client
        )
        return Start(["--config", "config.toml"], files={"config.toml": text})

    return start


OURS = Program(
    "kafka-lag",
    "",
    "this project",
    CLIENT_ID,
    15.0,
    "docs/exporter.md: `--interval 15`",
    _ours,
    Series("kafka_consumergroup_lag", "consumergroup", "topic", "partition"),
    Series("kafka_lag_partition_time_lag_seconds", "consumergroup", "topic", "partition"),
    "/metrics?level=partition",
    (str(Path(sys.executable).with_name("kafka-lag")),),
)
_KLAG_EXPORTER_BY_RATE = Program(
    "klag-exporter",
    "0.1.29",
    "github.com/softwaremill/klag-exporter",
    "klag-exporter",
    30.0,
    "README.md, Configuration: its defaults",
    _klag_exporter("rate", "klag-exporter"),
    Series("kafka_consumergroup_group_lag", "group", "topic", "partition"),
    Series("kafka_consumergroup_group_lag_seconds", "group", "topic", "partition"),
)
RIVALS = (
    Program(
        "kminion",
        "2.3.5",
        "github.com/redpanda-data/kminion",
        "kminion",
        0.0,
        "docs/reference-config.yaml, its defaults",
        _kminion,
        Series(
            "kminion_kafka_consumer_group_topic_partition_lag",
            "group_id",
            "topic_name",
            "partition_id",
        ),
        None,
    ),
    Program(
        "kafka_exporter",
        "1.9.0-15-g953e2f1",
        "github.com/danielqsj/kafka_exporter",
        "kafka_exporter",
        0.0,
        "README.md, its defaults",
        _kafka_exporter,
        Series("kafka_consumergroup_lag", "consumergroup", "topic", "partition"),
        None,
    ),
    Program(
        "burrow",
        "1.9.5",
        "github.com/linkedin/Burrow",
        "burrow",
        30.0,
        "docker-config/burrow.toml without ZooKeeper, and its default version of Kafka, 2.8.0",
        _burrow,
        Series("burrow_kafka_consumer_partition_lag", "consumer_group", "topic", "partition"),
        None,
    ),
    Program(
        "klag",
        "0.2.6",
        "github.com/themoah/klag",
        "klag",
        60.0,
        "klag.dev, quick start: its defaults",
        _klag,
        Series("klag_consumer_lag", "consumer_group", "topic", "partition"),
        Series("klag_consumer_lag_ms", "consumer_group", "topic", None, scale=0.001),
    ),
    _KLAG_EXPORTER_BY_RATE,
    replace(
        _KLAG_EXPORTER_BY_RATE,
        name="klag-exporter (messages)",
        client_id="klag-exporter-messages",
        recommended='README.md, Time Lag Accuracy: `mode = "message"`, for exact times',
        start=_klag_exporter("message", "klag-exporter-messages"),
        installed="klag-exporter",
    ),
)
# Wanted in the table, and the reason why it is not in it.
LEFT_OUT = {
    "Datadog's kafka_consumer": "its package on PyPI is an empty one that holds the name",
    "seglo's kafka-lag-exporter": "archived in 2024",
}
