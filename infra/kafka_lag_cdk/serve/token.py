# SPDX-License-Identifier: Apache-2.0
"""The token of scrapers, made by Secrets Manager: nobody types it and no template holds it."""

from __future__ import annotations

from aws_cdk import RemovalPolicy
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from kafka_lag_cdk.findings import explained

# Letters and digits: 285 bits, and nothing that a header, a shell or YAML would need quoted.
_LENGTH = 48

_NOT_BY_ITSELF = (
    "Whoever scrapes has a copy of the token and would be locked out by a rotation that nobody "
    "told them of; docs/views.md says how it is rotated by hand."
)


class ViewsToken(Construct):
    """A secret whose whole value is the token, with AWS's own key; `arn` is where it lies."""

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        secret = secretsmanager.Secret(
            self,
            "Secret",
            description="Bearer token of the views of consumer lag",
            generate_secret_string=secretsmanager.SecretStringGenerator(
                exclude_punctuation=True, password_length=_LENGTH
            ),
            removal_policy=RemovalPolicy.DESTROY,
        )
        explained(secret, "SMG4", _NOT_BY_ITSELF)
        self.arn = secret.secret_arn
