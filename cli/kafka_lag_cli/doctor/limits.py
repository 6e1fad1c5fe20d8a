# SPDX-License-Identifier: Apache-2.0
"""The check of the account's limit of concurrent executions, likeliest to fail a first deploy.

CloudFormation meets it in the middle of a deploy and rolls a stack back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafka_lag.wording.formatting import format_list
from kafka_lag_cli.account.errors import using
from kafka_lag_cli.doctor.findings import Finding
from kafka_lag_cli.doctor.place import Place

CONCURRENCY = "concurrency"

# Lambda keeps so many for functions that reserve none [Lambda developer guide, reserved
# concurrency].
_UNRESERVED = 100
_NAMED = 5

# Of a stack whose first deploy failed, as it does without concurrency, or has not begun.
_NEVER_DEPLOYED = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "REVIEW_IN_PROGRESS")


def check_concurrency(place: Place) -> Iterator[Finding]:
    """Yields whether what all clusters of the place reserve is free. Raises AwsError."""
    clusters = place.deployment.places()[place.deployment.place_of(place.cluster)]
    wanted = [
        (place.deployment.stack_name(each), "function.reserved_concurrency", reserved)
        for each in clusters
        if (reserved := each.function.reserved_concurrency)
    ]
    shared = place.deployment.shared
    if shared.views and (reserved := shared.views.concurrency):
        stack = place.deployment.views_stack_name
        wanted.append((stack, "shared.views.concurrency", reserved))
    if shared.status_messages and (reserved := shared.status_messages.reserved_concurrency):
        stack = place.deployment.shared_stack_name
        wanted.append((stack, "shared.status_messages.reserved_concurrency", reserved))
    with using("lambda:GetAccountSettings"):
        limits = place.client("lambda").get_account_settings()["AccountLimit"]
    total, free = limits["ConcurrentExecutions"], limits["UnreservedConcurrentExecutions"]
    missing = [(key, count) for stack, key, count in wanted if not _exists(place, stack)]
    more = sum(count for _, count in missing)
    if more <= max(0, free - _UNRESERVED):
        more_reserved = f", of which {more} more are reserved" if more else ""
        yield Finding(CONCURRENCY, "ok", f"{total} executions at once{more_reserved}")
        return
    keys = sorted({key for key, _ in missing})
    yield Finding(
        CONCURRENCY,
        "fault",
        f"{more} more are to be reserved ({format_list(keys, _NAMED)}), and the account has {free} "
        f"of {total} unreserved, of which {_UNRESERVED} stay so",
        f"The deploy would fail. Reserve none ({_off(keys)}), or ask for more; a new account has "
        "10.",
        place.aws(
            "service-quotas request-service-quota-increase",
            service_code="lambda",
            quota_code="L-B99A9384",
            desired_value=1000,
        ),
    )


def _off(keys: Iterable[str]) -> str:
    return ", ".join(f'{key} = "off"' if "views" in key else f"no {key}" for key in keys)


def _exists(place: Place, stack: str) -> bool:
    """Returns true if the stack is deployed, whose functions are taken to have what is wanted."""
    found = place.describe_stack(stack)
    return found is not None and found["StackStatus"] not in _NEVER_DEPLOYED
