# SPDX-License-Identifier: Apache-2.0
"""Configurations as files: JSON, TOML, and errors for mistakes in them."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from kafka_lag_config.faults import ConfigurationError
from kafka_lag_config.reading import CONTEXT_KEY, read
from tests.golden import Golden
from tests.infra.configured import cluster_json

TOML = """
# What all clusters have.
[defaults.auth]
type = "iam"  # the function's own role

[[clusters]]
name = "orders"
arn = 'arn:aws:kafka:us-east-1:111122223333:cluster/orders/0a1b2c3d-1111-2222-3333-444455556666-7'
vpc = {id = "vpc-0a1b2c3d4e5f60718", subnets = ["subnet-0a1b2c3d4e5f60718"]}
groups.deny = '^console-\\d'
[clusters.sla_seconds]
'^pay' = 60
'^bill' = 300
'.*' = 900
"""
# Name and content of a file that cannot be a configuration.
SLIPS: dict[str, tuple[str, bytes | None]] = {
    "no file": ("lag.json", None),
    "no object": ("lag.json", b"[]"),
    "keys twice": ("lag.json", b'{"name": "a", "clusters": [{"hold": 1, "hold": 2}], "name": "b"}'),
    "a comma too many": ("lag.json", b'{"clusters": [],\n}'),
    "a comma too many in a list": ("lag.json", b'{"clusters": [1, 2, ]}'),
    "a comment": ("lag.json", b'{ // all\n "a": 1}'),
    "a comment after a value": ("lag.json", b'{"a": 1, // one\n "b": 2}'),
    "a comment before a value": ("lag.json", b'{\n "a": /* one */ 1}'),
    "a comment at the end": ("lag.json", b"{} // all"),
    "a comment of TOML": ("lag.json", b"# all\n{}"),
    "no comment in a text": ("lag.json", b'{"a": 1, "b": "//"'),
    "no colon": ("lag.json", b'{"a" 1}'),
    "no value": ("lag.json", b'{"a": 1, "b" : ,}'),
    "empty": ("lag.json", b""),
    "no number": ("lag.json", b'{"a": NaN}'),
    "another encoding": ("lag.json", '{"name": "ä"}'.encode("latin-1")),
    "TOML with a key twice": ("lag.toml", b"[[clusters]]\n[clusters.vpc]\nid = 1\nid = 2\n"),
    "TOML with null": ("lag.toml", b"a = 1\nb = null\n"),
    "TOML with an open list": ("lag.toml", b"a = [1,\n"),
    "TOML in another encoding": ("lag.toml", 'name = "ä"'.encode("latin-1")),
    "TOML with a day": ("lag.toml", b"[[clusters]]\nhold = 2026-01-31\n"),
    "TOML with nan": ("lag.toml", b"[[clusters]]\ninterval_seconds = nan\n"),
    "nearly the schema's key": ("lag.toml", f'"$shema" = "x"\n{TOML}'.encode()),
}


def said_of(name: str, content: bytes | None, folder: Path) -> str:
    if content is not None:
        (folder / name).write_bytes(content)
    with pytest.raises(ConfigurationError) as caught:
        read(name, folder)
    said = str(caught.value).replace(str(folder), "FOLDER")
    # Each Python words what it does not parse in its own way.
    return re.sub(
        r"(?<=it is not )([^(\n]+) \((?:[^\n]*?(line \d+,? column \d+))?[^\n]*\)", _stable, said
    )


def _stable(found: re.Match[str]) -> str:
    return f"{found[1]} (..., {found[2]})" if found[2] else f"{found[1]} (...)"


def test_a_slip_in_a_file_is_told_with_its_place(golden: Golden, tmp_path: Path) -> None:
    cases = {}
    for title, (name, content) in SLIPS.items():
        (folder := tmp_path / title).mkdir()
        cases[title] = said_of(name, content, folder)
    cases["an object on the command line"] = said_of(' \n{"clusters": []}', None, tmp_path)
    with pytest.raises(ConfigurationError) as caught:
        read(None, tmp_path)
    cases["nothing"] = str(caught.value)
    golden.holds_cases("configuration-files.txt", cases)


def test_toml_that_is_too_deep_is_refused(tmp_path: Path) -> None:
    deep = f"a = {50_000 * '['}{50_000 * ']'}\n".encode()
    assert "it is not TOML" in said_of("lag.toml", deep, tmp_path)


def test_toml_says_what_json_of_the_same_keys_says(tmp_path: Path) -> None:
    (tmp_path / "LAG.TOML").write_text(f'"$schema" = "docs/configuration.schema.json"\n{TOML}')
    # With the mark of UTF-8 that some editors write.
    (tmp_path / "lag.json").write_text(json.dumps(tomllib.loads(TOML)), "utf-8-sig")
    found = read("LAG.TOML", tmp_path)
    assert found == read("lag.json", tmp_path)
    # The order of expressions decides.
    assert list(found.clusters[0].sla_seconds) == ["^pay", "^bill", ".*"]


def test_context_may_name_a_file_or_hold_the_object(tmp_path: Path) -> None:
    given = {"clusters": [cluster_json()]}
    (tmp_path / "lag.json").write_text(json.dumps(given))
    assert read("lag.json", tmp_path) == read(given, tmp_path)
    assert CONTEXT_KEY == "msk-lag-reporter"
