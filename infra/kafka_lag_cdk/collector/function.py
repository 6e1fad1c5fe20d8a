# SPDX-License-Identifier: Apache-2.0
"""The Lambda function: code that all clusters share, configuration as a small layer beside it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from aws_cdk import Duration
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from kafka_lag import contract
from kafka_lag_cdk.collector.brokers import BootstrapServers
from kafka_lag_cdk.collector.network import CollectorNetwork
from kafka_lag_cdk.collector.role import collector_role, deny_interfaces
from kafka_lag_cdk.config.cluster import CA_FILE, Cluster
from kafka_lag_cdk.config.types import is_token
from kafka_lag_cdk.findings import tested_runtime
from kafka_lag_cdk.log_groups import make_log_group

_RUNTIMES = {"3.13": lambda_.Runtime.PYTHON_3_13, "3.14": lambda_.Runtime.PYTHON_3_14}
_ARCHITECTURES = {
    "arm64": lambda_.Architecture.ARM_64,
    "x86_64": lambda_.Architecture.X86_64,
}

_FOLDER, _DOCUMENT = "kafka-lag", "config.json"

# A run ends before the next begins; its deadline, 45 s unless told otherwise, is well within.
_TIMEOUT = Duration.seconds(55)
# Lambda keeps no event for less.
_EVENT_AGE = Duration.seconds(60)


class CollectorFunction(Construct):
    """`function` and its `log_group`, in the brokers' VPC, with rights of its own.

    The keys are those that encrypt `bucket` and the log, None where they are AWS's own.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: Cluster,
        bucket: str,
        code: lambda_.Code,
        bucket_key_arn: str | None = None,
        log_key_arn: str | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self._bucket_key_arn, self._log_key_arn = bucket_key_arn, log_key_arn
        self.log_group = make_log_group(self, days=cluster.function.log_days, key_arn=log_key_arn)
        self.function = self._made(cluster, bucket, code)
        if cluster.function.python == "3.13":
            tested_runtime(self.function)

    def _made(self, cluster: Cluster, bucket: str, code: lambda_.Code) -> lambda_.Function:
        network = CollectorNetwork(self, "Network", cluster=cluster)
        role = collector_role(
            self,
            cluster=cluster,
            bucket=bucket,
            bucket_key_arn=self._bucket_key_arn,
            log_group=self.log_group,
        )
        function = lambda_.Function(
            self,
            "Function",
            description=f"Consumer lag of {cluster.name}",
            runtime=_RUNTIMES[cluster.function.python],
            architecture=_ARCHITECTURES[cluster.function.architecture],
            code=code,
            handler="kafka_lag.collect_lag.handler",
            layers=[_document_layer(self, cluster)],
            environment=self._environment(cluster, bucket),
            role=role,
            vpc=network.vpc,
            vpc_subnets=network.subnets,
            security_groups=[network.group],
            memory_size=cluster.function.memory_mb,
            timeout=_TIMEOUT,
            log_group=self.log_group,
            reserved_concurrent_executions=1 if cluster.function.alone else None,
            # A minute is reported in its minute or not at all; the next run knows as much.
            retry_attempts=0,
            max_event_age=_EVENT_AGE,
        )
        deny_interfaces(self, role, function.function_arn)
        return function

    def _environment(self, cluster: Cluster, bucket: str) -> dict[str, str]:
        told = {
            contract.ENV_CONFIG: f"/opt/{_FOLDER}/{_DOCUMENT}",
            contract.ENV_BUCKET: bucket,
        }
        if cluster.secret_arn and is_token(cluster.secret_arn):
            told[contract.ENV_SECRET_ID] = cluster.secret_arn
        if cluster.bootstrap_servers is None:
            found = BootstrapServers(
                self, "BootstrapServers", cluster=cluster, log_key_arn=self._log_key_arn
            )
            told[contract.ENV_BOOTSTRAP_SERVERS] = found.servers
        elif cluster.deployed_servers:
            told[contract.ENV_BOOTSTRAP_SERVERS] = ",".join(cluster.bootstrap_servers)
        return told


def _document_layer(scope: Construct, cluster: Cluster) -> lambda_.LayerVersion:
    """A layer of its own, so that a change of settings does not upload the code again."""
    with TemporaryDirectory() as made:
        folder = Path(made, _FOLDER)
        folder.mkdir()
        # In the order it was written: of several expressions the first that fits decides.
        document = cluster.document()
        tokens = [key for key, value in document.items() if is_token(json.dumps(value))]
        if tokens:
            raise ValueError(
                f"{' and '.join(tokens)} of {cluster.name} must be known now: it is written into a "
                "file, where CDK replaces no token"
            )
        text = json.dumps(document, indent=2)
        (folder / _DOCUMENT).write_text(text + "\n")
        if cluster.ca_file:
            shutil.copyfile(cluster.ca_file, folder / CA_FILE)
        # Whoever deploys may have a umask under which Lambda could not read them.
        for path in folder.iterdir():
            path.chmod(0o644)
        folder.chmod(0o755)
        # Copied into the cloud assembly here, before the folder goes.
        return lambda_.LayerVersion(
            scope,
            "Configuration",
            description=f"What the lag collector of {cluster.name} is told",
            code=lambda_.Code.from_asset(made),
        )
