# SPDX-License-Identifier: Apache-2.0
"""What commands are told on their command lines."""
