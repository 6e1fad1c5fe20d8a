# SPDX-License-Identifier: Apache-2.0
"""What was told, and who is telling: small guarded objects in the bucket of the snapshots."""
