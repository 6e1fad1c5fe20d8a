# SPDX-License-Identifier: Apache-2.0
"""What the page's tables and curves hold, in numbers; no markup."""
