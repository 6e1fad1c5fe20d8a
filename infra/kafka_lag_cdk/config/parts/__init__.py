# SPDX-License-Identifier: Apache-2.0
"""The pieces that a configuration is made of, each with what it may say."""
