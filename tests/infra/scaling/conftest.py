# SPDX-License-Identifier: Apache-2.0
"""The templates of scaled services, and what a synthesis says of them."""

from __future__ import annotations

import pytest
from aws_cdk import cloud_assembly_schema
from aws_cdk.assertions import Annotations, Match

from tests.infra.scaling import services
from tests.infra.scaling.services import Resources


@pytest.fixture(name="templates", scope="session")
def _templates() -> dict[str, Resources]:
    return services.templates()


@pytest.fixture(name="resolved", scope="session")
def _resolved() -> dict[str, Resources]:
    return services.resolved()


@pytest.fixture(name="told", scope="session")
def _told() -> str:
    """What a synthesis says of the service that follows steps."""
    # What is found is of this type, whose module is loaded at its first use and not by its name.
    assert cloud_assembly_schema.MetadataEntry is not None
    found = Annotations.from_stack(services.stacks()["steps"]).find_info("*", Match.any_value())
    (entry,) = [each.entry.data for each in found]
    return str(entry)
