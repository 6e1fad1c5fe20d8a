# SPDX-License-Identifier: Apache-2.0
"""A rehearsal of the deployment: the templates that users get, deployed in an AWS emulator."""
