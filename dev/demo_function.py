# SPDX-License-Identifier: Apache-2.0
"""The deployed function as the demo has it: its environment, its secret, its schedule, its log."""

from __future__ import annotations

import json
import os
import time
from contextlib import redirect_stdout
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dev.aws import AwsStandIn
from dev.kafka import KafkaCluster
from kafka_lag import collect_lag, contract
from kafka_lag_config.document import normalised

CLUSTER, BUCKET, SECRET = "demo", "msk-lag-demo", "AmazonMSK_demo_monitor"

_TIMEOUT_MS = 55_000


class _Context:
    """What the collector asks of a Lambda context."""

    def get_remaining_time_in_millis(self) -> int:
        return _TIMEOUT_MS


class LocalFunction:
    """`collect_lag.handler` called as its schedule would, stdout going to the file `output`."""

    def __init__(self, cluster: KafkaCluster, aws: AwsStandIn, folder: Path, interval: int) -> None:
        self.calls = 0
        self.slowest = 0.0
        self.output = folder / "collect_lag.log"
        # A warm function keeps its stdout, so the file stays open as long as this one lives.
        self._log = self.output.open("w")
        self._interval = interval
        self._due = 0
        monitor = cluster.users["monitor"]
        login = {"username": monitor.username, "password": monitor.password}
        aws.client("secretsmanager").create_secret(Name=SECRET, SecretString=json.dumps(login))
        aws.client("s3").create_bucket(
            Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"}
        )
        config = folder / "config.json"
        config.write_text(json.dumps(_document(cluster, interval), indent=2))
        os.environ |= aws.environment()
        os.environ |= {contract.ENV_CONFIG: str(config), contract.ENV_BUCKET: BUCKET}

    def call_on_time(self) -> int:
        """Waits for the next interval, calls the handler, returns the scheduled time, ms UTC."""
        now = int(time.time())
        self._due = max(self._due + self._interval, now - now % self._interval)
        time.sleep(max(0.0, self._due - time.time()))
        scheduled = datetime.fromtimestamp(self._due, UTC).isoformat().replace("+00:00", "Z")
        event = {contract.EVENT_CLUSTER: CLUSTER, contract.EVENT_SCHEDULED_TIME: scheduled}
        began = time.monotonic()
        with redirect_stdout(self._log):
            collect_lag.handler(event, _Context())
        self.calls += 1
        self.slowest = max(self.slowest, time.monotonic() - began)
        return self._due * 1000

    def a_metric(self) -> str:
        """The last line of embedded metrics that the function wrote for a group."""
        self._log.flush()
        lines = self.output.read_text().splitlines()
        metrics = [line for line in lines if contract.DIMENSION_GROUP in line and '"_aws"' in line]
        return metrics[-1] if metrics else "none yet"

    def close(self) -> None:
        """Closes the file that took the function's stdout."""
        self._log.close()


def _document(cluster: KafkaCluster, interval: int) -> Any:
    source = {
        "cluster": CLUSTER,
        "bootstrap_servers": cluster.bootstrap("SASL_SSL").split(","),
        "cafile": str(cluster.cafile),
        "secret_id": SECRET,
        "interval_seconds": interval,
        # Written in transactions, whose last marker nobody reads: caught up means a lag of 1.
        "allowed_lag": {"transactional": 1},
    }
    return normalised(source)
