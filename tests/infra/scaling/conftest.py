# SPDX-License-Identifier: Apache-2.0
"""The templates of scaled services."""

from __future__ import annotations

import pytest

from tests.infra.scaling import services
from tests.infra.scaling.services import Resources


@pytest.fixture(name="resolved", scope="session")
def _resolved() -> dict[str, Resources]:
    return services.resolved()
