# SPDX-License-Identifier: Apache-2.0
"""What a configuration document may hold, and how its faults are told."""
