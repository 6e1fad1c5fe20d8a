# SPDX-License-Identifier: Apache-2.0
"""Logins that are right word by word, and that MSK or the collector's role cannot use."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_lag_cdk.config.faults import Fault
from kafka_lag_cdk.config.parts.network import Iam, Open, Scram, Tls

# MSK takes no secret of another name [MSK developer guide, limitations of SCRAM].
_OF_MSK = "AmazonMSK_"

_MSK_MECHANISM = "SCRAM-SHA-512"

_REGION, _ACCOUNT, _NAME = 3, 4, 6


def login_faults(
    auth: Scram | Iam | Tls | Open, *, arn: str | None, serverless: bool, region: str | None
) -> Iterator[Fault]:
    """What is wrong with a login to the cluster of an ARN, if it has one, from a region.

    `serverless` is whether that is MSK Serverless.
    """
    if serverless and not isinstance(auth, Iam):
        yield _fault("type", "must be iam, as MSK Serverless takes nothing else")
    elif isinstance(auth, Scram | Tls):
        if arn and isinstance(auth, Scram) and auth.mechanism != _MSK_MECHANISM:
            yield _fault("mechanism", f"must be {_MSK_MECHANISM}, as MSK has no other")
        yield from _elsewhere(auth, region)
        if arn and isinstance(auth, Scram) and _part(auth.secret_arn, _NAME).startswith(_OF_MSK):
            yield from _of_msk(auth, arn)


def _elsewhere(auth: Scram | Tls, region: str | None) -> Iterator[Fault]:
    for key, arn in (("secret_arn", auth.secret_arn), ("kms_key_arn", auth.kms_key_arn)):
        if region and arn and (at := _part(arn, _REGION)) != region:
            told = f"is in {at}, but the collector is in {region} and uses its own region's alone"
            yield _fault(key, told)


def _of_msk(auth: Scram, arn: str) -> Iterator[Fault]:
    owner, own = _part(auth.secret_arn, _ACCOUNT), _part(arn, _ACCOUNT)
    if owner != own:
        told = f"is of the account {owner}, but MSK takes secrets of the cluster's own, {own}"
        yield _fault("secret_arn", told)
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
