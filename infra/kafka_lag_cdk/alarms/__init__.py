# SPDX-License-Identifier: Apache-2.0
"""Who is told what: alarms on the reporter, on named groups, and on groups that nobody named."""
