# SPDX-License-Identifier: Apache-2.0
"""The login at a cluster's brokers, and MSK's demands on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from kafka_lag_config.faults import Fault
from kafka_lag_config.strict import Strict
from kafka_lag_config.types import KeyArn, SecretArn

# MSK takes no secret of another name [MSK developer guide, limitations of SCRAM].
_OF_MSK = "AmazonMSK_"

_MSK_MECHANISM = "SCRAM-SHA-512"

_REGION, _ACCOUNT, _NAME = 3, 4, 6

# Keys of the logins that have one.
_OF_SECRETS = ("secret_arn", "kms_key_arn")


_TYPE = "`scram`, `iam`, `tls` (client certificate) or `none`"


class SecretAuth(Strict):
    """A login by a secret; the collector's role may decrypt with its key."""

    type: Literal["scram", "tls"]
    secret_arn: SecretArn
    """of `scram` and `tls`, required there: the secret, in the collector's region"""
    kms_key_arn: KeyArn | None = None
    """the key of yours that encrypts it (unless given: AWS's own); MSK's secrets (`AmazonMSK_...`)
    always have one"""


class ScramAuth(SecretAuth):
    """User name and password from Secrets Manager; MSK takes SCRAM-SHA-512 only."""

    type: Literal["scram"] = Field(description=_TYPE)
    mechanism: Literal["SCRAM-SHA-512", "SCRAM-SHA-256"] = "SCRAM-SHA-512"
    """of `scram`; MSK has no other, other Kafka also SCRAM-SHA-256"""


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
    """of `none`: not even TLS"""


Auth = Annotated[ScramAuth | IamAuth | TlsAuth | OpenAuth, Field(discriminator="type")]


def login_faults(
    auth: Auth, *, arn: str | None, serverless: bool, region: str | None
) -> Iterator[Fault]:
    """Yield faults of a login to a cluster, with its ARN if it has one, from a region.

    `serverless` is whether that is MSK Serverless.
    """
    if serverless and not isinstance(auth, IamAuth):
        yield _fault("type", "must be iam, as MSK Serverless takes nothing else")
    elif isinstance(auth, SecretAuth):
        if arn and isinstance(auth, ScramAuth) and auth.mechanism != _MSK_MECHANISM:
            yield _fault("mechanism", f"must be {_MSK_MECHANISM}, as MSK has no other")
        yield from _elsewhere(auth, region)
        if arn and isinstance(auth, ScramAuth) and is_secret_of_msk(auth.secret_arn):
            yield from _of_msk(auth, arn)


def is_secret_of_msk(arn: str) -> bool:
    """Return true if MSK takes a secret of this name; others hold a copy of the same login."""
    return _part(arn, _NAME).startswith(_OF_MSK)


def _elsewhere(auth: SecretAuth, region: str | None) -> Iterator[Fault]:
    for key, arn in (("secret_arn", auth.secret_arn), ("kms_key_arn", auth.kms_key_arn)):
        at = _part(arn, _REGION) if arn else None
        if region and at and at != region:
            place = f"is in {at}, but the collector is in {region}"
            yield _fault(key, f"{place} and uses its own region's alone")


def _of_msk(auth: ScramAuth, arn: str) -> Iterator[Fault]:
    owner, own = _part(auth.secret_arn, _ACCOUNT), _part(arn, _ACCOUNT)
    if owner != own:
        sentence = f"is of the account {owner}, but MSK takes secrets of the cluster's own, {own}"
        yield _fault("secret_arn", sentence)
    if auth.kms_key_arn is None:
        yield _fault(
            "kms_key_arn",
            "is required: MSK's secrets are encrypted with a key of yours, and the collector "
            "cannot read one without a right on it",
        )


def _part(arn: str, place: int) -> str:
    return arn.split(":")[place]


def _fault(key: str, sentence: str) -> Fault:
    return Fault(("auth", key), sentence, joint=True)
