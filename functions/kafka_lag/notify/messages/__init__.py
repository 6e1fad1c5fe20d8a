# SPDX-License-Identifier: Apache-2.0
"""Changes in words for people, and in JSON for machines; no AWS, no clock."""
