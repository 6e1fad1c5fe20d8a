# SPDX-License-Identifier: Apache-2.0
"""One run of the deployed function, started by hand, and what its answer means."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from botocore.config import Config
from botocore.exceptions import ReadTimeoutError

from kafka_lag import contract
from kafka_lag.aws import AWS_ERRORS, error_code
from kafka_lag_cli.account.errors import AwsError, using
from kafka_lag_cli.doctor.findings import Finding
from kafka_lag_cli.doctor.place import Place
from kafka_lag_cli.terminal.text import printable

RUN = "run"

# The function ends after 55 s; a run is not to be started twice.
_ONCE = Config(connect_timeout=5, read_timeout=75, retries={"total_max_attempts": 1})
_OUTPUT, _LOG_OUTPUT = "Function", "LogGroup"
_ABSENT = ("ValidationError", "ResourceNotFoundException")
_BUSY = ("TooManyRequestsException", "ResourceConflictException")
_LONGEST_SENTENCE = 600

# What to do about an error of a type, the class of the function's errors.
_ADVICE = {
    "ConfigError": "Change the configuration, and deploy again.",
    "LoginError": "Look at the findings on login and secret above.",
    "SourceError": (
        "The function does not reach the brokers, or they do not serve it: look at the brokers' "
        "security group, the subnets and the login above."
    ),
    "StoreError": "Look at the way to S3 above, the function's role, and the bucket's key.",
    "UnusableError": "Look at the bucket: something in it is damaged.",
    "SinkError": "Look at the ways to AWS above and at what receives the metrics.",
}


def check_run(place: Place, clock: Callable[[], float]) -> Iterator[Finding]:
    """Invokes the function with the event of this minute. Raises AwsError."""
    outputs = _outputs(place)
    if outputs is None or _OUTPUT not in outputs:
        yield Finding(
            RUN,
            "fault",
            f"there is no stack {place.stack} with a function in {place.region}",
            "It is not deployed, or the deploy failed: run `make deploy` with this configuration.",
        )
        return
    group = outputs.get(_LOG_OUTPUT)
    log = place.aws(f"logs tail {group}", since="10m") if group else None
    moment = datetime.fromtimestamp(clock(), UTC).replace(second=0, microsecond=0)
    event = {
        contract.EVENT_CLUSTER: place.cluster.name,
        contract.EVENT_SCHEDULED_TIME: moment.isoformat().replace("+00:00", "Z"),
    }
    client = place.client("lambda", config=_ONCE)
    try:
        answer = client.invoke(FunctionName=outputs[_OUTPUT], Payload=json.dumps(event).encode())
        payload = json.loads(answer["Payload"].read() or b"null")
    except ReadTimeoutError:
        yield Finding(RUN, "fault", "it did not answer in 75 s", "Read its log.", log)
        return
    except AWS_ERRORS as error:
        yield _not_started(place, error)
        return
    yield explain(payload, failed="FunctionError" in answer, log=log)


def _outputs(place: Place) -> dict[str, str] | None:
    """The outputs of the cluster's stack, None where there is none."""
    try:
        with using("cloudformation:DescribeStacks"):
            stacks = place.client("cloudformation").describe_stacks(StackName=place.stack)
    except AwsError as error:
        if error.code in _ABSENT:
            return None
        raise
    outputs = stacks["Stacks"][0].get("Outputs", [])
    return {each["OutputKey"]: each["OutputValue"] for each in outputs}


def _not_started(place: Place, error: Exception) -> Finding:
    code = error_code(error)
    if code in _BUSY:
        return Finding(
            RUN,
            "unknown",
            f"the function could not start ({code})",
            "It is being changed, or all of its concurrency is in use: try again.",
        )
    if code in _ABSENT:
        return Finding(
            RUN,
            "fault",
            f"the function of {place.stack} is gone",
            "It was removed beside the stack: deploy again after `cdk destroy` of that stack.",
        )
    raise AwsError("lambda:InvokeFunction", error) from error


def explain(payload: Any, *, failed: bool, log: str | None) -> Finding:
    """Return the finding on the function's answer; `log` is the line that shows its log."""
    if failed:
        return _explain_error(payload if isinstance(payload, Mapping) else {}, log)
    if not isinstance(payload, Mapping) or "groups" not in payload:
        return Finding(RUN, "fault", "the function answered nothing that it should", "", log)
    groups, objects = payload["groups"], payload.get("objects_written")
    if not groups:
        return Finding(
            RUN,
            "warning",
            f"it succeeded, saw no group and wrote {objects} objects",
            "There is none, or the login may not describe any, or the configuration denies all.",
            log,
        )
    # Of a minute that has run already nothing is written again.
    wrote = f"wrote {objects} objects" if objects else "found this minute's objects written already"
    return Finding(RUN, "ok", f"it succeeded: {groups} groups, and it {wrote}")


def _explain_error(payload: Mapping[str, Any], log: str | None) -> Finding:
    kind = str(payload.get("errorType", ""))
    sentence = printable(str(payload.get("errorMessage", "")))[:_LONGEST_SENTENCE]
    if kind == "Sandbox.Timedout" or "timed out after" in sentence.lower():
        return Finding(
            RUN,
            "fault",
            "it was ended by its time limit",
            "It waited for something that it does not reach: Secrets Manager or S3 (endpoint or "
            "NAT), or the brokers (security group, port). The findings above show which; the last "
            "line of the log is what it did before.",
            log,
        )
    if "accessdenied" in sentence.lower():
        return Finding(
            RUN,
            "fault",
            sentence,
            "A right of the function's role is missing, or a policy of the bucket, key or endpoint "
            "denies it: compare with what `make diff` would change.",
            log,
        )
    if kind == "Runtime.OutOfMemory" or "signal: killed" in sentence:
        return Finding(
            RUN,
            "fault",
            f"{printable(kind)}: {sentence}",
            "It was ended, most likely for want of memory: raise function.memory_mb in the "
            "configuration, and deploy again.",
            log,
        )
    if kind.startswith("Runtime."):
        return Finding(
            RUN,
            "fault",
            f"{printable(kind)}: {sentence}",
            "The function's package is not right for its Python or architecture: deploy again.",
            log,
        )
    return Finding(
        RUN,
        "fault",
        sentence or printable(kind) or "it failed without a word",
        _ADVICE.get(kind, "Read its log."),
        log,
    )
