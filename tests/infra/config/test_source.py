# SPDX-License-Identifier: Apache-2.0
"""A file that is not quite JSON is refused with the place, and with what to change."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_lag_cdk.config.faults import ConfigurationError
from kafka_lag_cdk.config.reading import CONTEXT_KEY, read


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
    told = refused('{"clusters": [{"name": 1}, {"name": 2}]}', tmp_path)
    assert not [fault for fault in told if "twice" in fault]


@pytest.mark.parametrize(
    "text", ['{"clusters": [],\n}', '{"clusters": [1, 2, ]}', '{"a": {"b": 1 ,} }', "[1,]"]
)
def test_a_trailing_comma_is_told(text: str, tmp_path: Path) -> None:
    (told,) = refused(text, tmp_path)
    assert told.startswith("it is not JSON (")
    assert told.endswith("): take out the comma before the closing bracket")


@pytest.mark.parametrize("text", ["{", '{"a" 1}', '{"a": }', "", '{"a": 1, "b" : ,}'])
def test_another_slip_has_no_such_hint(text: str, tmp_path: Path) -> None:
    (told,) = refused(text, tmp_path)
    assert told.startswith("it is not JSON (")
    assert "comma before" not in told


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
