# SPDX-License-Identifier: Apache-2.0
"""The Glue job that writes each day's reports, and the trigger that starts it."""

from __future__ import annotations

from pathlib import Path

from aws_cdk import Duration, Stack
from aws_cdk import aws_glue as glue
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as assets
from constructs import Construct

from kafka_lag_cdk.config.shared import NEVER, Keep, Report
from kafka_lag_cdk.findings import explained, understood
from kafka_lag_cdk.lambdas.log import log_of
from kafka_lag_cdk.notifications import Topics
from kafka_lag_cdk.storage.daily_report_role import daily_report_role

SCRIPT = Path(__file__).parents[3] / "glue_jobs" / "kafka_lag_report" / "daily_report.py"

_VERSIONS = {"6.0": glue.GlueVersion.V6_0, "5.1": glue.GlueVersion.V5_1}

_OPEN_LOG = "The log holds names and numbers of the reports; CloudWatch encrypts it at rest."
_NO_BOOKMARK = "The job keeps no bookmark: it reads one day and replaces that day's reports."


class DailyReport(Construct):
    """`job`, run at the report's hour UTC for the day before.

    `package` is a folder or zip with what `glue_jobs/` holds at its root. The summary goes to the
    topic of reports, unless there is none. The job can be started by hand for any day (`--date`);
    two at once wait for each other. It publishes whether a scheduled run succeeded as a metric of
    the deployment `name`. `job_name` is what its events are named by.
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
    ) -> None:
        super().__init__(scope, construct_id)
        script = assets.Asset(self, "Script", path=str(SCRIPT))
        modules = assets.Asset(self, "Modules", path=str(package))
        summarized = None if report.summary == NEVER else topics
        logs = f"/{name}/daily-report"
        for kind in ("output", "error"):
            # Otherwise Glue makes groups that keep everything for ever, for all jobs of the account
            # [AWS Glue developer guide, "Logging for AWS Glue jobs"].
            own = Construct(self, kind.title())
            log_of(own, days=report.log_days, key_arn=log_key_arn, name=f"{logs}/{kind}")
        role = daily_report_role(
            self, bucket=bucket, code=[script, modules], topics=summarized, logs=logs
        )
        arguments = {"--custom-logGroup-prefix": logs} | _arguments(
            bucket, report, keep, summarized, Stack.of(self).region, name
        )
        self.job = self._job(role, script, modules, report, arguments)
        self.job_name = self.job.job_name
        self._daily(report.hour)

    def _job(
        self,
        role: iam.Role,
        script: assets.Asset,
        modules: assets.Asset,
        report: Report,
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
        explained(job, "GL1", _OPEN_LOG)
        understood(job, "@aws-cdk/aws-glue-alpha:unencryptedContinuousLogging", _OPEN_LOG)
        explained(job, "GL3", _NO_BOOKMARK)
        return job

    def _daily(self, hour: int) -> None:
        glue.CfnTrigger(
            self,
            "Daily",
            description="Starts the daily report of consumer lag",
            type="SCHEDULED",
            schedule=f"cron(0 {hour} * * ? *)",
            actions=[glue.CfnTrigger.ActionProperty(job_name=self.job_name)],
            # Otherwise it is made, and never fires.
            start_on_creation=True,
        )


def _arguments(
    bucket: s3.IBucket, report: Report, keep: Keep, topics: Topics | None, region: str, name: str
) -> dict[str, str]:
    """What every run gets; memory and cores stay as Glue sets them for its workers."""
    address = f"s3://{bucket.bucket_name}"
    arguments = {
        "--input": address,
        "--output": address,
        "--snapshot-days": str(keep.snapshot_days),
        # what Glue would end without a word, the job ends itself, and sends its message
        "--time-limit": str(report.time_limit_minutes),
        "--success-metric": f"{region}/{name}",
    }
    if topics and topics.reports is not None:
        arguments |= {"--topic-arn": topics.reports.topic_arn, "--summary": report.summary}
    return arguments


def _code(asset: assets.Asset) -> glue.Code:
    return glue.Code.from_bucket(asset.bucket, asset.s3_object_key)
