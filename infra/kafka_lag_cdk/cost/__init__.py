# SPDX-License-Identifier: Apache-2.0
"""What a configuration will cost a month: what it uses, times AWS's prices. No CDK needed."""
