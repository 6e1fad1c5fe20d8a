# SPDX-License-Identifier: Apache-2.0
"""The types of value in a configuration that pydantic has not: names, ARNs, patterns and such."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema

from kafka_lag.snapshots.keys import CLUSTER_NAME
from kafka_lag_config.expressions import find_expression_fault
from kafka_lag_config.faults import Fault, FaultsError

V = TypeVar("V")

# The default of a key that holds an object by names: each model has an empty one of its own.
EMPTY: Any = Field(default_factory=dict)

# Kafka lets a group's name hold anything; these make sense in expressions alone.
_WILD = (".*", ".+", "\\")

_LAST_PORT = 65_535

# An expression that only these names match: ^billing$ or ^(billing|mailer)$.
_ONE_NAME = r"(?:\\[.-]|[\w-])+"
_NAMES = re.compile(rf"\^(?:({_ONE_NAME})|\((?:\?:)?({_ONE_NAME}(?:\|{_ONE_NAME})*)\))\$")


@dataclass(frozen=True, slots=True, eq=False)
class Checked:
    """A check behind pydantic's own, or before it, and how it changes the JSON Schema."""

    check: Callable[[Any], Any]
    described: Callable[[JsonSchemaValue], JsonSchemaValue]
    before: bool = False

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        if self.before:
            return core_schema.no_info_before_validator_function(self.check, handler(source))
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(
        self, core: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return self.described(handler(core))


def find_names(expression: str) -> tuple[str, ...] | None:
    """Returns the only names that an expression such as `^billing$` or `^(billing|mailer)$`
    matches; None for any other expression."""
    if not (found := _NAMES.fullmatch(expression)):
        return None
    names = re.sub(r"\\(.)", r"\1", found[1] or found[2]).split("|")
    return tuple(dict.fromkeys(names))


def matching(pattern: str, sentence: str) -> Checked:
    """Text that a pattern fits as a whole; the sentence is for any other."""
    compiled = re.compile(pattern)

    def check(text: str) -> str:
        if not compiled.fullmatch(text):
            raise ValueError(sentence)
        return text

    # JavaScript, whose expressions they are there, has no \Z.
    whole = rf"^(?:{pattern})$".replace(r"\Z", "$")
    return Checked(check, lambda schema: {**schema, "pattern": whole})


def _like(pattern: str, expected: str) -> Checked:
    return matching(pattern, f"must be {expected}")


def _compiles(text: str) -> str:
    fault = find_expression_fault(text)
    # Where it is a key the fault is at the key, not at the object that holds it.
    FaultsError.raise_any([Fault((), fault)] if fault else [])
    return text


def _expressions(value: Any) -> dict[Any, Any]:
    if not isinstance(value, Mapping):
        sentence = "must be an object of regular expressions and their values"
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            example = {"^billing$": value}
            sentence += f", as in {json.dumps(example, ensure_ascii=False)}"
        raise ValueError(sentence)
    return dict(value)


def _exact(name: str) -> str:
    if name.startswith("^") or name.endswith("$") or any(part in name for part in _WILD):
        raise ValueError(
            "is taken for a group's exact name and looks like an expression; expressions are for "
            "groups.allow and sla_seconds"
        )
    return name


def find_name_fault(name: object) -> str | None:
    """Return what is wrong with a cluster's name that an app gives; null if nothing is."""
    is_name = isinstance(name, str) and CLUSTER_NAME.fullmatch(name)
    return None if is_name else f"must be {_NAME}"


def _addresses(text: str) -> str:
    try:
        if IPv4Network(text).with_prefixlen == text:
            return text
    except ValueError:
        pass
    raise ValueError("must be a range of addresses, such as 10.0.0.0/16")


def _port(server: str) -> str:
    if not 1 <= int(server.rpartition(":")[2]) <= _LAST_PORT:
        raise ValueError(f"must be host:port, with a port of 1 to {_LAST_PORT}")
    return server


def _listed(value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        # Pydantic would ask for a tuple, which no document has.
        raise ValueError("must be a list")
    return tuple(value)


def _distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    twice = sorted({value for value in values if values.count(value) > 1})
    if twice:
        raise ValueError(f"names {', '.join(twice)} twice")
    return values


# A JSON list; strict mode would take a tuple only.
Listed = BeforeValidator(_listed)
Distinct = Checked(_distinct, lambda schema: {**schema, "uniqueItems": True})

# A regular expression that is found anywhere in a name, and values by such expressions: the first
# that fits a name decides, so their order is kept.
Expression = Annotated[str, AfterValidator(_compiles)]
ByExpression = Annotated[dict[Expression, V], BeforeValidator(_expressions)]

# Also of ids, tags and names that CloudFormation checks when it is deployed.
Text = Annotated[str, _like(r"(?!\s)[^\x00-\x1f]+(?<!\s)", "text without blanks around it")]
GroupName = Annotated[Text, AfterValidator(_exact)]
_NAME = "letters, digits, '.', '_' or '-', 128 at most"
Name = Annotated[str, _like(CLUSTER_NAME.pattern, _NAME)]
# SSM refuses parameters whose path begins with either word.
Prefix = Annotated[
    str,
    _like(
        r"(?!aws|ssm)[a-z][a-z0-9-]{0,39}",
        "lower-case letters, digits and '-', 40 at most, and not begin with aws or ssm",
    ),
]
Region = Annotated[str, _like(r"[a-z]{2}(-[a-z]+)+-\d", "a region, such as eu-west-1")]
Account = Annotated[str, _like(r"\d{12}", "an account number of 12 digits")]
AccountRegion = Annotated[
    str,
    _like(
        r"(\d{12}/)?[a-z]{2}(-[a-z]+)+-\d",
        "a region, such as eu-west-1, or ACCOUNT/REGION",
    ),
]
KAFKA_ARN = r"arn:aws[a-z-]*:kafka:[a-z0-9-]+:\d{12}:cluster/[\w.-]+/[\w-]+"
# Of other ARNs only what is read of them here: service, region and account. Wildcards are refused,
# because policies name these ARNs.
_ARN = r"arn:aws[a-z-]*:{}:[a-z0-9-]+:\d{{12}}:{}"
KafkaArn = Annotated[
    str,
    _like(KAFKA_ARN, "an MSK cluster's ARN, arn:aws:kafka:REGION:ACCOUNT:cluster/NAME/UUID"),
]
SecretArn = Annotated[
    str,
    _like(
        _ARN.format("secretsmanager", r"secret:[^\s*?]+-[A-Za-z0-9]{6}"),
        "a secret's whole ARN, with the six characters that AWS puts at its end",
    ),
]
KeyArn = Annotated[
    str,
    _like(
        _ARN.format("kms", r"key/[^\s*?/]+"),
        "a KMS key's ARN, arn:aws:kms:REGION:ACCOUNT:key/ID (no alias)",
    ),
]
TopicArn = Annotated[
    str,
    _like(_ARN.format("sns", r"[^\s:*?]+"), "an SNS topic's ARN, arn:aws:sns:REGION:ACCOUNT:NAME"),
]
Cidr = Annotated[str, AfterValidator(_addresses)]
Server = Annotated[str, _like(r"[^\s,:]+:\d{1,5}", "host:port"), AfterValidator(_port)]
Email = Annotated[str, _like(r"[^\s@]+@[^\s@]+\.[^\s@]+", "an e-mail address")]
BucketName = Annotated[str, _like(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", "a bucket's name")]
EventBus = Annotated[
    str, _like(r"[^\s:/*?]+", "the name of an event bus of this account and region, not its ARN")
]
Https = Annotated[str, _like(r"https://\S+", "an https:// address")]
Count = Annotated[int, Field(ge=0)]
Whole = Annotated[int, Field(ge=1)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
