# SPDX-License-Identifier: Apache-2.0
"""The function that answers requests, and its URL, which is never open to everybody."""

from __future__ import annotations

from collections.abc import Iterator

from aws_cdk import Duration
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from constructs import Construct

from kafka_lag import contract
from kafka_lag_cdk.config.shared import Views
from kafka_lag_cdk.lambdas.snapshot_reader import Settings, SnapshotReader
from kafka_lag_cdk.rights import Right, allow, listing, using_key_of
from kafka_lag_cdk.serve.token import ViewsToken

_HANDLER = "kafka_lag.serve_lag.handler"
# What a client waits for; a page of a large cluster takes less than a second.
_TIMEOUT = Duration.seconds(30)

_SNAPSHOTS = f"{contract.SNAPSHOT_PREFIX}/*"
_MANY_SNAPSHOTS = "a key a minute and cluster; all clusters of the bucket are shown"


class LagViews(Construct):
    """Burrow's API, `/metrics` and the status page of all clusters in a bucket, at `url`.

    `token` is the secret that scrapers send, None where requests are signed with IAM. The function
    reads snapshots and can do nothing else.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        views: Views,
        bucket: s3.IBucket,
        code: lambda_.Code,
        log_key_arn: str | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        bearer = views.auth == contract.AUTH_BEARER
        self.token = ViewsToken(self, "Token") if bearer else None
        reader = SnapshotReader(
            self,
            "Reader",
            settings=Settings(
                _HANDLER,
                description="Views of consumer lag",
                memory_mb=views.memory_mb,
                timeout=_TIMEOUT,
                log_days=views.log_days,
                log_key_arn=log_key_arn,
                concurrency=views.concurrency,
            ),
            environment=_environment(views, bucket, self.token),
            rights=list(_rights(bucket, self.token)),
            code=code,
        )
        self.function, self.log_group = reader.function, reader.log_group
        self.url = self._address(bearer)

    def _address(self, bearer: bool) -> str:
        # Scrapers cannot sign: the URL lets all through to the function, which looks at the token.
        kinds = lambda_.FunctionUrlAuthType
        auth = kinds.NONE if bearer else kinds.AWS_IAM
        return self.function.add_function_url(auth_type=auth).url


def _environment(views: Views, bucket: s3.IBucket, token: ViewsToken | None) -> dict[str, str]:
    told = {contract.ENV_BUCKET: bucket.bucket_name, contract.ENV_AUTH: views.auth}
    return told | ({contract.ENV_TOKEN_SECRET: token.arn} if token else {})


def _rights(bucket: s3.IBucket, token: ViewsToken | None) -> Iterator[Right]:
    yield listing(bucket.bucket_arn, _SNAPSHOTS)
    objects = bucket.arn_for_objects(_SNAPSHOTS)
    yield allow("s3:GetObject", on=objects, because=_MANY_SNAPSHOTS)
    yield from using_key_of(bucket, writes=False)
    if token:
        yield allow("secretsmanager:GetSecretValue", on=token.arn)
