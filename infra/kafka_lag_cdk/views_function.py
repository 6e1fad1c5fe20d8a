# SPDX-License-Identifier: Apache-2.0
"""The function that answers views of the snapshots, and its URL, which is never open to everybody.

Requests are signed with IAM, or carry a token, which Secrets Manager makes: nobody types it and no
template holds it.
"""

from __future__ import annotations

from collections.abc import Iterator

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from kafka_lag import contract
from kafka_lag_cdk.acknowledgements import acknowledge_nag
from kafka_lag_cdk.lambdas import SnapshotReader
from kafka_lag_cdk.rights import Right, allow, listing, using_key_of
from kafka_lag_config.shared import Views

_HANDLER = "kafka_lag.serve_lag.handler"
# What a client waits for; a page of a large cluster takes less than a second.
_TIMEOUT = Duration.seconds(30)
# Letters and digits: 285 bits, and nothing that a header, a shell or YAML would need quoted.
_TOKEN_LENGTH = 48

_SNAPSHOTS = f"{contract.SNAPSHOT_PREFIX}/*"
_MANY_SNAPSHOTS = "a key a minute and cluster; all clusters of the bucket are shown"
_ROTATED_BY_HAND = (
    "Whoever scrapes has a copy of the token and would be locked out by a rotation that came "
    "unannounced; docs/views.md says how it is rotated by hand."
)


class LagViews(Construct):
    """Burrow's API, `/metrics` and the status page of all clusters in a bucket, at `url`.

    `token` is the secret whose whole value scrapers send, with AWS's own key; None where requests
    are signed. The function reads snapshots and can do nothing else.
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
        # Scrapers cannot sign: the URL lets all through to the function, which looks at the token.
        bearer = views.auth == contract.AUTH_BEARER
        auth_types = lambda_.FunctionUrlAuthType
        url_auth = auth_types.NONE if bearer else auth_types.AWS_IAM
        self.token = _make_token(Construct(self, "Token")) if bearer else None
        environment = {contract.ENV_BUCKET: bucket.bucket_name, contract.ENV_AUTH: views.auth}
        if self.token:
            environment[contract.ENV_TOKEN_SECRET] = self.token.secret_arn
        reader = SnapshotReader(
            self,
            "Reader",
            handler=_HANDLER,
            description="Views of consumer lag",
            code=code,
            environment=environment,
            rights=_rights(bucket, self.token),
            memory_mb=views.memory_mb,
            timeout=_TIMEOUT,
            log_days=views.log_days,
            log_key_arn=log_key_arn,
            concurrency=views.concurrency,
        )
        self.function, self.log_group = reader.function, reader.log_group
        self.url = self.function.add_function_url(auth_type=url_auth).url


def _make_token(scope: Construct) -> secretsmanager.Secret:
    secret = secretsmanager.Secret(
        scope,
        "Secret",
        description="Bearer token of the views of consumer lag",
        generate_secret_string=secretsmanager.SecretStringGenerator(
            exclude_punctuation=True, password_length=_TOKEN_LENGTH
        ),
        removal_policy=RemovalPolicy.DESTROY,
    )
    acknowledge_nag(secret, "SMG4", _ROTATED_BY_HAND)
    return secret


def _rights(bucket: s3.IBucket, token: secretsmanager.ISecret | None) -> Iterator[Right]:
    yield listing(bucket.bucket_arn, _SNAPSHOTS)
    objects = bucket.arn_for_objects(_SNAPSHOTS)
    yield allow("s3:GetObject", on=objects, because=_MANY_SNAPSHOTS)
    yield from using_key_of(bucket, writes=False)
    if token:
        yield allow("secretsmanager:GetSecretValue", on=token.secret_arn)
