# SPDX-License-Identifier: Apache-2.0
"""A rehearsal of the deployment: the real CDK command line against an AWS emulator."""
