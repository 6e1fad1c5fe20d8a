# SPDX-License-Identifier: Apache-2.0
"""The user's configuration, checked and typed before anything is synthesised."""
