# SPDX-License-Identifier: Apache-2.0
"""What was found of one UTC date, and what of it counts.

<input>/snapshots/<dataset>/cluster=<c>/dt=YYYY-MM-DD/hour=HH/<stamp>Z-0of1.parquet
<output>/history/<dataset>/cluster=<c>/dt=YYYY-MM-DD/*.parquet
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime

# Where a cluster's day was found: the words of the coverage report.
FROM_SNAPSHOTS = "snapshots"
FROM_HISTORY = "history"

_STAMP = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True, slots=True)
class Run:
    """One dataset's object of one run; `name` is its path below the folder of the date.

    `size` is in bytes; `taken_at` is null for a name that no run of that date and hour has.
    """

    path: str
    name: str
    size: int
    taken_at: datetime | None


@dataclass(frozen=True, slots=True)
class Day:
    """The clusters that have anything of the date; `clusters` holds their folders by name.

    `absent` are those looked for that have nothing. `sources` says where each was found. `flaws`
    says by path what is wrong with each object that is left out, `rows` how many rows the others
    have, as far as they were looked at. `compacted` means that rows are to be read from the
    history, wherever they were found.
    """

    root: str
    history: str
    date: date
    in_progress: bool
    clusters: Mapping[str, str]
    absent: Mapping[str, str]
    sources: Mapping[str, str]
    runs: Mapping[tuple[str, str], tuple[Run, ...]]
    flaws: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    compacted: bool = False

    @property
    def size(self) -> int:
        """Bytes of all its objects."""
        return sum(run.size for runs in self.runs.values() for run in runs)

    def only(self, clusters: Iterable[str]) -> "Day":
        """The same day of these clusters; those that have nothing of it stay known."""
        names = set(clusters)
        return replace(
            self,
            clusters={name: folder for name, folder in self.clusters.items() if name in names},
            sources={name: source for name, source in self.sources.items() if name in names},
            runs={place: runs for place, runs in self.runs.items() if place[1] in names},
        )

    def folder(self, dataset: str, cluster: str) -> str:
        """Where the date's objects lie."""
        return f"{self.root}/{dataset}/{self.clusters[cluster]}/dt={self.date}"

    def history_folder(self, dataset: str, cluster: str) -> str:
        """Where the date's compacted rows lie, or are to lie."""
        return f"{self.history}/{dataset}/{self.clusters[cluster]}/dt={self.date}"

    def usable(self, dataset: str, cluster: str) -> tuple[Run, ...]:
        """The objects that are read, by time: what may be tagged once it is compacted."""
        return tuple(r for r in self.runs[dataset, cluster] if r.path not in self.flaws)

    def left_out(self, dataset: str, cluster: str) -> tuple[Run, ...]:
        """The objects that are not read, by name."""
        return tuple(r for r in self.runs[dataset, cluster] if r.path in self.flaws)

    def without(self, flaws: Mapping[str, str]) -> "Day":
        """The same day without these objects too: what is wrong with each, by path."""
        return replace(self, flaws={**self.flaws, **flaws})

    def counted(self, rows: Mapping[str, int]) -> "Day":
        """The same day with the objects' row counts by path."""
        return replace(self, rows=rows)

    def from_history(self) -> "Day":
        """The same day once all its rows are in the history; it stays known where it was found."""
        return replace(self, compacted=True)

    def reads_history(self, cluster: str) -> bool:
        """Whether this cluster's rows come from its history."""
        return self.compacted or self.sources[cluster] == FROM_HISTORY


def run_time(name: str, day: date) -> datetime | None:
    """The scheduled time, UTC, in an object's name; null unless its hour and the date agree."""
    folder, _, file = name.rpartition("/")
    stamp = file.partition("-")[0]
    try:
        time = datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None
    return time if time.date() == day and folder == f"hour={time:%H}" else None
