# SPDX-License-Identifier: Apache-2.0
"""What `doctor` finds in AWS: credentials, clock, cluster, login and secret, network, a run.

Each check says what is so, what follows, and the line that repairs it. One that takes a right that
is missing says which, and is "unknown".
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from kafka_lag.aws import AWS_ERRORS, error_code, read_secret
from kafka_lag.cli.account.errors import AwsError, using
from kafka_lag.cli.account.msk_cluster import (
    MskCluster,
    Secret,
    associated_secrets,
    describe_cluster,
    describe_key,
    describe_secret,
    find_by_name,
)
from kafka_lag.cli.account.session import open_session
from kafka_lag.cli.deployed_place import Place, key_line
from kafka_lag.cli.deployment_file import read_deployed_cluster
from kafka_lag.cli.doctor_network import check_network
from kafka_lag.cli.doctor_run import check_run
from kafka_lag.cli.findings import Finding
from kafka_lag_cdk.config.cluster import Cluster
from kafka_lag_cdk.config.deployment import Deployment
from kafka_lag_cdk.config.network import ScramAuth, TlsAuth

CREDENTIALS, CLOCK, CLUSTER = "AWS credentials", "clock", "MSK cluster"
LOGIN, SECRET = "login enabled", "secret"

# AWS refuses what was signed more than five minutes ago, or in the future.
_REFUSED_SECONDS, _SKEWED_SECONDS = 300, 30

_EXPIRED = ("ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "SSOTokenLoadError")
_ABSENT = ("NotFoundException", "ResourceNotFoundException")
# Those who do not log in.
_OPEN = ("none", "plaintext")
_CALLED = {
    "iam": "iam",
    "scram": "scram",
    "tls": "tls",
    "none": "clients without a login over TLS",
    "plaintext": "clients without a login in plain text",
}
# What a document says instead, the nearest first.
_INSTEAD = {
    "none": 'auth = { type = "none" }',
    "plaintext": 'auth = { type = "none", plaintext = true }',
    "iam": 'auth = { type = "iam" }',
}
_OF_MSK = "AmazonMSK_"
_FIELDS = {"scram": ("username", "password"), "tls": ("certificate", "private_key")}
_LOGIN_FILE = "login.json"

Clock = Callable[[], float]


def check_document(
    path: Path, cluster: str | None, profile: str | None, *, invoke: bool = False
) -> list[Finding]:
    """What AWS says of a cluster in the document of a deployment; nothing of another document.

    To be called before MSK is asked for brokers: where the login is not enabled it names none.
    Raises ConfigError for a document or a profile that cannot be used.
    """
    found = read_deployed_cluster(path, cluster)
    if found is None:
        return []
    return check_deployment(*found, open_session(profile), invoke=invoke)


def check_deployment(
    deployment: Deployment,
    cluster: Cluster,
    session: Any,
    *,
    invoke: bool = False,
    clock: Clock = time.time,
) -> list[Finding]:
    """What AWS says of one cluster of a deployment, with the credentials of a boto3 session.

    With `invoke` the deployed function runs once. Raises nothing for what AWS answers.
    """
    place = Place(deployment, cluster, session)
    findings = list(_check_credentials(place, clock))
    if any(each.check == CREDENTIALS and each.severity != "ok" for each in findings):
        return findings
    msk: MskCluster | None = None
    try:
        msk, found = _check_cluster(place)
        findings += found
    except AwsError as error:
        findings.append(not_made(CLUSTER, error))
    if msk is not None:
        findings.append(_check_login(place, msk))
    findings += _collect(SECRET, _check_secret(place, msk))
    for check, found_there in check_network(place, msk):
        findings += _collect(check, found_there)
    if invoke:
        findings += _collect("run", check_run(place, clock))
    return findings


def not_made(check: str, error: AwsError) -> Finding:
    """A check that AWS did not let us make."""
    why = f"Not looked at: let somebody allow {error.right}." if error.denied else "Not looked at."
    return Finding(check, "unknown", str(error), why)


def _collect(check: str, found: Iterable[Finding]) -> list[Finding]:
    """What a check finds until AWS does not answer it."""
    findings = []
    try:
        for finding in found:
            findings.append(finding)  # noqa: PERF402 - what came before an error counts
    except AwsError as error:
        findings.append(not_made(check, error))
    return findings


def _check_credentials(place: Place, clock: Clock) -> Iterator[Finding]:
    try:
        answer = place.client("sts").get_caller_identity()
    except AWS_ERRORS as error:
        answer = getattr(error, "response", {})
        if answer:
            yield from _check_clock(answer, clock)
        yield _bad_credentials(place, error_code(error))
        return
    yield from _check_clock(answer, clock)
    account = answer["Account"]
    if place.account and account != place.account:
        yield Finding(
            CREDENTIALS,
            "fault",
            f"they are of the account {account}, and the document's cluster {place.cluster.name} "
            f"is in {place.account}",
            "Nothing of the cluster is seen with them: give --profile with one of that account.",
        )
        return
    yield Finding(CREDENTIALS, "ok", f"they are of the account {account}")


def _bad_credentials(place: Place, code: str) -> Finding:
    if code == "NoCredentialsError":
        return Finding(
            CREDENTIALS,
            "unknown",
            "there are none, so AWS is not looked at",
            "Set the environment's, or give --profile.",
            f"aws configure{place.profile_option()}",
        )
    if code in _EXPIRED:
        return Finding(
            CREDENTIALS,
            "fault",
            f"they have expired ({code})",
            "Log in again.",
            f"aws sso login{place.profile_option()}",
        )
    return Finding(
        CREDENTIALS,
        "fault",
        f"AWS does not take them ({code})",
        "Check which are used, and the clock.",
        f"aws configure list{place.profile_option()}",
    )


def _check_clock(answer: Mapping[str, Any], clock: Clock) -> Iterator[Finding]:
    headers = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    try:
        theirs = parsedate_to_datetime(headers["date"]).timestamp()
    except (KeyError, ValueError):
        yield Finding(CLOCK, "unknown", "AWS's answer has no date to compare with")
        return
    seconds = round(clock() - theirs)
    if abs(seconds) <= _SKEWED_SECONDS:
        yield Finding(CLOCK, "ok", "it agrees with AWS's")
        return
    refused = abs(seconds) >= _REFUSED_SECONDS
    yield Finding(
        CLOCK,
        "fault" if refused else "warning",
        f"this machine is {abs(seconds)} s {'ahead of' if seconds > 0 else 'behind'} AWS",
        f"AWS refuses what is signed {_REFUSED_SECONDS} s off, tokens for MSK IAM too.",
        "sudo timedatectl set-ntp true",
    )


def _check_cluster(place: Place) -> tuple[MskCluster | None, list[Finding]]:
    cluster = place.cluster
    if cluster.arn is None:
        return None, [Finding(CLUSTER, "info", "the document has no ARN, so MSK is not asked")]
    client = place.client("kafka")
    try:
        msk = describe_cluster(client, cluster.arn)
    except AwsError as error:
        if error.code not in _ABSENT:
            raise
        return None, [_absent_cluster(client, cluster)]
    findings = []
    if msk.state == "ACTIVE":
        findings.append(Finding(CLUSTER, "ok", "it is there and ACTIVE"))
    else:
        findings.append(
            Finding(
                CLUSTER,
                "warning",
                f"its state is {msk.state}",
                "Until it is ACTIVE brokers may not be reached, and changes are refused.",
            )
        )
    own = "express" if msk.is_express else "standard"
    if own != cluster.broker_type:
        findings.append(
            Finding(
                CLUSTER,
                "fault",
                f"its brokers are of the type {own}, not {cluster.broker_type}",
                "Alarms on disks would be missing, or be without data.",
                key_line("broker_type", own),
            )
        )
    return msk, findings


def _absent_cluster(client: Any, cluster: Cluster) -> Finding:
    arn = None
    if cluster.msk_name:
        try:
            arn = find_by_name(client, cluster.msk_name)
        except AwsError:
            arn = None
    why = (
        f"There is another of the name {cluster.msk_name}: it was made anew."
        if arn
        else "Compare with `aws kafka list-clusters-v2`."
    )
    return Finding(
        CLUSTER,
        "fault",
        f"MSK has no cluster {cluster.arn}",
        why,
        key_line("arn", arn) if arn else None,
    )


def _check_login(place: Place, msk: MskCluster) -> Finding:
    way = place.cluster.way_in
    if way in msk.logins:
        return Finding(LOGIN, "ok", f"the cluster lets {_CALLED[way]} in")
    what = f"the cluster does not let {_CALLED[way]} in"
    there = ", ".join(_CALLED[each] for each in sorted(msk.logins))
    why = f"It lets in: {there or 'nobody'}."
    if way in _OPEN or msk.is_serverless:
        # A line that opens a cluster to everybody would be no repair.
        other = next((each for each in _INSTEAD if each in msk.logins), None)
        why += " Let the document log in as it wants it (kafka-lag init writes that)."
        return Finding(LOGIN, "fault", what, why, _INSTEAD[other] if other else None)
    if way == "tls":
        why += " Enable it with the ARN of the private authority that signs the certificates."
        return Finding(LOGIN, "fault", what, why)
    options: dict[str, Any] = {"client_authentication": _with_login(msk, way)}
    if msk.transport == "PLAINTEXT":
        options["encryption_info"] = {"EncryptionInTransit": {"ClientBroker": "TLS_PLAINTEXT"}}
    return Finding(
        LOGIN,
        "fault",
        what,
        f"{why} The line leaves all of these in. MSK changes it broker by broker: wait until the "
        "cluster is ACTIVE.",
        place.aws(
            "kafka update-security",
            cluster_arn=msk.arn,
            current_version=msk.version,
            **options,
        ),
    )


def _with_login(msk: MskCluster, way: str) -> dict[str, Any]:
    """All that is enabled and this one more: what is left out may be taken for switched off."""
    found = dict(msk.authentication)
    found["Sasl"] = {**found.get("Sasl", {}), way.capitalize(): {"Enabled": True}}
    if msk.logins.intersection(_OPEN):
        found["Unauthenticated"] = {"Enabled": True}
    return found


def _check_secret(place: Place, msk: MskCluster | None) -> Iterator[Finding]:
    auth = place.cluster.auth
    if not isinstance(auth, ScramAuth | TlsAuth):
        return
    # MSK's users; brokers that are not MSK's, or certificates, want no name and no key.
    of_msk = isinstance(auth, ScramAuth) and place.cluster.arn is not None
    try:
        secret = describe_secret(place.client("secretsmanager"), auth.secret_arn)
    except AwsError as error:
        if error.code not in _ABSENT:
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
    of_key = _collect("secret's key", _check_key(place, secret, auth, of_msk=of_msk))
    yield from of_key
    if of_msk and msk is not None:
        yield from _collect("secret of the cluster", _check_association(place, msk, secret))
    if not any(each.severity == "fault" for each in of_key):
        yield from _collect("login in the secret", _check_content(place, secret, auth.type))


def _absent_secret(place: Place, auth: ScramAuth | TlsAuth) -> Finding:
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
    place: Place, secret: Secret, auth: ScramAuth | TlsAuth, *, of_msk: bool
) -> Iterator[Finding]:
    check = "secret's key"
    client = place.client("kms")
    key = None
    if secret.key is not None:
        try:
            key = describe_key(client, secret.key)
        except AwsError as error:
            if error.code != "NotFoundException":
                raise
            yield Finding(
                check,
                "fault",
                f"KMS has no key {secret.key}",
                "The secret cannot be read any more: give it another key and another value.",
                _change_key(place, secret, auth.kms_key_arn),
            )
            return
    if key is None or not key.is_customers:
        if of_msk:
            yield Finding(
                check,
                "fault",
                "it is AWS's own",
                "MSK takes no secret that is encrypted with it: make or take a key of yours.",
                _change_key(place, secret, auth.kms_key_arn),
            )
        elif auth.kms_key_arn is not None:
            yield Finding(
                check,
                "warning",
                "it is AWS's own, and the document names one of yours",
                "",
                _change_key(place, secret, auth.kms_key_arn),
            )
        else:
            yield Finding(check, "ok", "it is AWS's own")
        return
    if key.state == "PendingDeletion":
        yield Finding(
            check,
            "fault",
            "it is to be deleted",
            "The secret cannot be read now, and never again once it is gone. Then enable it.",
            place.aws("kms cancel-key-deletion", key_id=key.id),
        )
    elif key.state != "Enabled":
        yield Finding(
            check,
            "fault",
            f"its state is {key.state}",
            "The secret cannot be read, neither by the collector nor by MSK.",
            place.aws("kms enable-key", key_id=key.id),
        )
    if auth.kms_key_arn != key.arn:
        yield Finding(
            check,
            "fault",
            f"the secret is encrypted with {key.arn}, and the document says "
            f"{auth.kms_key_arn or 'none'}",
            "The collector gets a right on the key of the document alone.",
            key_line("auth.kms_key_arn", key.arn),
        )
    elif key.state == "Enabled":
        yield Finding(check, "ok", "it is yours and enabled, and the document's")


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
    """What is wrong with a secret's text, without a word of it."""
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
