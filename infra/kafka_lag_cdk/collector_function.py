# SPDX-License-Identifier: Apache-2.0
"""The collector's Lambda function, what it may do, and when it runs.

Its code is one package for all clusters, its configuration a small layer beside it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from aws_cdk import ArnFormat, Duration, Fn, Stack, Token
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from kafka_lag import contract
from kafka_lag_cdk.acknowledgements import acknowledge_function, acknowledge_strict
from kafka_lag_cdk.broker_lookup import BootstrapServers
from kafka_lag_cdk.lambdas import ARCHITECTURES, RUNTIMES, make_log_group
from kafka_lag_cdk.network import CollectorNetwork
from kafka_lag_cdk.props import Iam, WatchedCluster
from kafka_lag_cdk.rights import (
    INLINE,
    Right,
    allow,
    listing,
    publishing_metrics,
    role_with,
    using_key,
    writing,
)
from kafka_lag_config.document import CLOUDWATCH
from kafka_lag_config.facts import CA_FILE, ClusterFacts

# What Secrets Manager puts behind a secret's name.
_SIX = "-??????"
_INTERFACES = (
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
)
_TOPICS = ("kafka-cluster:DescribeTopic", "kafka-cluster:DescribeTopicDynamicConfiguration")

# What Scheduler puts in its place [EventBridge Scheduler user guide, context attributes].
_SCHEDULED_TIME = "<aws.scheduler.scheduled-time>"

# A step of 60 is beyond what the field of minutes may hold.
_MINUTES = {1: "*", 60: "0"}

# A run that was missed is not made up for: the next one sees the same brokers a minute later.
_NO_RETRIES = scheduler.CfnSchedule.RetryPolicyProperty(
    maximum_event_age_in_seconds=60, maximum_retry_attempts=0
)

_FOLDER, _DOCUMENT = "kafka-lag", "config.json"
# Its keys that the environment has where a deploy alone knows them.
_BY_ENVIRONMENT = ("bootstrap_servers", "secret_id")

# A run ends before the next begins; its deadline, 45 s by default, is well within.
_TIMEOUT = Duration.seconds(55)
# Lambda keeps no event for less.
_EVENT_AGE = Duration.seconds(60)


class CollectorFunction(Construct):
    """`function` and its `log_group`, in the brokers' VPC, with rights of its own.

    The keys are those that encrypt `bucket`, a name, and the log, None where they are AWS's own.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: WatchedCluster,
        facts: ClusterFacts,
        bucket: str,
        code: lambda_.Code,
        bucket_key_arn: str | None = None,
        log_key_arn: str | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self._cluster, self._facts, settings = cluster, facts, facts.settings.function
        self.log_group = make_log_group(self, days=settings.log_days, key_arn=log_key_arn)
        network = CollectorNetwork(self, "Network", cluster=cluster, facts=facts)
        bucket_arn = f"arn:{Stack.of(scope).partition}:s3:::{bucket}"
        role = role_with(
            self,
            (*self._rights(bucket_arn), *using_key(bucket_key_arn, bucket_arn, writes=True)),
            service="lambda.amazonaws.com",
            description=f"Lag collector of {cluster.name}",
        )
        self.function = lambda_.Function(
            self,
            "Function",
            description=f"Consumer lag of {cluster.name}",
            runtime=RUNTIMES[settings.python],
            architecture=ARCHITECTURES[settings.architecture],
            code=code,
            handler="kafka_lag.collect_lag.handler",
            layers=[_document_layer(self, facts)],
            environment=self._environment(bucket, log_key_arn),
            role=role,
            vpc=cluster.vpc,
            vpc_subnets=network.subnets,
            security_groups=[network.group],
            memory_size=settings.memory_mb,
            timeout=_TIMEOUT,
            log_group=self.log_group,
            reserved_concurrent_executions=settings.reserved_concurrency,
            # A minute is reported in its minute or not at all; the next run knows as much.
            retry_attempts=0,
            max_event_age=_EVENT_AGE,
        )
        acknowledge_function(self.function, is_newest=settings.python == "3.14")
        self._deny_interfaces(role)

    def _environment(self, bucket: str, log_key_arn: str | None) -> dict[str, str]:
        variables = {
            contract.ENV_CONFIG: f"/opt/{_FOLDER}/{_DOCUMENT}",
            contract.ENV_BUCKET: bucket,
            **contract.MEMORY_SETTINGS,
            **contract.THREAD_SETTINGS,
        }
        reach = self._facts.reach
        if reach.secret_arn and Token.is_unresolved(reach.secret_arn):
            variables[contract.ENV_SECRET_ID] = reach.secret_arn
        servers = ",".join(reach.servers)
        if not servers:
            servers = BootstrapServers(
                self,
                "BootstrapServers",
                name=self._facts.name,
                arn=reach.arn or "",
                way_in=reach.way_in,
                log_key_arn=log_key_arn,
            ).servers
        if Token.is_unresolved(servers):
            variables[contract.ENV_BOOTSTRAP_SERVERS] = servers
        return variables

    def _deny_interfaces(self, role: iam.IRole) -> None:
        """Keeps the function's own code from the network interfaces that Lambda makes in its name.

        A policy of its own, as the function waits for the role with all that is in it.
        """
        own_code = {"lambda:SourceFunctionArn": self.function.function_arn}
        denial = iam.PolicyStatement(
            effect=iam.Effect.DENY,
            actions=list(_INTERFACES),
            resources=["*"],
            conditions={"ArnEquals": own_code},
        )
        policy = iam.Policy(self, "OwnCode", roles=[role], statements=[denial])
        acknowledge_strict(policy, INLINE)

    def _rights(self, bucket_arn: str) -> Iterator[Right]:
        cluster, stack = self._cluster, Stack.of(self)
        yield writing(self.log_group)
        yield allow(
            *_INTERFACES,
            on="*",
            because="Lambda makes the function's network interfaces in its name: their ids are not "
            "known before, and Describe takes no resource at all",
        )
        yield from _on_bucket(cluster.name, bucket_arn)
        if secret := cluster.secret:
            yield allow("secretsmanager:GetSecretValue", on=secret.secret_arn)
            if key := secret.encryption_key:
                through = {
                    "kms:ViaService": f"secretsmanager.{stack.region}.{stack.url_suffix}",
                    "kms:EncryptionContext:SecretARN": secret.secret_arn,
                }
                yield allow("kms:Decrypt", on=key.key_arn, conditions={"StringEquals": through})
        if isinstance(cluster.login, Iam):
            yield from _on_cluster(cluster.arn or "")
        yield from self._on_sinks()

    def _on_sinks(self) -> Iterator[Right]:
        """Yields the rights to publish and to read the secret for that; none for the log."""
        settings = self._facts.settings
        anywhere = any(each.sigv4 for each in settings.otlp_endpoints)
        if anywhere or CLOUDWATCH in settings.sink_names:
            yield publishing_metrics(None if anywhere else settings.namespace)
        secrets = (each.headers_secret for each in settings.otlp_endpoints)
        for secret in dict.fromkeys(filter(None, secrets)):
            by_name = Stack.of(self).format_arn(
                service="secretsmanager",
                resource="secret",
                resource_name=f"{secret}{_SIX}",
                arn_format=ArnFormat.COLON_RESOURCE_NAME,
            )
            arn = secret if secret.startswith("arn:") else by_name
            yield allow("secretsmanager:GetSecretValue", on=arn)


def _document_layer(scope: Construct, cluster: ClusterFacts) -> lambda_.LayerVersion:
    """Makes a layer for the configuration: changed settings do not upload the code again."""
    with TemporaryDirectory() as made:
        folder = Path(made, _FOLDER)
        folder.mkdir()
        # In the order it was written: of several expressions the first that fits decides.
        document = cluster.document()
        for key in _BY_ENVIRONMENT:
            if Token.is_unresolved(json.dumps(document[key])):
                document[key] = None
        tokens = [key for key, value in document.items() if Token.is_unresolved(json.dumps(value))]
        if tokens:
            raise ValueError(
                f"{' and '.join(tokens)} of {cluster.name} must be known now: it is written into a "
                "file, where CDK replaces no token"
            )
        text = json.dumps(document, indent=2)
        (folder / _DOCUMENT).write_text(text + "\n")
        if cluster.settings.ca_file:
            shutil.copyfile(cluster.settings.ca_file, folder / CA_FILE)
        # Whoever deploys may have a umask under which Lambda could not read them.
        for path in folder.iterdir():
            path.chmod(0o644)
        folder.chmod(0o755)
        # Copied into the cloud assembly here, before the folder goes.
        return lambda_.LayerVersion(
            scope,
            "Configuration",
            description=f"Configuration of the lag collector of {cluster.name}",
            code=lambda_.Code.from_asset(made),
        )


def schedule(scope: Construct, *, cluster: ClusterFacts, function: lambda_.IFunction) -> None:
    """Makes a schedule for the function; switched off, but there, while the cluster is paused.

    Cron and not rate, whose minutes do not begin on the minute. Its role may invoke this
    function and no version of it, which the target of CDK's own would add.
    """
    role = role_with(
        scope,
        [allow("lambda:InvokeFunction", on=function.function_arn)],
        service="scheduler.amazonaws.com",
        conditions={"StringEquals": {"aws:SourceAccount": Stack.of(scope).account}},
    )
    event = {
        contract.EVENT_CLUSTER: cluster.name,
        contract.EVENT_SCHEDULED_TIME: _SCHEDULED_TIME,
    }
    scheduler.CfnSchedule(
        scope,
        "Schedule",
        description=f"Lag collector of {cluster.name}",
        state="DISABLED" if cluster.settings.paused else "ENABLED",
        schedule_expression=cron_of(cluster.settings.interval_minutes),
        flexible_time_window=scheduler.CfnSchedule.FlexibleTimeWindowProperty(mode="OFF"),
        target=scheduler.CfnSchedule.TargetProperty(
            arn=function.function_arn,
            role_arn=role.role_arn,
            input=json.dumps(event),
            retry_policy=_NO_RETRIES,
        ),
    )


def cron_of(minutes: int) -> str:
    """Returns the cron expression for every so many minutes, from the full hour on."""
    return f"cron({_MINUTES.get(minutes, f'0/{minutes}')} * * * ? *)"


def _on_bucket(cluster: str, arn: str) -> Iterator[Right]:
    own = [
        f"{contract.SNAPSHOT_PREFIX}/{dataset}/cluster={cluster}/*" for dataset in contract.DATASETS
    ]
    usual = contract.usual_key(f"cluster={cluster}")
    yield listing(arn, *own, usual)
    keys = "a key a minute, this cluster's only"
    runs = [f"{arn}/{prefix}" for prefix in own]
    yield allow("s3:GetObject", on=[*runs, f"{arn}/{usual}"], because=keys)
    yield allow("s3:PutObject", on=runs, because=keys)


def _on_cluster(arn: str) -> Iterator[Right]:
    """Yields MSK's rights to describe; none reads a record or changes anything."""
    topics, groups = (f"{_within(arn, kind)}/*" for kind in ("topic", "group"))
    all_of = "every topic and group of this one cluster is reported, those to come too"
    yield allow("kafka-cluster:Connect", "kafka-cluster:DescribeCluster", on=arn)
    yield allow(*_TOPICS, on=topics, because=all_of)
    yield allow("kafka-cluster:DescribeGroup", on=groups, because=all_of)


def _within(arn: str, kind: str) -> str:
    """Returns the ARN of the topics or groups of a cluster, made from the cluster's ARN."""
    if not Token.is_unresolved(arn):
        return arn.replace(":cluster/", f":{kind}/", 1)
    # arn:aws:kafka:REGION:ACCOUNT:cluster/NAME/UUID, taken apart when it is deployed.
    colons, slashes = Fn.split(":", arn), Fn.split("/", arn)
    place = ":".join(Fn.select(at, colons) for at in range(5))
    return f"{place}:{kind}/{Fn.select(1, slashes)}/{Fn.select(2, slashes)}"
