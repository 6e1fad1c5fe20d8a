# SPDX-License-Identifier: Apache-2.0
"""Templates as text that a reviewer reads: a block a resource, a line each right, alarm and widget.

References are `${Name}`, hashes and assets are left out, JSON within strings is opened. Of a stack
like an earlier one only what differs is written.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from os.path import commonprefix
from pathlib import Path
from typing import Any

Block = list[str]
Blocks = dict[str, Block]

_HASH = re.compile(r"[0-9a-f]{64}")
# The name and id of a cluster of MSK in ARNs of it and of what is in it.
_MSK = re.compile(r"(:(?:cluster|topic|group)/)[\w<>.-]+/[0-9a-f-]{36}-\d+")
# Ids of networks, one of which each cluster of the examples has.
_OF_NETWORKS = re.compile(r"\b(vpc|subnet|sg)-[0-9a-f]{17}")
_WIDTH = 100
# So many lines of what is gone are written, and so many names.
_GONE, _NAMED = 3, 12
# Values up to this length share a line.
_SMALL = 50
# They wait for the roles of a function and for all that belongs to it.
_AFTER_ROLES = ("Lambda::Function", "CloudWatch::Alarm")
_STACK = "aws:cloudformation:stack"
# The last words of stacks' names that tell their kinds; others are of a cluster.
_KINDS = ("shared", "views", "chat", "scaling")
_GENERAL = {
    "111122223333": "<account>",
    "SsmParameterValuekafkalagalarmtopic": "AlarmTopic",
    "SsmParameterValuekafkalagbucket": "Bucket",
}
# What each template has for CDK's bootstrap, and notes of CDK about its constructs.
_NOT_OURS = ("BootstrapVersion", "CheckBootstrapVersion", "CDKMetadata")
# Tags are those of the stack, which stand in its title.
_LEFT_OUT = ("Tags", "PolicyName", "Metadata", "Type", "Properties")
_POLICIES = ("PolicyDocument", "KeyPolicy", "AssumeRolePolicyDocument")
# What every metric and widget of a dashboard has.
_ALL_HAVE = (("view", "timeSeries"), ("stat", "Maximum"), ("period", 60))
_AXIS = ("min", "showUnits")
_COMPARISONS = {
    "GreaterThanThreshold": ">",
    "GreaterThanOrEqualToThreshold": ">=",
    "LessThanThreshold": "<",
    "LessThanOrEqualToThreshold": "<=",
}


@dataclass(frozen=True, slots=True)
class Given:
    """A stack as it is synthesised; `kind` is that of the stacks that it is compared with."""

    title: str
    kind: str
    template: Mapping[str, Any]
    folder: Path
    # What stands in the text for names that are this stack's alone.
    general: Mapping[str, str] = field(default_factory=dict)
    # How ids begin here, and there in the stacks of this kind.
    begins: tuple[str, str] = ("", "")
    # Resources whose ids begin so are left out.
    without: tuple[str, ...] = ()
    # What a synthesis warns and informs of.
    said: tuple[str, ...] = ()


def stacks_in(folder: Path, name: str, titles: Mapping[str, str] | None = None) -> list[Given]:
    """The stacks of a synthesis, as its manifest lists them: those with titles in their order."""
    order = list(titles or {})
    manifest = json.loads((folder / "manifest.json").read_text())["artifacts"]
    stacks = {i: each for i, each in manifest.items() if each["type"] == _STACK}
    found: list[tuple[tuple[int, str, str], Given]] = []
    for stack_id, each in stacks.items():
        own, region = each["properties"], each["environment"].rpartition("/")[2]
        stack_name = own.get("stackName", stack_id)
        last = stack_name.rpartition("-")[2]
        kind = last if last in _KINDS else "cluster"
        about = [f"after {i}" for i in each.get("dependencies", ()) if i in stacks]
        about += [f"{key}={value}" for key, value in own.get("tags", {}).items()]
        title = (titles or {}).get(stack_name, name)
        general = {stack_name: "<stack>", region: "<region>"} | _GENERAL
        if kind == "cluster":
            general[stack_name.partition("kafka-lag-")[2] or stack_name] = "<cluster>"
        place = order.index(stack_name) if stack_name in order else len(order)
        found.append(
            (
                (place, stack_name, region),
                Given(
                    title=", ".join([f"{title}: {stack_name} in {region}", *about]),
                    kind=kind,
                    template=json.loads((folder / own["templateFile"]).read_text()),
                    folder=folder,
                    general=general,
                    said=tuple(_said(folder, each)),
                ),
            )
        )
    return [stack for _, stack in sorted(found, key=lambda each: each[0])]


def _said(folder: Path, artifact: Mapping[str, Any]) -> Iterator[str]:
    """Each sentence of ours once, without the way to acknowledge it."""
    entries = artifact.get("metadata", {})
    if file := artifact.get("additionalMetadataFile"):
        entries = json.loads((folder / file).read_text())
    kinds = {"aws:cdk:warning": "warning", "aws:cdk:info": "info"}
    said = [each for of in entries.values() for each in of if each["type"] in kinds]
    said = [each for each in said if "[ack: @aws-cdk/" not in str(each["data"])]
    texts = (f"{kinds[e['type']]}: {str(e['data']).partition(' [ack:')[0]}" for e in said)
    yield from dict.fromkeys(texts)


class Rendering:
    """Renders stacks one after the other: what an earlier one of the kind has is not repeated."""

    def __init__(self) -> None:
        # By kind of stack: the first of all, and each resource as the first has it that has it.
        self._first = dict[str, tuple[str, Blocks]]()
        self._known = dict[str, Blocks]()
        self._said = set[str]()

    def render(self, stacks: Iterable[Given]) -> str:
        """The first of each kind beside the first of all, the others beside that one."""
        bases, parts = dict[str, tuple[str, Blocks]](), dict[str, list[str]]()
        for stack in stacks:
            known = self._known.setdefault(stack.kind, {})
            own = _blocks(stack, known)
            title, base = bases.get(stack.kind) or self._first.get(stack.kind) or ("", {})
            for each in (bases, self._first):
                each.setdefault(stack.kind, (stack.title, own))
            like = f", as {title.partition(',')[0]}" if title else ""
            lines = [f"! {each}" for each in stack.said]
            lines += self._lines(own, base, known)
            parts.setdefault("\n".join(lines), []).append(f"# {stack.title}{like}")
        # Equal ones are titles above one text.
        return "\n\n".join("\n".join([*titles, text]) for text, titles in parts.items())

    def _lines(self, own: Blocks, base: Blocks, known: Blocks) -> Iterator[str]:
        yield from _named("without", [name for name in base if name not in own])
        again: list[str] = []
        likewise: list[str] = []
        for name, block in own.items():
            before = base.get(name, known.setdefault(name, block))
            if before is block:
                yield from self._block(name, block)
            elif before != block:
                lines = list(self._changes(before, block))
                if len(lines) == 1:
                    lines = [f"{name}{lines.pop()}"]
                elif lines:
                    lines = [name, *lines]
                yield from lines
                likewise += [] if lines else [name]
            elif name not in base:
                again.append(name)
        yield from _named("likewise", likewise)
        yield from _named("again", again)

    def _changes(self, before: Block, block: Block) -> Iterator[str]:
        """Yields lines that are new, and lines that nothing replaces; no sentence twice."""
        new = [line for line in block if line not in before]
        places = {_place(line) for line in new}
        gone = [line for line in before if line not in block and _place(line) not in places]
        yield from (f"  - {_cut(line)}" for line in gone[:_GONE])
        if len(gone) > _GONE:
            yield f"  - and {len(gone) - _GONE} more"
        yield from (f"  + {line}" for line in new if line not in self._said)
        self._said |= {line for line in new if line.startswith("| ")}

    def _block(self, name: str, block: Block) -> Iterator[str]:
        """A resource; a sentence that stood before is not written again."""
        lines = [line for line in block if not (line.startswith("| ") and line in self._said)]
        self._said |= {line for line in block if line.startswith("| ")}
        if len(lines) == 1 and len(name) + len(lines[0]) < _WIDTH:
            yield f"{name}  {lines[0]}"
        else:
            yield name
            yield from (f"  {line}" for line in lines)


def _named(word: str, names: list[str]) -> Iterator[str]:
    """The first of these names, and how many there are."""
    if names:
        short = [name.partition(" ")[0] for name in names]
        more = f" and {len(short) - _NAMED} more" if len(short) > _NAMED else ""
        yield f"{word} {', '.join(short[:_NAMED])}{more}"


def _place(line: str) -> str:
    """Returns the key of a line, or its first words, whatever its numbers are."""
    if line[:1] in "<>":
        return "a condition"
    return re.split(r": | on | = | every |(?<=^to) ", re.sub(r"\d+", "#", line), maxsplit=1)[0]


def _cut(line: str) -> str:
    """What is gone stands in full elsewhere."""
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"


def _blocks(stack: Given, known: Blocks) -> Blocks:
    """The lines of each resource by its name, those of parameters and outputs first."""
    reading = _Reading(stack, known)
    found: Blocks = {}
    for section in () if stack.begins[0] else ("Parameters", "Outputs"):
        own = {k: v for k, v in stack.template.get(section, {}).items() if k not in _NOT_OURS}
        if own:
            found[section] = [reading.parameter(name, each) for name, each in sorted(own.items())]
    for logical_id, body in sorted(stack.template.get("Resources", {}).items()):
        here, _ = stack.begins
        if logical_id in _NOT_OURS or logical_id.startswith(stack.without):
            continue
        if logical_id.startswith(here):
            kind = body["Type"].removeprefix("AWS::")
            found[f"{reading.name(logical_id)} {kind}"] = reading.resource(kind, body)
    return found


class _Reading:
    """Reads one template: what its references and hashes are written as."""

    def __init__(self, stack: Given, known: Blocks) -> None:
        self._folder = stack.folder
        self._general = [
            (re.compile(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])"), text)
            for name, text in sorted(stack.general.items(), key=lambda each: -len(each[0]))
        ]
        self._names = dict[str, str]()
        there = {name.partition(" ")[0] for name in known}
        seen = Counter[str]()
        for section in ("Resources", "Parameters"):
            for logical_id in sorted(stack.template.get(section, {})):
                short = _short_id(logical_id, stack.begins, there)
                seen[short] += 1
                self._names[logical_id] = short if seen[short] == 1 else f"{short}#{seen[short]}"

    def name(self, logical_id: str) -> str:
        """A resource's or parameter's name in the text."""
        return self._generally(self._names.get(logical_id, logical_id).replace("AWS::", ""))

    def _generally(self, text: str) -> str:
        text = _OF_NETWORKS.sub(r"\1-<id>", _MSK.sub(r"\1<msk>", _HASH.sub("<hash>", text)))
        for pattern, general in self._general:
            text = pattern.sub(general, text)
        return text

    def parameter(self, name: str, body: Mapping[str, Any]) -> str:
        rest = {key: value for key, value in body.items() if key != "Description"}
        return f"{self.name(name)}: {self.short(rest)}"

    def resource(self, kind: str, body: Mapping[str, Any]) -> Block:
        about = {
            key: value
            for key, value in body.items()
            if key not in _LEFT_OUT and value not in ("Delete", [])
        }
        properties = {
            key: value
            for key, value in body.get("Properties", {}).items()
            if key not in _LEFT_OUT or kind == "SSM::Parameter"
        }
        after = [self.name(each) for each in _listed(about.pop("DependsOn", []))]
        lines = [f"after {', '.join(after)}"] if after and kind not in _AFTER_ROLES else []
        lines += [f"{key}: {self.short(value)}" for key, value in sorted(about.items())]
        match kind:
            case "CloudWatch::Alarm":
                return lines + list(self._alarm(properties))
            case "CloudWatch::Dashboard":
                lines.append(self.text(properties.pop("DashboardName")))
                widgets = json.loads(self.text(properties["DashboardBody"]))["widgets"]
                return lines + [line for each in widgets for line in self._widget(each)]
            case "Glue::Table":
                return lines + list(self._table(properties["TableInput"]))
            case "Athena::NamedQuery":
                count = len(properties["QueryString"].splitlines())
                where = f"{self.text(properties['Database'])} in {properties['WorkGroup']}"
                return [f"{self.text(properties['Name'])}: {count} lines on {where}"]
            case "Lambda::LayerVersion":
                return lines + list(self._document(properties))
            case "Lambda::Function":
                properties.pop("Code")
        found = [
            line for key, value in sorted(properties.items()) for line in self._property(key, value)
        ]
        small = [line for line in found if len(line) < _SMALL and _is_plain(line)]
        rest = [line for line in found if line not in small]
        return lines + [", ".join(small)] * bool(small) + rest

    def _property(self, key: str, value: Any) -> Iterator[str]:
        if key in _POLICIES:
            prefix = "trusts" if key.startswith("Assume") else ""
            for statement in value["Statement"]:
                yield f"{prefix} {self._statement(statement)}".lstrip()
            return
        value = self.text(value)
        if isinstance(value, str) and value[:1] == "{" and (inner := _parsed(value)) is not None:
            value = inner
        whole = f"{key}: {self.short(value)}"
        if isinstance(value, dict) and (len(whole) > _WIDTH or "Environment" in key):
            for name, each in sorted(value.items()):
                yield from self._property(f"{key}.{name}".replace(".Variables", ""), each)
        elif isinstance(value, list) and len(whole) > _WIDTH:
            yield f"{key}:"
            yield from (f"  {self.short(each)}" for each in value)
        else:
            yield whole

    def _statement(self, statement: Mapping[str, Any]) -> str:
        effect = "" if statement["Effect"] == "Allow" else f"{statement['Effect']} "
        parts = [effect + _braced(self._many(statement["Action"]))]
        if "Resource" in statement:
            parts.append(f"on {_braced(self._many(statement['Resource']))}")
        if "Principal" in statement:
            parts.append(f"by {self.short(statement['Principal'])}")
        for operator, wanted in statement.get("Condition", {}).items():
            for key, value in wanted.items():
                parts.append(f"if {key} {operator} {_braced(self._many(value))}")
        return " ".join(parts)

    def _many(self, value: Any) -> list[str]:
        return [self.short(each) for each in _listed(value)]

    def _alarm(self, alarm: Mapping[str, Any]) -> Iterator[str]:
        """Name; metric, condition and periods; who gets it; what it says."""
        if "EvaluationCriteria" in alarm:
            yield self.text(alarm["AlarmName"])
            yield from self._wake(alarm, ("AlarmName",))
            return
        metrics = alarm.get("Metrics", [alarm])
        period = alarm.get("Period")
        read = []
        for each in metrics:
            stat = each.get("MetricStat", each)
            metric = stat.get("Metric", stat)
            if "Expression" in each:
                read.append(f"{each['Id']}={self.text(each['Expression'])}")
            else:
                of = " ".join(self.text(d["Value"]) for d in metric.get("Dimensions", ()))
                one = f"{stat.get('Stat', stat.get('Statistic'))} {metric['Namespace']} "
                account = f" of {self.text(each['AccountId'])}" if "AccountId" in each else ""
                named = f"{each['Id']}=" if "Id" in each else ""
                read.append(f"{named}{one}{metric['MetricName']} [{of}]{account}")
            period = stat.get("Period", each.get("Period", period))
        comparison = alarm["ComparisonOperator"]
        threshold = alarm.get("Threshold", alarm.get("ThresholdMetricId"))
        yield f"{self.text(alarm['AlarmName'])}: {', '.join(read)}"
        yield (
            f"{_COMPARISONS.get(comparison, comparison)} {threshold} in "
            f"{alarm.get('DatapointsToAlarm', alarm['EvaluationPeriods'])} of "
            f"{alarm['EvaluationPeriods']} x {period} s, missing {alarm.get('TreatMissingData')}"
        )
        known = ("AlarmName", "Metrics", "Period", "ComparisonOperator",
                 "Threshold", "ThresholdMetricId", "DatapointsToAlarm", "EvaluationPeriods",
                 "TreatMissingData", "Namespace", "MetricName", "Dimensions", "Statistic",
                 )  # fmt: skip
        yield from self._wake(alarm, known)

    def _wake(self, alarm: Mapping[str, Any], known: Collection[str]) -> Iterator[str]:
        known = (*known, "AlarmDescription", "AlarmActions", "OKActions")
        to, at_end = (
            [self.short(each) for each in alarm.get(key, ())]
            for key in ("AlarmActions", "OKActions")
        )
        told = "" if not at_end else ", its end too" if at_end == to else f", its end {at_end}"
        yield f"to {', '.join(to)}{told}"
        rest = {key: value for key, value in sorted(alarm.items()) if key not in known}
        if rest:
            yield ", ".join(f"{key} {self.short(value)}" for key, value in rest.items())
        described = self.text(alarm.get("AlarmDescription", ""))
        yield from (f"| {line}" for line in re.split(r"(?<=[.:]) (?=[A-Z])", described))

    def _widget(self, widget: Mapping[str, Any]) -> Iterator[str]:
        """Size, kind and title; then a line each metric, mark or alarm."""
        own = dict(widget["properties"])
        title = own.pop("title", "")
        yield f"{widget['width']}x{widget['height']} {widget['type']} {title}".rstrip()
        for line in str(own.pop("markdown", "")).splitlines():
            yield f"  | {line}".rstrip()
        for metric in own.pop("metrics", ()):
            *names, options = metric
            yield f"  {' '.join([*map(str, names), self._plainly(options)]).rstrip()}"
        if "alarms" in own:
            yield f"  {len(own.pop('alarms'))} alarms"
        for line in self._plainly(own).splitlines():
            yield f"  {line}"

    def _plainly(self, options: Mapping[str, Any]) -> str:
        """Options of a widget or metric but for those that all have."""
        own = {key: value for key, value in options.items() if (key, value) not in _ALL_HAVE}
        axis = own.pop("yAxis", {})
        if isinstance(axis, dict):
            own |= {k: v for k, v in axis.get("left", {}).items() if k not in _AXIS}
            own |= {k: v for k, v in axis.items() if k != "left"}
        else:
            own["axis"] = axis
        words = [f"{key} {self.short(value)}" for key, value in own.items()]
        return ", ".join(word for word in words if not word.startswith("region "))

    def _table(self, table: Mapping[str, Any]) -> Iterator[str]:
        stored = table["StorageDescriptor"]
        kinds = Counter(each["Type"] for each in stored["Columns"])
        counted = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        keys = ", ".join(f"{each['Name']} {each['Type']}" for each in table["PartitionKeys"])
        yield f"{self.text(stored['Location'])}: {counted} by {keys}"
        rest = {k: v for k, v in stored.items() if k not in ("Columns", "Location")}
        yield f"| {self.short(rest)}"
        known = "projection.cluster.values"
        own = {key: value for key, value in table["Parameters"].items() if key != known}
        yield f"| {self.short(own).replace(self.text(stored['Location']), '<location>')}"

    def _document(self, layer: Mapping[str, Any]) -> Iterator[str]:
        """The collector's document, which is an asset."""
        found = _HASH.search(json.dumps(layer["Content"]))
        file = self._folder / f"asset.{found[0] if found else ''}" / "kafka-lag" / "config.json"
        if file.is_file():
            for key, value in json.loads(file.read_text()).items():
                if value not in (None, {}):
                    yield f"{key}: {self.short(value)}"

    def short(self, value: Any) -> str:
        """In one line, with as few marks as can be."""
        value = self.text(value)
        if isinstance(value, dict):
            return "{" + ", ".join(f"{k} {self.short(v)}" for k, v in sorted(value.items())) + "}"
        if isinstance(value, list):
            return f"[{', '.join(map(self.short, value))}]"
        return value if isinstance(value, str) else json.dumps(value)

    def text(self, value: Any) -> Any:
        """Intrinsic functions as text, everything within too."""
        if isinstance(value, str):
            return self._generally(value)
        if isinstance(value, list):
            return [self.text(each) for each in value]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            ((key, inner),) = value.items()
            if key == "Ref":
                return f"${{{self.name(inner)}}}"
            if key == "Fn::GetAtt":
                owner, attribute = inner
                return f"${{{self.name(owner)}.{attribute}}}"
            if key == "Fn::Join":
                return self._generally(
                    str(inner[0]).join(str(self.text(each)) for each in inner[1])
                )
            if key == "Fn::Select" and isinstance(inner[1], dict) and "Fn::Split" in inner[1]:
                mark, whole = inner[1]["Fn::Split"]
                return f"{self.text(whole)}[{mark}{inner[0]}]"
            if key == "Fn::Sub" and isinstance(inner, str):
                return self._generally(inner.replace("${AWS::", "${"))
        return {key: self.text(each) for key, each in value.items()}


def _short_id(logical_id: str, begins: tuple[str, str], there: Collection[str]) -> str:
    """Without the hashes at its end, which change with each place of a construct."""
    here, begin = begins
    if here and logical_id.startswith(here):
        logical_id = begin + logical_id.removeprefix(here)
    short = re.sub(r"([0-9A-F]{32}|[0-9A-F]{24}|[0-9A-F]{8})(\d{4})?(Parameter)?$", "", logical_id)
    short = re.sub(r"(NetworkBrokers|NetworkEndpoint)(\d+)from.*", r"\1\2In", short)
    short = re.sub(r"(NetworkGroup)to.*", r"\1Out", short)
    # CDK writes equal names that follow each other once.
    doubled = short.replace("Lag", "LagCollector", 1)
    return doubled if here and short not in there and doubled in there else short


def _is_plain(line: str) -> bool:
    """Whether a line is a small value: no right, no item of a list, no variable."""
    return bool(re.match(r"[A-Z][\w.-]*: ", line)) and not line.startswith("Environment")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _braced(texts: list[str]) -> str:
    """Several with the same beginning as `beginning{one, other}`, in an order without hashes."""
    texts = sorted(texts)
    begin = commonprefix(texts)  # noqa: RUF071 - braces may hold any text
    begin = begin[: max(begin.rfind(mark) for mark in ":/") + 1]
    if len(texts) == 1:
        return texts[0]
    return f"{begin}{{{', '.join(text.removeprefix(begin) for text in texts)}}}"


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
