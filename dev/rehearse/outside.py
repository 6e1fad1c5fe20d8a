# SPDX-License-Identifier: Apache-2.0
"""Makes calls with the deployed roles: some that must be denied, and some that must be allowed.

The daily job makes its own calls with its role: `daily_job`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from botocore.exceptions import ClientError

from dev.rehearse.account import FULL, PLAIN, SHARED_STACK, VIEWS_STACK, stack_of
from dev.rehearse.emulator import Credentials
from dev.rehearse.functions import LOOK_UP, NOTIFY, DeployedFunction, assume_service_role
from dev.rehearse.rehearsal import Rehearsal
from kafka_lag import contract
from kafka_lag.snapshots.keys import object_key

# What calls that must be denied are known by among all that were denied.
SESSION = "outside"
_INSIDE = "service"
_DENIED = {"AccessDenied", "AccessDeniedException", "AuthorizationError", "UnauthorizedOperation"}
# Service, operation and parameters; {names} are filled in by `_names`.
_Call: TypeAlias = tuple[str, str, dict[str, Any]]


def _get(key: str) -> _Call:
    return "s3", "get_object", {"Bucket": "{bucket}", "Key": key}


def _put(key: str) -> _Call:
    return "s3", "put_object", {"Bucket": "{bucket}", "Key": key, "Body": b"nothing"}


def _publish(topic: str) -> _Call:
    return "sns", "publish", {"TopicArn": topic, "Message": "nothing"}


def _secret(secret: str) -> _Call:
    return "secretsmanager", "get_secret_value", {"SecretId": secret}


def _invoke(function: str) -> _Call:
    return "lambda", "invoke", {"FunctionName": function, "Payload": b"{}"}


_HISTORY = f"{contract.HISTORY_PREFIX}/any"
_NOTIFIED = f"{contract.NOTIFIED_PREFIX}/any"
_SSH = {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22}
_OUTSIDE: Mapping[str, tuple[_Call, ...]] = {
    "collector": (
        _get("{other}"),
        _put("{other}"),
        _put(_HISTORY),
        ("s3", "delete_object", {"Bucket": "{bucket}", "Key": "{own}"}),
        ("s3", "list_objects_v2", {"Bucket": "{bucket}"}),
        _secret("{token}"),
        ("secretsmanager", "put_secret_value", {"SecretId": "{login}", "SecretString": "none"}),
        _publish("{alarms}"),
        (
            "ec2",
            "authorize_security_group_ingress",
            {"GroupId": "{brokers}", "IpPermissions": [_SSH]},
        ),
    ),
    "messages": (_put("{own}"), _get(_HISTORY), _publish("{alarms}"), _secret("{login}")),
    "views": (_put("{own}"), _get(_NOTIFIED), _secret("{login}"), _publish("{alarms}")),
    "look-up": (
        ("kafka", "get_bootstrap_brokers", {"ClusterArn": "{other_msk}"}),
        ("kafka", "list_clusters", {}),
        _get("{other}"),
        _secret("{login}"),
    ),
    "scheduler": (_invoke("{other_function}"), _get("{own}")),
    "events": (_publish("{alarms}"), _invoke("{collector}")),
    "glue": (_put("{own}"), _get(_NOTIFIED), _publish("{alarms}"), _secret("{login}")),
}
_INSIDE_CALLS = {"scheduler": _invoke("{collector}"), "events": _publish("{reports}")}
_SERVICES = {"scheduler": stack_of(FULL), "events": SHARED_STACK, "glue": SHARED_STACK}


@dataclass(frozen=True, slots=True)
class Attempt:
    """A call, and the code of its error; None if it was allowed."""

    by: str
    operation: str
    on: str
    error: str | None

    @property
    def denied(self) -> bool:
        """Returns whether the call failed because of missing rights."""
        return self.error in _DENIED

    def __str__(self) -> str:
        return f"{self.by}: {self.operation} on {self.on}: {self.error or 'let through'}"


def attempt_outside(rehearsal: Rehearsal) -> Iterator[Attempt]:
    """Makes calls that functions, Scheduler, EventBridge and Glue must not make."""
    functions = {
        "collector": rehearsal.function(FULL),
        "messages": rehearsal.shared_function(NOTIFY),
        "views": rehearsal.views_function(),
        "look-up": DeployedFunction.find(rehearsal.emulator, stack_of(PLAIN), LOOK_UP),
    }
    names = _names(rehearsal)
    for by, calls in _OUTSIDE.items():
        if by in functions:
            role = functions[by].credentials(rehearsal.emulator, SESSION)
        else:
            role = assume_service_role(rehearsal.emulator, _SERVICES[by], by, SESSION)
        for call in calls:
            yield _attempt(rehearsal, by, role, call, names)


def attempt_inside(rehearsal: Rehearsal) -> Iterator[Attempt]:
    """Makes the calls that Scheduler and EventBridge need to make."""
    for by, call in _INSIDE_CALLS.items():
        role = assume_service_role(rehearsal.emulator, _SERVICES[by], by, _INSIDE)
        yield _attempt(rehearsal, by, role, call, _names(rehearsal))


def _attempt(
    rehearsal: Rehearsal, by: str, role: Credentials, call: _Call, names: Mapping[str, str]
) -> Attempt:
    service, operation, parameters = call
    filled = {
        name: value.format(**names) if isinstance(value, str) else value
        for name, value in parameters.items()
    }
    code: str | None = None
    try:
        getattr(rehearsal.emulator.client(service, role), operation)(**filled)
    except ClientError as error:
        code = error.response["Error"]["Code"]
    return Attempt(by, f"{service} {operation}", str(filled), code)


def _names(rehearsal: Rehearsal) -> dict[str, str]:
    """Returns names, keys and ARNs that nobody, or only one role, may use."""
    taken_at = rehearsal.runs.taken_at[-1]
    return {
        "bucket": rehearsal.output(SHARED_STACK, "Bucket"),
        "own": object_key(contract.GROUPS, FULL, taken_at),
        "other": object_key(contract.GROUPS, PLAIN, taken_at),
        "alarms": rehearsal.output(SHARED_STACK, "AlarmTopic"),
        "reports": rehearsal.output(SHARED_STACK, "ReportTopic"),
        "token": rehearsal.output(VIEWS_STACK, "ViewsToken"),
        "login": rehearsal.existing.secret,
        "brokers": rehearsal.existing.brokers_security_group,
        "collector": rehearsal.function(FULL).name,
        "other_function": rehearsal.function(PLAIN).name,
        "other_msk": rehearsal.existing.msk.replace(PLAIN, FULL),
    }
