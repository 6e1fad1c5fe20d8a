# SPDX-License-Identifier: Apache-2.0
"""Dating an offset."""
