# SPDX-License-Identifier: Apache-2.0
"""The monthly cost of a configuration: its usage times AWS's prices. Needs no CDK."""
