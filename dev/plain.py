# SPDX-License-Identifier: Apache-2.0
"""`python -m dev.plain`: patterns of hard English, and barred words, in README.md and docs/.

Names in backticks and blocks of code are left out. `make lint` runs it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Patterns to find, and the words to write instead.
PATTERNS = {
    r"(?:^|[.!?] |\| |[-*] )(?:Of|Those|Whoever|Whose)\b": "begin with the subject",
    r"(?:^|[.!?] |[-*] )(?:As|That|What) [a-z]+ [a-z]+ (?:is|are|was|were|has|have)\b": (
        "begin with the subject"
    ),
    r", as (?:it|they|these|this|those|there|nothing|nobody|others) ": "because",
    r"\bwhere (?:that|this|none|nothing|nobody|somebody) (?:is|are|was)\b": "if",
    r"\bheard of\b": "reported",
    r"(?<!there )(?<!There )\bis no (?!longer\b)": "is not",
    r"(?<!there )\b(?:is|are) none\b": "there is no ...",
    r"\b(?:those|these|they) (?:that|who)\b": "name the thing",
    r"\bwhat is (?:so|such)\b": "name the thing",
    r"\bof (?:which|whom|whose) ": "two sentences",
}
WORDS = {
    "promise": "SLA",
    "service level": "SLA",
    "objective": "SLO",
    "anew": "again",
    "told": "reported",
    "made anew": "recreated",
    "reckon": "compute",
    "thinning": "sampling",
    "farewell": "last row",
    "standing": "unchanged",
    "crooked": "wrong",
    "glad": "healthy",
    "sorry": "unknown",
    "led by chance": "drawn",
}
_CODE = re.compile(r"`[^`\n]*`|\]\([^)]*\)|<[^>]*>")
_QUERY = re.compile(r"\| `[a-z_]+`: ")
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def find(text: str) -> Iterator[tuple[int, str, str]]:
    """Yields line number, found text and advice, for a page's text."""
    prose = _FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)
    for number, line in enumerate(prose.splitlines(), 1):
        # Titles of saved queries are names.
        if line.startswith(("    ", "#")) or _QUERY.search(line):
            continue
        plain = _CODE.sub("x", line)
        for pattern, advice in PATTERNS.items():
            for found in re.finditer(pattern, plain):
                yield number, found[0].strip(), advice
        for word, advice in WORDS.items():
            for found in re.finditer(rf"\b{word}s?\b", plain, re.IGNORECASE):
                yield number, found[0], advice


def main() -> int:
    """Prints all findings; returns 1 if there are any."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    count = 0
    for page in pages:
        for number, found, advice in find(page.read_text(encoding="utf-8")):
            count += 1
            print(f"{page.relative_to(ROOT)}:{number}: {found!r}: {advice}")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
