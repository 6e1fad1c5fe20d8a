# SPDX-License-Identifier: Apache-2.0
"""Dashboards and the widgets on them, by the kind of cluster."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.infra.dashboard import pages
from tests.infra.dashboard.page import Widgets


@pytest.fixture(name="dashboards", scope="session")
def _dashboards() -> dict[str, dict[str, Any]]:
    return pages.dashboards()


@pytest.fixture(name="widgets", scope="session")
def _widgets(dashboards: dict[str, dict[str, Any]]) -> dict[str, Widgets]:
    return {
        kind: json.loads(properties["DashboardBody"])["widgets"]
        for kind, properties in dashboards.items()
    }
