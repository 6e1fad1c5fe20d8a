# SPDX-License-Identifier: Apache-2.0
"""The templates of scaled services, and what a synthesis says of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.infra.scaling import services
from tests.infra.scaling.services import Resources


@pytest.fixture(name="templates", scope="session")
def _templates() -> dict[str, Resources]:
    return services.templates()


@pytest.fixture(name="resolved", scope="session")
def _resolved() -> dict[str, Resources]:
    return services.resolved()


@pytest.fixture(name="info", scope="session")
def _info() -> str:
    """The information that synthesis adds to the service that follows steps."""
    services.stacks()
    folder = Path(services.app().synth().directory)
    found = json.loads((folder / "steps.metadata.json").read_text())
    (entry,) = (each for of in found.values() for each in of if each["type"] == "aws:cdk:info")
    return str(entry["data"])
