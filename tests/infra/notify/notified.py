# SPDX-License-Identifier: Apache-2.0
"""Somebody to tell, of every kind."""

from __future__ import annotations

from kafka_lag_cdk.config.shared import Notify

_ID = "0a1b2c3d-aaaa-bbbb-cccc-444455556666"
NOTIFY = Notify.model_validate(
    {
        "email": ["ops@example.com", "night@example.com"],
        "https": ["https://pages.example/in/SECRET"],
        "slack": [{"name": "ops", "workspace_id": "T0123ABCD", "channel_id": "C0123ABCD"}],
        "teams": [
            {
                "name": "ops",
                "team_id": _ID,
                "channel_id": "19%3ab6ef35dc342d56ba5654e6fc6d25a071%40thread.tacv2",
                "tenant_id": _ID,
            }
        ],
    }
)
