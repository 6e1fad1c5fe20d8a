# SPDX-License-Identifier: Apache-2.0
"""Hook of mkdocs.yml: links of docs/ to files that the site does not have.

On the site such a link becomes the file's name, because the repository's address is not known.
"""

from __future__ import annotations

import re

_OUTSIDE = re.compile(r"\[([^\]]*)\]\((?:\.\./|grafana/)([^)#]*)[^)]*\)")


def on_page_markdown(markdown: str, **_: object) -> str:
    """Returns the page with the name of the file in place of each link out of docs/."""
    return _OUTSIDE.sub(lambda link: f"{link[1]} (`{link[2]}` in the repository)", markdown)
