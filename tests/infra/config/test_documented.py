# SPDX-License-Identifier: Apache-2.0
"""The configuration at the beginning of docs/configuration.md is one, in JSON and in TOML."""

from __future__ import annotations

import json
import re
import textwrap
import tomllib
from pathlib import Path

from kafka_lag_cdk.config.reading import check

DOCS = Path(__file__).parents[3] / "docs"


def test_the_first_configuration_in_the_docs_is_the_same_in_json_and_toml() -> None:
    text = (DOCS / "configuration.md").read_text()
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.MULTILINE)
    written, same = (textwrap.dedent(block) for block in blocks[:2])
    assert tomllib.loads(same) == json.loads(written)
    assert check(json.loads(written), "the docs", DOCS).clusters
