# SPDX-License-Identifier: Apache-2.0
"""What a user wrote, as it is before it has types."""
