# SPDX-License-Identifier: Apache-2.0
"""The login at a cluster's brokers, as a configuration writes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from kafka_lag_config.strict import Strict
from kafka_lag_config.types import KeyArn, SecretArn

# Keys of the logins that have one.
_OF_SECRETS = ("secret_arn", "kms_key_arn")


_TYPE = "`scram`, `iam`, `tls` (client certificate) or `none`"


class SecretAuth(Strict):
    """A login by a secret; the collector's role may decrypt with its key."""

    type: Literal["scram", "tls"]
    secret_arn: SecretArn
    """the secret of `scram` and `tls`, in the collector's region"""
    kms_key_arn: KeyArn | None = None
    """your KMS key that encrypts the secret; MSK's secrets (`AmazonMSK_...`) always have one
    (unless given: AWS's own)"""


class ScramAuth(SecretAuth):
    """User name and password from Secrets Manager; MSK takes SCRAM-SHA-512 only."""

    type: Literal["scram"] = Field(description=_TYPE)
    mechanism: Literal["SCRAM-SHA-512", "SCRAM-SHA-256"] = "SCRAM-SHA-512"
    """mechanism of `scram`; MSK has only this one, other Kafka also SCRAM-SHA-256"""


class IamAuth(Strict):
    """The function's own role; needs the cluster's ARN and no secret."""

    elsewhere: ClassVar[Mapping[str, str]] = dict.fromkeys(
        _OF_SECRETS, "iam takes no secret: remove it, or set type to scram"
    )

    type: Literal["iam"] = Field(description=_TYPE)


class TlsAuth(SecretAuth):
    """A client certificate from Secrets Manager: `certificate` and `private_key`, PEM."""

    type: Literal["tls"] = Field(description=_TYPE)


class OpenAuth(Strict):
    """Brokers that ask for no login; over TLS unless `plaintext`."""

    elsewhere: ClassVar[Mapping[str, str]] = dict.fromkeys(
        _OF_SECRETS, "none takes no secret: remove it, or set type to scram or tls"
    )

    type: Literal["none"] = Field(description=_TYPE)
    plaintext: bool = False
    """with `none`: connect without TLS, too"""


Auth = Annotated[ScramAuth | IamAuth | TlsAuth | OpenAuth, Field(discriminator="type")]
