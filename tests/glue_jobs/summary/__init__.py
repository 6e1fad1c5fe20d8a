# SPDX-License-Identifier: Apache-2.0
"""What a person is told: at the end of a run, and by message."""
