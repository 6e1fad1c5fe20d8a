# SPDX-License-Identifier: Apache-2.0
"""Whether the policy of a topic or key allows an AWS service, as far as this can be read.

Of conditions those on whose resource the service acts for are judged, and on TLS, which services
use. Of any other nothing is known [IAM user guide, policy evaluation logic].
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class ServiceCall:
    """A service that acts for a resource of an account, `source` its ARN."""

    service: str
    account: str
    source: str


def lets_in(policy: str, action: str, call: ServiceCall) -> bool | None:
    """Return true if the policy allows the call; null if that depends on an unjudged condition."""
    allowed = [
        _meets(each.get("Condition", {}), call)
        for each in _statements(policy, "Allow", action, call)
    ]
    denied = [
        _meets(each.get("Condition", {}), call)
        for each in _statements(policy, "Deny", action, call)
    ]
    if True in denied or not any(each is not False for each in allowed):
        return False
    return True if True in allowed and None not in denied else None


def _statements(
    policy: str, effect: str, action: str, call: ServiceCall
) -> Iterator[Mapping[str, Any]]:
    """Yield the statements of this effect about the service and the action."""
    for each in _listed(json.loads(policy or "{}").get("Statement", [])):
        if each.get("Effect") != effect:
            continue
        who = (
            _is_principal(each["Principal"], call)
            if "Principal" in each
            else not _is_principal(each.get("NotPrincipal", "*"), call)
        )
        what = (
            _is_action(each["Action"], action)
            if "Action" in each
            else not _is_action(each.get("NotAction", "*"), action)
        )
        if who and what:
            yield each


def _is_principal(principal: Any, call: ServiceCall) -> bool:
    if isinstance(principal, str):
        return principal == "*"
    services, everybody = _listed(principal.get("Service", [])), _listed(principal.get("AWS", []))
    return call.service in services or "*" in services or "*" in everybody


def _is_action(patterns: Any, action: str) -> bool:
    return any(fnmatchcase(action.lower(), each.lower()) for each in _listed(patterns))


def _meets(conditions: Mapping[str, Mapping[str, Any]], call: ServiceCall) -> bool | None:
    """All must hold; one that does not decides, whatever is unknown."""
    known = {
        "aws:sourceaccount": call.account,
        "aws:sourceowner": call.account,
        "aws:sourcearn": call.source,
        "aws:securetransport": "true",
    }
    held = [
        _holds(operator, known.get(key.lower()), values)
        for operator, keys in conditions.items()
        for key, values in keys.items()
    ]
    if False in held:
        return False
    return None if None in held else True


def _holds(operator: str, value: str | None, values: Any) -> bool | None:
    name = operator.lower().removesuffix("ifexists")
    kind = name.replace("not", "", 1)
    if value is None or kind not in _MATCHES:
        return None
    found = any(_MATCHES[kind](value, str(each)) for each in _listed(values))
    return found if kind == name else not found


def _is_equal(value: str, wanted: str) -> bool:
    return value == wanted


def _is_equal_in_any_case(value: str, wanted: str) -> bool:
    return value.lower() == wanted.lower()


# By the operator's name in lower case. ARNs are matched as patterns by both of theirs.
_MATCHES: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "stringequals": _is_equal,
    "stringequalsignorecase": _is_equal_in_any_case,
    "stringlike": fnmatchcase,
    "arnequals": fnmatchcase,
    "arnlike": fnmatchcase,
    "bool": _is_equal_in_any_case,
}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
