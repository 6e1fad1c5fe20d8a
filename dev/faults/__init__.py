# SPDX-License-Identifier: Apache-2.0
"""A fault campaign that knows the truth: `python -m dev.faults`."""
