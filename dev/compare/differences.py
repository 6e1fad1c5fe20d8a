# SPDX-License-Identifier: Apache-2.0
"""What two commits made differently of one step, and how people read that."""

from __future__ import annotations

import difflib
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dev.compare.orders import (
    EMF,
    ERROR,
    HISTORY,
    HTTP,
    MESSAGES,
    PARQUET,
    REPORTS,
    TEMPLATES,
    Step,
)

# Columns that identify rows, of snapshots and of reports.
_KEYS = (
    *("cluster", "dt", "dataset", "consumer_group", "topic", "partition_id", "leader", "hour"),
    *("measure", "member_id", "client_id", "client_host"),
)
# A file of the history holds many runs.
_HISTORY_KEYS = ("consumer_group", "topic", "partition_id", "taken_at")
# Who says where a row of a snapshot belongs; its other columns are values.
_SNAPSHOT_KEYS = ("consumer_group", "topic", "partition_id")
# What an EMF line says about itself.
_ABOUT = "_aws"
# Begins a Parquet file.
_MAGIC = b"PAR1"
_HASH = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")


class _Absent:
    """What one of two has not, and no text that it could have."""

    def __repr__(self) -> str:
        return "(absent)"


_ABSENT = _Absent()


@dataclass(frozen=True, slots=True)
class Difference:
    """One value: `what` is alike in all of a sort, `where` is this one's place."""

    kind: str
    what: str
    where: str
    old: str
    new: str


@dataclass(slots=True)
class Rules:
    """`tolerance` of floats in reports, relative; `renamed` texts in templates, old and new.

    `used` counts how often a rename was needed, `same` by part the bytes that differ and in which
    nothing else was found: order, encoding, what is normalised.
    """

    tolerance: float = 0.0
    renamed: tuple[tuple[str, str], ...] = ()
    used: Counter[str] = field(default_factory=Counter)
    same: Counter[str] = field(default_factory=Counter)

    def explain(self, old: Any, new: Any) -> bool:
        """Whether the renames make the old text the new one."""
        if not isinstance(old, str) or not isinstance(new, str):
            return False
        text, needed = old, []
        for before, after in self.renamed:
            if before in text:
                needed.append(f"{before}={after}")
                text = text.replace(before, after)
        if text != new:
            return False
        self.used.update(needed)
        return True


def compare(old: Step, new: Step, rules: Rules) -> Iterator[Difference]:
    """Every difference of one step. The steps' names must be the same."""
    if old.name != new.name:
        raise ValueError(f"{old.name!r} and {new.name!r} are no step of one input")
    for part in sorted(old.parts.keys() | new.parts.keys()):
        one, other = old.parts.get(part), new.parts.get(part)
        if one == other:
            continue
        kind, name, rest = _split(part)
        sort = f"{kind}/{name}" if name else kind
        place = f"{old.name}, {rest}" if rest else old.name
        if one is None or other is None or name == ERROR:
            yield _differ(kind, f"{sort} as a whole", place, _short(one), _short(other))
            continue
        renamed, count = rules.used.total(), 0
        for difference in _COMPARED[kind](part, place, one, other, rules):
            count += 1
            yield difference
        if not count and rules.used.total() == renamed:
            rules.same[sort] += 1


def _split(part: str) -> tuple[str, str, str]:
    """Kind, name and place of a part; a part of a run or a request has no place but its step's."""
    kind, _, rest = part.partition("/")
    name, _, place = rest.partition("/")
    return kind, name, place


def _emf(_part: str, where: str, old: bytes, new: bytes, _: Rules) -> Iterator[Difference]:
    one, other = _metrics(old), _metrics(new)
    # Where a set of metrics is absent, its metrics say so.
    counted = {dimensions for dimensions, name in (*one, *other) if name != _ABOUT}
    for key in _either(one, other):
        dimensions, name = key
        pair = one.get(key, _ABSENT), other.get(key, _ABSENT)
        if name == _ABOUT and dimensions in counted and _ABSENT in pair:
            continue
        if not _same(*pair):
            place = ", ".join((where, *(f"{n}={value}" for n, value in dimensions)))
            yield _differ(EMF, name, place, *map(_single, pair))


def _metrics(lines: bytes) -> dict[tuple[Any, str], list[Any]]:
    """By dimensions and name, in the order of lines: metrics, properties, what `_aws` has beside.

    A metric is its value with all that is said of it, and of the set of metrics that it is in.
    """
    found: dict[tuple[Any, str], list[Any]] = {}
    for line in filter(None, lines.split(b"\n")):
        entry = json.loads(line)
        about = entry.pop(_ABOUT, {})
        directives = about.pop("CloudWatchMetrics", [])
        used: set[str] = set()
        sets = []
        for directive in directives:
            metrics = directive.pop("Metrics")
            for names in directive.pop("Dimensions"):
                dimensions = tuple((name, repr(entry.get(name, _ABSENT))) for name in names)
                sets.append(dimensions)
                used.update(names)
                for metric in metrics:
                    name = metric["Name"]
                    used.add(name)
                    more = {key: value for key, value in metric.items() if key != "Name"}
                    value = (entry.get(name, _ABSENT), more, directive)
                    found.setdefault((dimensions, f"metric {name}"), []).append(value)
        owner = sets[0] if sets else ()
        found.setdefault((owner, _ABOUT), []).append(about)
        for name in entry.keys() - used:
            found.setdefault((owner, f"property {name}"), []).append(entry[name])
    return found


def _single(values: Any) -> Any:
    """What a list of one holds."""
    return values[0] if isinstance(values, list) and len(values) == 1 else values


def _parquet(part: str, where: str, old: bytes, new: bytes, _: Rules) -> Iterator[Difference]:
    yield from _tables(PARQUET, _split(part)[1], where, (old, new), _SNAPSHOT_KEYS, 0.0)


def _reports(part: str, where: str, old: bytes, new: bytes, rules: Rules) -> Iterator[Difference]:
    name = _split(part)[1]
    if name == MESSAGES:
        yield from _json_of(REPORTS, "summary", where, (json.loads(old), json.loads(new)))
    elif old.startswith(_MAGIC) and new.startswith(_MAGIC):
        history = name.startswith(HISTORY)
        keys, tolerance = (_HISTORY_KEYS, 0.0) if history else (_KEYS, rules.tolerance)
        yield from _tables(REPORTS, name, where, (old, new), keys, tolerance)
    else:
        yield from _text(REPORTS, f"{REPORTS}/{name}", where, _decoded(old), _decoded(new))


def _tables(
    kind: str,
    name: str,
    where: str,
    data: tuple[bytes, bytes],
    keys: Sequence[str],
    tolerance: float,
) -> Iterator[Difference]:
    old, new = (pq.read_table(io.BytesIO(each)) for each in data)
    yield from _schemas(kind, name, where, old, new)
    if _metadata(old) != _metadata(new):
        yield _differ(kind, f"{name}: metadata", where, _metadata(old), _metadata(new))
    common = [column for column in old.column_names if column in new.column_names]
    present = [key for key in keys if key in common]
    rows, others = _keyed(old, present, common), _keyed(new, present, common)
    for key in _either(rows, others):
        place = f"{where}, {', '.join(f'{n}={v!r}' for n, v in zip(present, key, strict=False))}"
        one, other = rows.get(key), others.get(key)
        if one is None or other is None:
            yield _differ(kind, f"{name}: a row", place, one or _ABSENT, other or _ABSENT)
            continue
        for column in common:
            if not _alike(one[column], other[column], tolerance):
                yield _differ(kind, f"{name}.{column}", place, one[column], other[column])


def _schemas(kind: str, name: str, where: str, old: Any, new: Any) -> Iterator[Difference]:
    """Columns, their types, whether they may hold null, and their order."""
    one, other = _types(old), _types(new)
    for column in _either(one, other):
        first, second = one.get(column, _ABSENT), other.get(column, _ABSENT)
        if first != second:
            yield _differ(kind, f"{name}: type of {column}", where, first, second)
    orders = [[n for n in table.column_names if n in one and n in other] for table in (old, new)]
    if orders[0] != orders[1]:
        yield _differ(kind, f"{name}: order of columns", where, *map(", ".join, orders))


def _types(table: Any) -> dict[str, str]:
    """By column; how strings are encoded is no difference."""
    return {
        each.name: str(each.type.value_type if pa.types.is_dictionary(each.type) else each.type)
        + ("" if each.nullable else " not null")
        for each in table.schema
    }


def _metadata(table: Any) -> dict[str, str]:
    """The project's own words in the file."""
    found = table.schema.metadata or {}
    return {k.decode(): v.decode() for k, v in found.items() if k.startswith(b"kafka_lag")}


def _keyed(table: Any, keys: Sequence[str], columns: Sequence[str]) -> dict[Any, dict[str, Any]]:
    """Rows by key; of several with one key the n-th has n beside it."""
    found: dict[Any, dict[str, Any]] = {}
    seen: Counter[tuple[Any, ...]] = Counter()
    for row in table.select(list(columns)).to_pylist():
        key = tuple(row[name] for name in keys)
        found[(*key, seen[key])] = row
        seen[key] += 1
    return found


def _alike(one: Any, other: Any, tolerance: float) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        if math.isnan(one) or math.isnan(other):
            return math.isnan(one) and math.isnan(other)
        return math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance)
    return bool(one == other)


def _same(one: Any, other: Any) -> bool:
    """Of one type and value, as deep as both go: 1 is neither true nor 1.0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    both_nan = isinstance(one, float) and math.isnan(one) and math.isnan(other)
    return both_nan or bool(one == other)


def _http(_part: str, where: str, old: bytes, new: bytes, _: Rules) -> Iterator[Difference]:
    one, other = json.loads(old), json.loads(new)
    first, second = str(one.pop("body", "")), str(other.pop("body", ""))
    yield from _json_of(HTTP, "answer", where, (one, other))
    yield from _text(HTTP, "body", where, first, second)


def _messages(_part: str, where: str, old: bytes, new: bytes, _: Rules) -> Iterator[Difference]:
    yield from _json_of(MESSAGES, "sent", where, (json.loads(old), json.loads(new)))


def _templates(part: str, where: str, old: bytes, new: bytes, rules: Rules) -> Iterator[Difference]:
    """Asset hashes are normalised; renames are applied to the old one's texts."""
    stack = _split(part)[1]
    one = json.loads(_HASH.sub("(asset)", old.decode()))
    other = json.loads(_HASH.sub("(asset)", new.decode()))
    kinds = {
        name: resource.get("Type", name)
        for template in (one, other)
        for name, resource in template.get("Resources", {}).items()
    }
    for path, first, second in _walk(one, other, ()):
        if rules.explain(first, second):
            continue
        words = [kinds.get(each, each) if at == 1 else each for at, each in enumerate(path)]
        what = ".".join("#" if each.isdigit() else each for each in words)
        place = f"{where}: {stack}, {'.'.join(path)}"
        yield _differ(TEMPLATES, what, place, first, second)


def _json_of(kind: str, name: str, where: str, pair: tuple[Any, Any]) -> Iterator[Difference]:
    for path, one, other in _walk(*pair, ()):
        what = ".".join(each for each in path if not each.isdigit())
        place = f"{where}, {'.'.join(path)}"
        if isinstance(one, str) and isinstance(other, str) and "\n" in one + other:
            yield from _text(kind, f"{name}: {what}", place, one, other)
        else:
            yield _differ(kind, f"{name}: {what}", place, one, other)


def _walk(
    one: Any, other: Any, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Each place at which two documents differ, as deep as both go.

    Two texts of JSON are opened; such a text and a document of the same meaning are different.
    """
    if isinstance(one, str) and isinstance(other, str):
        first, second = _opened(one), _opened(other)
        if type(first) is type(second):
            one, other = first, second
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in _either(one, other):
            pair = one.get(key, _ABSENT), other.get(key, _ABSENT)
            yield from _walk(*pair, (*path, str(key)))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for at, (first, second) in enumerate(zip(one, other, strict=True)):
            yield from _walk(first, second, (*path, str(at)))
    elif not _same(one, other):
        yield path, one, other


def _opened(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _text(kind: str, name: str, where: str, old: str, new: str) -> Iterator[Difference]:
    """Each run of lines that differs, as one."""
    if old == new:
        return
    one, other = old.splitlines(), new.splitlines()
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    opcodes = [each for each in matcher.get_opcodes() if each[0] != "equal"]
    for _, i, j, k, m in opcodes:
        place = f"{where}, line {i + 1}"
        yield _differ(kind, name, place, "\n".join(one[i:j]), "\n".join(other[k:m]))
    if not opcodes:
        yield _differ(kind, f"{name}: line ends", where, old[-40:], new[-40:])


def _either(one: Mapping[Any, Any], other: Mapping[Any, Any]) -> Iterable[Any]:
    return dict.fromkeys((*one, *other))


def _differ(kind: str, what: str, where: str, old: Any, new: Any) -> Difference:
    texts = [value if isinstance(value, str) else repr(value) for value in (old, new)]
    # A text and a value of another type may look alike without its quotes.
    if texts[0] == texts[1]:
        texts = [repr(old), repr(new)]
    return Difference(kind, what, where, *texts)


def _short(data: bytes | None) -> Any:
    if data is None:
        return _ABSENT
    return _decoded(data) if len(data) < 2_000 else f"({len(data):,} bytes)"  # noqa: PLR2004


def _decoded(data: bytes) -> str:
    return data.decode(errors="backslashreplace")


_COMPARED = {
    EMF: _emf,
    PARQUET: _parquet,
    HTTP: _http,
    MESSAGES: _messages,
    REPORTS: _reports,
    TEMPLATES: _templates,
}


_WIDTH = 400


class Findings:
    """Differences by kind and sort; of each sort `few` are remembered, None: all."""

    def __init__(self, few: int | None = None) -> None:
        self._few = few
        self._found: dict[tuple[str, str], list[Difference]] = {}
        self.counts: dict[tuple[str, str], int] = {}

    def __len__(self) -> int:
        return sum(self.counts.values())

    def add(self, one: Difference) -> None:
        """Counts it, and remembers it if it is one of the first."""
        key = one.kind, one.what
        shown = self._found.setdefault(key, [])
        self.counts[key] = self.counts.get(key, 0) + 1
        if self._few is None or len(shown) < self._few:
            shown.append(one)

    def lines(self) -> Iterator[str]:
        """Text for a terminal."""
        for key in sorted(self._found):
            kind, what = key
            yield f"{kind}: {what}: {self.counts[key]:,}"
            for one in self._found[key]:
                yield f"  {_shown(one.where)}"
                yield f"    old: {_shown(one.old)}"
                yield f"    new: {_shown(one.new)}"
            rest = self.counts[key] - len(self._found[key])
            if rest:
                yield f"  and {rest:,} more"


def _shown(text: str) -> str:
    """On one line, and without what a terminal would act upon."""
    safe = "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
    return safe if len(safe) <= _WIDTH else f"{safe[:_WIDTH]}… ({len(text):,} characters)"
