# SPDX-License-Identifier: Apache-2.0
"""What a user writes, checked and typed before anything is synthesised."""
