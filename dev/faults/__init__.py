# SPDX-License-Identifier: Apache-2.0
"""A fault campaign with its own truth: `python -m dev.faults`."""
