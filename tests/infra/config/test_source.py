# SPDX-License-Identifier: Apache-2.0
"""A file that is not quite JSON, or TOML, is refused with the place, and with what to change."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from kafka_lag_cdk.config.faults import ConfigurationError
from kafka_lag_cdk.config.reading import CONTEXT_KEY, read
from kafka_lag_cdk.config.source import load


def refused(text: str, folder: Path) -> tuple[str, ...]:
    (folder / "lag.json").write_text(text)
    with pytest.raises(ConfigurationError, match=r"lag\.json") as caught:
        read("lag.json", folder)
    return caught.value.faults


def test_keys_that_stand_twice_are_all_told(tmp_path: Path) -> None:
    text = '{"name": "a", "clusters": [{"hold": 1, "hold": 2}], "name": "b"}'
    assert refused(text, tmp_path) == (
        'the key "hold" stands twice in one object: keep one',
        'the key "name" stands twice in one object: keep one',
    )


def test_a_key_may_stand_in_two_objects(tmp_path: Path) -> None:
    message = refused('{"clusters": [{"name": 1}, {"name": 2}]}', tmp_path)
    assert not [fault for fault in message if "twice" in fault]


@pytest.mark.parametrize(
    "text", ['{"clusters": [],\n}', '{"clusters": [1, 2, ]}', '{"a": {"b": 1 ,} }', "[1,]"]
)
def test_a_trailing_comma_is_told(text: str, tmp_path: Path) -> None:
    (message,) = refused(text, tmp_path)
    assert message.startswith("it is not JSON (")
    assert message.endswith("): take out the comma before the closing bracket")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{ // all\n "a": 1}', "line 1 column 3"),
        ('{"a": 1, // one\n "b": 2}', "line 1 column 10"),
        ('{"a": 1 // one\n}', "line 1 column 9"),
        ('{\n "a": /* one */ 1}', "line 2 column 7"),
        ("# all\n{}", "line 1 column 1"),
        ("{} // all", "line 1 column 4"),
    ],
)
def test_a_comment_in_json_is_told(text: str, place: str, tmp_path: Path) -> None:
    (message,) = refused(text, tmp_path)
    assert f": {place} (" in message
    assert message.endswith("): take the comment out, as JSON has none; a .toml file may have them")


@pytest.mark.parametrize(
    "text", ["{", '{"a": 1, "b": "//"', '{"a" 1}', '{"a": }', "", '{"a": 1, "b" : ,}']
)
def test_another_slip_has_no_such_hint(text: str, tmp_path: Path) -> None:
    (message,) = refused(text, tmp_path)
    assert message.startswith("it is not JSON (")
    assert "comma before" not in message
    assert "comment" not in message


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_in_json_is_refused(number: str, tmp_path: Path) -> None:
    assert refused(f'{{"a": {number}}}', tmp_path) == (
        f"it is not JSON ({number} is no number there)",
    )


def test_a_file_in_another_encoding_is_told(tmp_path: Path) -> None:
    (tmp_path / "lag.json").write_bytes('{"name": "ä"}'.encode("latin-1"))
    with pytest.raises(ConfigurationError, match="is not JSON"):
        read("lag.json", tmp_path)


@pytest.mark.parametrize("given", ['{"clusters": []}', ' \n{"clusters": []}', "[]"])
def test_an_object_on_the_command_line_is_told_where_to_go(given: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read(given, tmp_path)
    assert caught.value.faults == (
        f"context.{CONTEXT_KEY} is text that begins with {given.strip()[0]}: give a path, or put "
        "the object into cdk.json",
    )
    assert "clusters" not in str(caught.value)


def refused_toml(text: str, folder: Path) -> tuple[str, ...]:
    (folder / "lag.toml").write_text(text)
    with pytest.raises(ConfigurationError, match=r"lag\.toml") as caught:
        read("lag.toml", folder)
    return caught.value.faults


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "[[clusters]]\n[clusters.vpc]\nid = 1\nid = 2\n",
            "overwrite a value (at line 4, column 7)",
        ),
        ("a = 1\nb = null\n", "Invalid value (at line 2, column 5)"),
        ("a = [1,\n", "Invalid value (at end of document)"),
        (f"a = {50_000 * '['}{50_000 * ']'}\n", "maximum recursion depth exceeded"),
    ],
    ids=["a-key-twice", "null", "an-open-list", "too-deep"],
)
def test_what_is_no_toml_is_refused_with_its_place(text: str, fault: str, tmp_path: Path) -> None:
    (sentence,) = refused_toml(text, tmp_path)
    assert sentence.startswith("it is not TOML (")
    assert fault in sentence


def test_a_toml_file_in_another_encoding_is_told(tmp_path: Path) -> None:
    (tmp_path / "lag.toml").write_bytes('name = "ä"'.encode("latin-1"))
    with pytest.raises(ConfigurationError, match="is not TOML in UTF-8"):
        read("lag.toml", tmp_path)


@pytest.mark.parametrize("value", ["2026-01-31", "nan", "inf", "[]", '"1"', "true"])
def test_a_toml_value_of_another_type_is_told_with_its_path(value: str, tmp_path: Path) -> None:
    message = refused_toml(f'[[clusters]]\nname = "a"\ninterval_seconds = {value}\n', tmp_path)
    assert message[0].startswith("clusters[0].interval_seconds: Input should be a ")


TOML = """
# What all clusters have.
[defaults.auth]
type = "iam"  # the function's own role

[[clusters]]
name = "orders"
arn = 'arn:aws:kafka:us-east-1:111122223333:cluster/orders/0a1b2c3d-1111-2222-3333-444455556666-7'
vpc = {id = "vpc-0a1b2c3d4e5f60718", subnets = ["subnet-0a1b2c3d4e5f60718"]}
sla_seconds."^billing$" = 300
groups.deny = '^console-\\d'

[[clusters]]
name = "audit"
arn = 'arn:aws:kafka:us-east-1:111122223333:cluster/audit/0a1b2c3d-1111-2222-3333-444455556666-7'

[clusters.vpc]
id = "vpc-0a1b2c3d4e5f60718"
subnets = ["subnet-0a1b2c3d4e5f60718"]
"""


def test_toml_says_what_json_of_the_same_keys_says(tmp_path: Path) -> None:
    (tmp_path / "lag.toml").write_text(TOML)
    same = json.dumps(tomllib.loads(TOML))
    (tmp_path / "lag.json").write_text(same)
    found = read("lag.toml", tmp_path)
    assert found == read("lag.json", tmp_path)
    assert [each.name for each in found.clusters] == ["orders", "audit"]


def test_expressions_in_toml_keep_their_order(tmp_path: Path) -> None:
    orders = "[clusters.sla_seconds]\n'^pay' = 60\n'^bill' = 300\n'.*' = 900\n"
    text = TOML.replace('sla_seconds."^billing$" = 300\n', "")
    (tmp_path / "lag.toml").write_text(f"{text}{orders}")
    found = read("lag.toml", tmp_path).clusters[1]
    assert list(found.sla_seconds.items()) == [("^pay", 60), ("^bill", 300), (".*", 900)]


@pytest.mark.parametrize("name", ["LAG.TOML", "lag.toml"])
def test_a_file_is_toml_by_its_name(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(TOML)
    assert len(read(name, tmp_path).clusters) == 2


def test_the_place_of_the_schema_is_no_configuration(tmp_path: Path) -> None:
    (tmp_path / "lag.toml").write_text(f'"$schema" = "docs/configuration.schema.json"\n{TOML}')
    assert len(read("lag.toml", tmp_path).clusters) == 2


@pytest.mark.parametrize("key", ["schema", "$shema"])
def test_a_key_that_is_nearly_that_of_the_schema_is_unknown(key: str, tmp_path: Path) -> None:
    message = refused_toml(f'"{key}" = "x"\n{TOML}', tmp_path)
    assert message == (f"{key}: unknown key, did you mean $schema?",)


@pytest.mark.parametrize(("name", "text"), [("lag.json", '{"a": 1}'), ("lag.toml", "a = 1")])
def test_a_mark_of_utf_8_at_the_beginning_is_no_fault(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, "utf-8-sig")
    assert load(tmp_path / name) == {"a": 1}
