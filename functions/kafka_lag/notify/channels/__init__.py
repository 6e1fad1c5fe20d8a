# SPDX-License-Identifier: Apache-2.0
"""Where messages go: SNS, and through it mail and chat, and EventBridge."""
