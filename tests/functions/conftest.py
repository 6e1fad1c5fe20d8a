# SPDX-License-Identifier: Apache-2.0
"""One pace for all property tests: no stop-watch, as other work may run on the same machine."""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None, max_examples=60)
settings.load_profile("unhurried")
