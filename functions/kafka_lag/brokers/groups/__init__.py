# SPDX-License-Identifier: Apache-2.0
"""Consumer groups: which there are, who is in them, what they committed."""
