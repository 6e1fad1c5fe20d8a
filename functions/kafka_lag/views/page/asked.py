# SPDX-License-Identifier: Apache-2.0
"""What the address asks for: search, filters, order and page; nonsense falls back."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

_LONGEST = 200
_LAST_PAGE = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Empty texts ask for everything. `sort` is a column, after a minus the other way round.

    `name` is that of a view whose path cannot hold it.
    """

    q: str = ""
    status: str = ""
    owner: str = ""
    cluster: str = ""
    sort: str
    usual_sort: str
    page: int = 1
    refresh: bool = True
    name: str = ""

    def address(self, **changes: object) -> str:
        """The query string of the same view with changes, from its first page on."""
        told: dict[str, object] = {
            "q": self.q,
            "status": self.status,
            "owner": self.owner,
            "cluster": self.cluster,
            "sort": "" if self.sort == self.usual_sort else self.sort,
            "page": "",
            "refresh": "" if self.refresh else "off",
            "name": self.name,
            **changes,
        }
        return "?" + urlencode({name: value for name, value in told.items() if value})

    @property
    def column(self) -> str:
        """What is sorted by, whichever way round."""
        return self.sort.removeprefix("-")

    @property
    def reversed(self) -> bool:
        """Whether the other way round than is usual for the column."""
        return self.sort.startswith("-")

    @property
    def narrowed(self) -> bool:
        """Whether rows are left out on purpose."""
        return bool(self.q or self.status or self.owner or self.cluster)


def asked(query: Mapping[str, str], sorts: Collection[str], statuses: Collection[str]) -> Asked:
    """The first of `sorts` is usual; long texts are cut, words that do not exist left out."""
    usual = next(iter(sorts))
    sort, status = query.get("sort", ""), query.get("status", "").upper()
    return Asked(
        q=_cut(query.get("q", "")),
        status=status if status in statuses else "",
        owner=_cut(query.get("owner", "")),
        cluster=_cut(query.get("cluster", "")),
        sort=sort if sort.removeprefix("-") in sorts else usual,
        usual_sort=usual,
        page=_page(query.get("page", "")),
        refresh=query.get("refresh") != "off",
        name=_cut(query.get("name", "")),
    )


def readable(text: str) -> str:
    """The text without halves of characters, which no encoding has bytes for."""
    return text.encode("utf-8", "replace").decode()


def _cut(text: str) -> str:
    return readable(text[:_LONGEST]).strip()


def _page(text: str) -> int:
    digits = text[:8]
    number = int(digits) if digits.isascii() and digits.isdigit() else 1
    return min(max(number, 1), _LAST_PAGE)
