# SPDX-License-Identifier: Apache-2.0
"""Time lag against the truth: logs of known record times, our answers, and the rivals' methods."""

from __future__ import annotations
