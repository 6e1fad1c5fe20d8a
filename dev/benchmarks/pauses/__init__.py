# SPDX-License-Identifier: Apache-2.0
"""Weeks of groups that work, pause and fail, at a run a minute, against the rule on pauses."""

from __future__ import annotations
