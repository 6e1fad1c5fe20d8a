# SPDX-License-Identifier: Apache-2.0
"""Where two commits' parts of one step differ, value by value; each part in the form it has."""

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

from dev.compare.steps import EMF, ERROR, HTTP, MESSAGES, PARQUET, REPORTS, TEMPLATES, Step

# Columns that tell rows apart, of snapshots and of reports.
_KEYS = (
    *("cluster", "dt", "dataset", "consumer_group", "topic", "partition_id", "leader", "hour"),
    *("measure", "member_id", "client_id", "client_host"),
)
# Who says where a row of a snapshot belongs; its other columns are values.
_SNAPSHOT_KEYS = ("consumer_group", "topic", "partition_id")
_HASH = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_ABSENT = "(absent)"


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

    `used` counts how often a rename was needed.
    """

    tolerance: float = 0.0
    renamed: tuple[tuple[str, str], ...] = ()
    used: Counter[str] = field(default_factory=Counter)

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
        kind = part.partition("/")[0]
        if one is None or other is None or part.endswith(ERROR):
            yield Difference(kind, f"{part} as a whole", old.name, _short(one), _short(other))
            continue
        yield from _COMPARED[kind](part, old.name, one, other, rules)


def _emf(_part: str, where: str, old: bytes, new: bytes, _: Rules) -> Iterator[Difference]:
    one, other = _metrics(old), _metrics(new)
    for key in _either(one, other):
        dimensions, name = key
        if one.get(key) != other.get(key):
            place = f"{where}, {', '.join(map(repr, dimensions))}"
            yield _differ(
                EMF, f"metric {name}", place, one.get(key, _ABSENT), other.get(key, _ABSENT)
            )


def _metrics(lines: bytes) -> dict[tuple[Any, str], Any]:
    """Values, units and times by dimensions and metric; what is told twice has a list."""
    found: dict[tuple[Any, str], Any] = {}
    for line in lines.decode().splitlines():
        told = json.loads(line)
        about = told["_aws"]
        (directive,) = about["CloudWatchMetrics"]
        (names,) = directive["Dimensions"]
        dimensions = tuple(f"{name}={told[name]}" for name in names)
        units = {metric["Name"]: metric["Unit"] for metric in directive["Metrics"]}
        for name, unit in units.items():
            value = (told.get(name), unit, about["Timestamp"], directive["Namespace"])
            again = found.get((dimensions, name))
            found[dimensions, name] = value if again is None else [again, value]
        more = told.keys() - {"_aws", *names, *units}
        for name in more:
            found[dimensions, f"(property {name})"] = told[name]
    return found


def _parquet(part: str, where: str, old: bytes, new: bytes, _: Rules) -> Iterator[Difference]:
    yield from _tables(PARQUET, part, where, (old, new), _SNAPSHOT_KEYS, 0.0)


def _reports(part: str, where: str, old: bytes, new: bytes, rules: Rules) -> Iterator[Difference]:
    if part == f"{REPORTS}/{MESSAGES}":
        yield from _json_of(REPORTS, "summary", where, (json.loads(old), json.loads(new)))
    elif new.startswith(b"PAR1"):
        yield from _tables(REPORTS, part, where, (old, new), _KEYS, rules.tolerance)
    else:
        yield from _text(REPORTS, part, where, old.decode(), new.decode())


def _tables(
    kind: str,
    part: str,
    where: str,
    data: tuple[bytes, bytes],
    keys: Sequence[str],
    tolerance: float,
) -> Iterator[Difference]:
    old, new = (pq.read_table(io.BytesIO(each)) for each in data)
    name = part.partition("/")[2]
    for column in _either(_types(old), _types(new)):
        first, second = (_types(table).get(column, _ABSENT) for table in (old, new))
        if first != second:
            yield _differ(kind, f"{name}: type of {column}", where, first, second)
    if _metadata(old) != _metadata(new):
        yield _differ(kind, f"{name}: metadata", where, _metadata(old), _metadata(new))
    common = [column for column in old.column_names if column in new.column_names]
    told = [key for key in keys if key in common]
    rows, others = _keyed(old, told, common), _keyed(new, told, common)
    for key in _either(rows, others):
        place = f"{where}, {', '.join(f'{n}={v!r}' for n, v in zip(told, key, strict=False))}"
        one, other = rows.get(key), others.get(key)
        if one is None or other is None:
            yield _differ(kind, f"{name}: a row", place, one or _ABSENT, other or _ABSENT)
            continue
        for column in common:
            if not _alike(one[column], other[column], tolerance):
                yield _differ(kind, f"{name}.{column}", place, one[column], other[column])


def _types(table: Any) -> dict[str, str]:
    """By column; how strings are encoded is no difference."""
    return {
        each.name: str(each.type.value_type if pa.types.is_dictionary(each.type) else each.type)
        for each in table.schema
    }


def _metadata(table: Any) -> dict[str, str]:
    """The project's own words in the file."""
    told = table.schema.metadata or {}
    return {k.decode(): v.decode() for k, v in told.items() if k.startswith(b"kafka_lag")}


def _keyed(table: Any, keys: Sequence[str], columns: Sequence[str]) -> dict[Any, dict[str, Any]]:
    """Rows by key; of several with one key the n-th has n beside it."""
    found: dict[Any, dict[str, Any]] = {}
    for row in table.select(list(columns)).to_pylist():
        key = tuple(row[name] for name in keys)
        at = 0
        while (*key, at) in found:
            at += 1
        found[(*key, at)] = row
    return found


def _alike(one: Any, other: Any, tolerance: float) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        if math.isnan(one) or math.isnan(other):
            return math.isnan(one) and math.isnan(other)
        return math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance)
    return bool(one == other)


def _http(_part: str, where: str, old: bytes, new: bytes, _: Rules) -> Iterator[Difference]:
    one, other = json.loads(old), json.loads(new)
    first, second = str(one.pop("body", "")), str(other.pop("body", ""))
    yield from _json_of(HTTP, "answer", where, (one, other))
    yield from _text(HTTP, "body", where, first, second)


def _messages(_part: str, where: str, old: bytes, new: bytes, _: Rules) -> Iterator[Difference]:
    yield from _json_of(MESSAGES, "sent", where, (json.loads(old), json.loads(new)))


def _templates(
    _part: str, where: str, old: bytes, new: bytes, rules: Rules
) -> Iterator[Difference]:
    """Asset hashes are normalised; renames are applied to the old one's texts."""
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
        yield _differ(TEMPLATES, what, f"{where}, {'.'.join(path)}", first, second)


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
    """Each place at which two documents differ, as deep as both go; texts of JSON are opened."""
    one, other = _opened(one), _opened(other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in _either(one, other):
            pair = one.get(key, _ABSENT), other.get(key, _ABSENT)
            yield from _walk(*pair, (*path, str(key)))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for at, (first, second) in enumerate(zip(one, other, strict=True)):
            yield from _walk(first, second, (*path, str(at)))
    elif one != other:
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
    return Difference(kind, what, where, _said(old), _said(new))


def _said(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def _short(data: bytes | None) -> str:
    if data is None:
        return _ABSENT
    return data.decode() if len(data) < 2_000 else f"({len(data):,} bytes)"  # noqa: PLR2004


_COMPARED = {
    EMF: _emf,
    PARQUET: _parquet,
    HTTP: _http,
    MESSAGES: _messages,
    REPORTS: _reports,
    TEMPLATES: _templates,
}
