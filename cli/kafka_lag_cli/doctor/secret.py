# SPDX-License-Identifier: Apache-2.0
"""The login's secret: whether it is there, its key, MSK's link to it, and what it holds."""

from __future__ import annotations

import json
from collections.abc import Iterator

from kafka_lag.aws import read_secret
from kafka_lag_cli.account.errors import AwsError, using
from kafka_lag_cli.account.msk_cluster import (
    KmsKey,
    MskCluster,
    Secret,
    associated_secrets,
    describe_key,
    describe_secret,
)
from kafka_lag_cli.doctor.findings import Finding, collect_findings
from kafka_lag_cli.doctor.place import Place, key_line
from kafka_lag_config.login import ScramAuth, SecretAuth

SECRET = "secret"  # noqa: S105 - the name of a check, not a secret
_KEY = "secret's key"

_OF_MSK = "AmazonMSK_"
_FIELDS = {"scram": ("username", "password"), "tls": ("certificate", "private_key")}
_LOGIN_FILE = "login.json"


def check_secret(place: Place, msk: MskCluster | None) -> Iterator[Finding]:
    auth = place.cluster.auth
    if not isinstance(auth, SecretAuth):
        return
    # MSK's users; brokers that are not MSK's, or certificates, want no name and no key.
    of_msk = isinstance(auth, ScramAuth) and place.cluster.arn is not None
    try:
        secret = describe_secret(place.client("secretsmanager"), auth.secret_arn)
    except AwsError as error:
        if not error.absent:
            raise
        yield _absent_secret(place, auth)
        return
    if secret.is_deleted:
        yield Finding(
            SECRET,
            "fault",
            f"{secret.name} is to be deleted",
            "It cannot be read any more.",
            place.aws("secretsmanager restore-secret", secret_id=secret.arn),
        )
        return
    yield Finding(SECRET, "ok", f"{secret.name} is there")
    if of_msk and not secret.name.startswith(_OF_MSK):
        yield Finding(
            SECRET,
            "fault",
            f"its name {secret.name} does not begin with {_OF_MSK}",
            f"MSK takes no other. Make one with the same login in {_LOGIN_FILE}, and write its ARN "
            "as auth.secret_arn.",
            _create_secret(place, _OF_MSK + secret.name.rpartition("/")[2], auth.kms_key_arn),
        )
        return
    of_key = collect_findings(_KEY, _check_key(place, secret, auth, of_msk=of_msk))
    yield from of_key
    if of_msk and msk is not None:
        yield from collect_findings("secret of the cluster", _check_association(place, msk, secret))
    if not any(each.severity == "fault" for each in of_key):
        yield from collect_findings("login in the secret", _check_content(place, secret, auth.type))


def _absent_secret(place: Place, auth: SecretAuth) -> Finding:
    name = auth.secret_arn.split(":")[6][:-7]
    return Finding(
        SECRET,
        "fault",
        f"Secrets Manager has no {auth.secret_arn}",
        f"Make it with {' and '.join(_FIELDS[auth.type])} in {_LOGIN_FILE}, and write its ARN, "
        "whose last six characters are new, as auth.secret_arn.",
        _create_secret(place, name, auth.kms_key_arn),
    )


def _create_secret(place: Place, name: str, key: str | None) -> str:
    options = {"kms_key_id": key} if key else {}
    return place.aws(
        "secretsmanager create-secret",
        name=name,
        **options,
        secret_string=f"file://{_LOGIN_FILE}",
    )


def _check_key(
    place: Place, secret: Secret, auth: SecretAuth, *, of_msk: bool
) -> Iterator[Finding]:
    key = None
    if secret.key is not None:
        try:
            key = describe_key(place.client("kms"), secret.key)
        except AwsError as error:
            if error.code != "NotFoundException":
                raise
            yield Finding(
                _KEY,
                "fault",
                f"KMS has no key {secret.key}",
                "The secret cannot be read any more: give it another key and another value.",
                _change_key(place, secret, auth.kms_key_arn),
            )
            return
    if key is None or not key.is_customers:
        yield _judge_key_of_aws(place, secret, auth, of_msk=of_msk)
    else:
        yield from _judge_key(place, key, auth)


def _judge_key_of_aws(place: Place, secret: Secret, auth: SecretAuth, *, of_msk: bool) -> Finding:
    change = _change_key(place, secret, auth.kms_key_arn)
    if of_msk:
        to_do = "MSK takes no secret that is encrypted with it: make or take a key of yours."
        return Finding(_KEY, "fault", "it is AWS's own", to_do, change)
    if auth.kms_key_arn is not None:
        found = "it is AWS's own, and the configuration names one of yours"
        return Finding(_KEY, "warning", found, "", change)
    return Finding(_KEY, "ok", "it is AWS's own")


def _judge_key(place: Place, key: KmsKey, auth: SecretAuth) -> Iterator[Finding]:
    """Check that a customer's key can be used, and is the one of the configuration."""
    if key.state == "PendingDeletion":
        yield Finding(
            _KEY,
            "fault",
            "it is to be deleted",
            "The secret cannot be read now, and never again once it is gone. Then enable it.",
            place.aws("kms cancel-key-deletion", key_id=key.id),
        )
    elif key.state != "Enabled":
        yield Finding(
            _KEY,
            "fault",
            f"its state is {key.state}",
            "The secret cannot be read, neither by the collector nor by MSK.",
            place.aws("kms enable-key", key_id=key.id),
        )
    if auth.kms_key_arn != key.arn:
        yield Finding(
            _KEY,
            "fault",
            f"the secret is encrypted with {key.arn}, and the configuration says "
            f"{auth.kms_key_arn or 'none'}",
            "The collector gets a right on the key of the configuration alone.",
            key_line("auth.kms_key_arn", key.arn),
        )
    elif key.state == "Enabled":
        yield Finding(_KEY, "ok", "it is yours and enabled, and the configuration's")


def _change_key(place: Place, secret: Secret, key: str | None) -> str | None:
    if key is None:
        return None
    return place.aws("secretsmanager update-secret", secret_id=secret.arn, kms_key_id=key)


def _check_association(place: Place, msk: MskCluster, secret: Secret) -> Iterator[Finding]:
    check = "secret of the cluster"
    if secret.arn in associated_secrets(place.client("kafka"), msk.arn):
        yield Finding(check, "ok", "the secret is associated with the cluster")
        return
    yield Finding(
        check,
        "fault",
        "the secret is not associated with the cluster",
        "The brokers do not know its user.",
        place.aws(
            "kafka batch-associate-scram-secret",
            cluster_arn=msk.arn,
            secret_arn_list=[secret.arn],
        ),
    )


def _check_content(place: Place, secret: Secret, login: str) -> Iterator[Finding]:
    check = "login in the secret"
    with using("secretsmanager:GetSecretValue (and kms:Decrypt on its key)"):
        text = read_secret(place.client("secretsmanager"), secret.arn)
    missing = _missing_fields(text, login)
    blank = [] if missing or login != "scram" else _blank_ends(text, login)
    if not missing and not blank:
        yield Finding(check, "ok", f"it has {' and '.join(_FIELDS[login])}")
        return
    yield Finding(
        check,
        "fault" if missing else "warning",
        missing or f"its {' and '.join(blank)} begins or ends with a blank or a line's end",
        ("" if missing else "It is part of the login, which is seldom meant. ")
        + f"Write a JSON object with {' and '.join(_FIELDS[login])} into {_LOGIN_FILE}, which "
        "others cannot read, and remove it afterwards.",
        place.aws(
            "secretsmanager put-secret-value",
            secret_id=secret.arn,
            secret_string=f"file://{_LOGIN_FILE}",
        ),
    )


def _blank_ends(text: str | None, login: str) -> list[str]:
    """The fields that begin or end with white space."""
    content = json.loads(text or "")
    return [field for field in _FIELDS[login] if content[field] != content[field].strip()]


def _missing_fields(text: str | None, login: str) -> str:
    """Return what is wrong with a secret's text, without quoting it."""
    try:
        content = json.loads(text or "")
    except ValueError:
        return "it is no JSON"
    if not isinstance(content, dict):
        return "it is no JSON object"
    missing = [
        field
        for field in _FIELDS[login]
        if not isinstance(content.get(field), str) or not content[field]
    ]
    return f"it has no {' and no '.join(missing)}" if missing else ""
