# SPDX-License-Identifier: Apache-2.0
"""The Glue job that writes each day's reports: its arguments, its role, what starts it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from aws_cdk import ArnFormat, Duration, Stack
from aws_cdk import aws_glue as glue
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from kafka_lag import contract
from kafka_lag_cdk.acknowledgements import acknowledge_nag, acknowledge_warning
from kafka_lag_cdk.lambdas import make_log_group
from kafka_lag_cdk.notifications import Topics
from kafka_lag_cdk.rights import (
    Right,
    allow,
    for_own_account,
    listing,
    publishing_metrics,
    role_with,
    using_key,
    using_key_of,
)
from kafka_lag_config.physical_names import ERROR, OUTPUT, report_log_group, report_logs
from kafka_lag_config.shared import NEVER, Keep, Report

# In a clone the package has a source root of its own; installed, it is beside this one.
_REPORT = "kafka_lag_report/daily_report.py"
_ROOTS = (Path(__file__).parents[2] / "glue_jobs", Path(__file__).parents[1])
SCRIPT = next(root / _REPORT for root in _ROOTS if (root / _REPORT).is_file())

_VERSIONS = {"6.0": glue.GlueVersion.V6_0, "5.1": glue.GlueVersion.V5_1}

# Prefixes that the job reads; all but the snapshots it also writes.
_WRITTEN = (contract.HISTORY_PREFIX, contract.REPORT_PREFIX, contract.USUAL_PREFIX)
_FOLDERS = (contract.SNAPSHOT_PREFIX, *_WRITTEN)
# Where Glue writes of a job until it knows of the job's own groups.
_LOGS_OF_GLUE = ("/aws-glue/jobs/output:*", "/aws-glue/jobs/error:*")

_MANY_OBJECTS = "Objects under this prefix have names that a day or a run gives them."
_MANY_LOGS = "Glue names streams itself, and its log groups under the job's prefix."
_OPEN_LOG = "The log holds names and numbers of the reports; CloudWatch encrypts it at rest."
_NO_BOOKMARK = "The job keeps no bookmark: it reads one day and replaces that day's reports."


class DailyReport(Construct):
    """`job`, run at the report's hour UTC for the day before.

    `package` is a folder or zip with what `glue_jobs/` holds at its root. The summary goes to the
    topic of reports, unless there is none. The job can be started by hand for any day (`--date`);
    two at once wait for each other. `asset_key_arn` is the key of CDK's own bucket, which script
    and package are read from, where a bootstrap was given one. It publishes whether a scheduled run
    succeeded as a metric of the deployment `name`. `job_name` is what its events are named by.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        bucket: s3.IBucket,
        report: Report,
        keep: Keep,
        package: Path,
        topics: Topics,
        name: str,
        log_key_arn: str | None = None,
        asset_key_arn: str | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        script = assets.Asset(self, "Script", path=str(SCRIPT))
        modules = assets.Asset(self, "Modules", path=str(package))
        summary_topics = None if report.summary == NEVER else topics
        logs = report_logs(name)
        self._make_log_groups(report, name, log_key_arn)
        role = role_with(
            self,
            (
                *_rights(self, bucket, (script, modules), logs),
                *(summary_topics.publishing_reports() if summary_topics else ()),
                *using_key(asset_key_arn, script.bucket.bucket_arn, writes=False),
            ),
            service="glue.amazonaws.com",
            conditions=for_own_account(self),
            description="Daily report of consumer lag",
        )
        arguments = {
            "--custom-logGroup-prefix": logs,
            **_arguments(bucket, report, keep, summary_topics),
            "--success-metric": f"{Stack.of(self).region}/{name}",
        }
        self.job = self._make_job(role, report, script, modules, arguments)
        self.job_name = self.job.job_name
        # CDK's L2 makes triggers of workflows only.
        glue.CfnTrigger(
            self,
            "Daily",
            description="Starts the daily report of consumer lag",
            type="SCHEDULED",
            schedule=f"cron(0 {report.hour} * * ? *)",
            actions=[glue.CfnTrigger.ActionProperty(job_name=self.job_name)],
            # Otherwise it is made, and never fires.
            start_on_creation=True,
        )

    def _make_log_groups(self, report: Report, name: str, key_arn: str | None) -> None:
        """Makes the job's log groups.

        Otherwise Glue makes groups that keep everything for ever, for all jobs of the account
        [AWS Glue developer guide, "Logging for AWS Glue jobs"].
        """
        for kind in (OUTPUT, ERROR):
            own = Construct(self, kind.title())
            group = report_log_group(name, kind)
            make_log_group(own, days=report.log_days, key_arn=key_arn, name=group)

    def _make_job(
        self,
        role: iam.Role,
        report: Report,
        script: assets.Asset,
        modules: assets.Asset,
        arguments: dict[str, str],
    ) -> glue.PySparkEtlJob:
        job = glue.PySparkEtlJob(
            self,
            "Job",
            description="Consumer lag: reports, history and page of the day before",
            # Its own grants would be for every asset there is, and more than reading.
            role=role.without_policy_updates(),
            script=_code(script),
            extra_python_files=[_code(modules)],
            glue_version=_VERSIONS[report.glue_version],
            worker_configuration=glue.WorkerConfiguration(
                worker_type=glue.WorkerType.G_1X, number_of_workers=report.workers
            ),
            timeout=Duration.minutes(report.time_limit_minutes),
            max_concurrent_runs=1,
            # A run that finds no room waits in a queue, which Glue allows only without retries;
            # what else fails would fail again.
            job_run_queuing_enabled=True,
            max_retries=0,
            # Metrics need a right on everything in CloudWatch.
            enable_metrics=False,
            enable_observability_metrics=False,
            default_arguments=arguments,
        )
        acknowledge_nag(job, "GL1", _OPEN_LOG)
        acknowledge_warning(job, "@aws-cdk/aws-glue-alpha:unencryptedContinuousLogging", _OPEN_LOG)
        acknowledge_nag(job, "GL3", _NO_BOOKMARK)
        return job


def _code(asset: assets.Asset) -> glue.Code:
    return glue.Code.from_bucket(asset.bucket, asset.s3_object_key)


def _arguments(
    bucket: s3.IBucket, report: Report, keep: Keep, topics: Topics | None
) -> dict[str, str]:
    """Returns the arguments of every run; memory and cores stay as Glue sets them."""
    address = f"s3://{bucket.bucket_name}"
    arguments = {
        "--input": address,
        "--output": address,
        "--snapshot-days": str(keep.snapshot_days),
        # what Glue would end without a word, the job ends itself, and sends its message
        "--time-limit": str(report.time_limit_minutes),
    }
    if topics and topics.reports is not None:
        arguments |= {"--topic-arn": topics.reports.topic_arn, "--summary": report.summary}
    return arguments


def _rights(
    scope: Construct, bucket: s3.IBucket, code: Sequence[assets.Asset], logs: str
) -> Iterator[Right]:
    """Yields the rights to read code and data, replace reports, delete old snapshots, and log."""
    yield allow(
        "s3:GetObject", on=[each.bucket.arn_for_objects(each.s3_object_key) for each in code]
    )
    yield listing(bucket.bucket_arn, *_FOLDERS, *(f"{each}/*" for each in _FOLDERS))
    # S3A asks whether a folder is an object by its bare name. Where there is none, S3 says so only
    # to who may list that name as a prefix, and denies everybody else, which would end the run.
    yield allow(
        "s3:GetObject",
        on=[bucket.arn_for_objects(key) for each in _FOLDERS for key in (each, f"{each}/*")],
        because=_MANY_OBJECTS,
    )
    yield allow(
        "s3:PutObject",
        "s3:DeleteObject",
        "s3:AbortMultipartUpload",
        on=[bucket.arn_for_objects(f"{each}/*") for each in _WRITTEN],
        because=_MANY_OBJECTS,
    )
    # Old snapshots that the history holds are deleted.
    yield allow(
        "s3:DeleteObject",
        on=bucket.arn_for_objects(f"{contract.SNAPSHOT_PREFIX}/*"),
        because=_MANY_OBJECTS,
    )
    yield from using_key_of(bucket, writes=True)
    yield publishing_metrics(contract.NAMESPACE)
    yield allow(
        "logs:CreateLogGroup",
        "logs:CreateLogStream",
        "logs:PutLogEvents",
        on=[
            Stack.of(scope).format_arn(
                service="logs",
                resource="log-group",
                resource_name=prefix,
                arn_format=ArnFormat.COLON_RESOURCE_NAME,
            )
            for prefix in (f"{logs}/*", *_LOGS_OF_GLUE)
        ],
        because=_MANY_LOGS,
    )
