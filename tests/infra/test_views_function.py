# SPDX-License-Identifier: Apache-2.0
"""Who may ask for views, and what the function that answers may do."""

from __future__ import annotations

import pytest

from tests.infra.answering import THEIRS, only, resources, rights, template
from tests.infra.resolve import of_type

VIEWS = "Views"
BUCKET = f"arn:aws:s3:::{THEIRS}"


def public(kind: str) -> list[tuple[str, bool]]:
    """What anybody at all may do with the function, and whether through its URL alone."""
    allowed = of_type(resources(kind), "AWS::Lambda::Permission").values()
    return [
        (each["Action"], "FunctionUrlAuthType" in each or each.get("InvokedViaFunctionUrl", False))
        for each in allowed
        if each["Principal"] == "*"
    ]


def test_unless_configured_otherwise_requests_are_signed() -> None:
    assert only("plain", "Lambda::Url")["AuthType"] == "AWS_IAM"
    assert public("plain") == []
    assert of_type(resources("plain"), "AWS::SecretsManager::Secret") == {}


def test_with_a_token_the_url_lets_all_through_to_the_function_that_asks_for_it() -> None:
    assert only("full", "Lambda::Url")["AuthType"] == "NONE"
    variables = only("full", "Lambda::Function", VIEWS)["Environment"]["Variables"]
    assert variables["KAFKA_LAG_AUTH"] == "bearer"
    assert sorted(public("full")) == [
        ("lambda:InvokeFunction", True),
        ("lambda:InvokeFunctionUrl", True),
    ]


def test_the_token_is_made_by_aws_and_named_to_the_function_alone() -> None:
    (name,) = of_type(resources("full"), "AWS::SecretsManager::Secret")
    made = only("full", "SecretsManager::Secret")
    assert made["GenerateSecretString"] == {"ExcludePunctuation": True, "PasswordLength": 48}
    assert "SecretString" not in made
    own = [each for each in template("full")["Resources"].values() if "Environment" in str(each)]
    named = [each for each in own if {"Ref": name} in _values(each)]
    assert [each["Properties"]["Handler"] for each in named] == ["kafka_lag.serve_lag.handler"]


def _values(resource: dict[str, dict[str, dict[str, dict[str, object]]]]) -> list[object]:
    return list(resource["Properties"].get("Environment", {}).get("Variables", {}).values())


def test_it_may_read_snapshots_and_write_its_log_and_nothing_else() -> None:
    log = {
        (action, where)
        for action, where in rights("plain", VIEWS)
        if where.startswith("arn:aws:logs:")
    }
    assert {action for action, _ in log} == {"logs:CreateLogStream", "logs:PutLogEvents"}
    assert rights("plain", VIEWS) - log == {
        ("s3:ListBucket", BUCKET),
        ("s3:GetObject", f"{BUCKET}/snapshots/*"),
    }


def test_it_may_list_snapshots_only() -> None:
    statements = only("plain", "IAM::Policy", VIEWS)["PolicyDocument"]["Statement"]
    (listing,) = (each for each in statements if each["Action"] == "s3:ListBucket")
    assert listing["Condition"] == {"StringLike": {"s3:prefix": ["snapshots/*"]}}


def test_with_a_token_it_may_read_its_secret_too() -> None:
    of_secret = [
        (action, where) for action, where in rights("full", VIEWS) if "secretsmanager" in action
    ]
    (name,) = of_type(resources("full"), "AWS::SecretsManager::Secret")
    assert of_secret == [("secretsmanager:GetSecretValue", name.lower())]


@pytest.mark.parametrize(
    ("kind", "memory", "concurrency", "days"), [("plain", 512, None, 14), ("full", 1024, 3, 30)]
)
def test_it_is_run_as_configured(
    kind: str, memory: int, concurrency: int | None, days: int
) -> None:
    function = only(kind, "Lambda::Function", VIEWS)
    assert function["MemorySize"] == memory
    assert function.get("ReservedConcurrentExecutions") == concurrency
    assert (function["Architectures"], function["Timeout"]) == (["arm64"], 30)
    assert "VpcConfig" not in function
    assert only(kind, "Logs::LogGroup", VIEWS)["RetentionInDays"] == days


def test_it_gets_the_bucket_and_no_secret_with_iam() -> None:
    variables = only("plain", "Lambda::Function", VIEWS)["Environment"]["Variables"]
    assert variables == {
        "KAFKA_LAG_BUCKET": THEIRS,
        "KAFKA_LAG_AUTH": "iam",
        "OPENBLAS_NUM_THREADS": "1",
    }


def test_nothing_of_it_is_there_when_it_is_off() -> None:
    kinds = {each["Type"] for each in resources("off").values()}
    assert [name for name in resources("off") if VIEWS in name] == []
    assert kinds & {"AWS::Lambda::Url", "AWS::Lambda::Function", "AWS::Lambda::Permission"} == set()
