# SPDX-License-Identifier: Apache-2.0
"""What this project's Lambda functions have in common, whatever runs in them."""
