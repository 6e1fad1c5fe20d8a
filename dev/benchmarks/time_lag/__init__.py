# SPDX-License-Identifier: Apache-2.0
"""Time lag against the truth: logs of known record times, and the answers about them."""

from __future__ import annotations
