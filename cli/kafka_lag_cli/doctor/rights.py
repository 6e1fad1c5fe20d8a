# SPDX-License-Identifier: Apache-2.0
"""Findings about rights: which are missing, what that hides, and the ACL that repairs it. Pure.

Whatever is denied now is decided by ACLs, or by brokers that deny by default. So an ACL on exactly
that locks nobody out, which a first one on a cluster that allows everything would.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from kafka_lag.wording.formatting import format_count, format_list, format_quantity
from kafka_lag_cli.doctor.acls import ANY_HOST, ANY_NAME, CLUSTER_NAME, Acl, Resource
from kafka_lag_cli.doctor.findings import Finding, Severity
from kafka_lag_cli.doctor.inspection import Inspection
from kafka_lag_cli.doctor.rights_repair import RightsRepair, can_be_named
from kafka_lag_cli.terminal.text import printable

ACLS: Final = "ACLs"
CLUSTER, TOPICS, SETTINGS, GROUPS = (
    "Describe on the cluster",
    "Describe on topics",
    "DescribeConfigs on topics",
    "Describe on groups",
)
HIDDEN_TOPICS, HIDDEN_GROUPS = "hidden topics", "hidden groups"
RIGHTS: Final = (ACLS, CLUSTER, TOPICS, SETTINGS, GROUPS, HIDDEN_TOPICS, HIDDEN_GROUPS)
_MOST_NAMES = 6
# Names in one line for a shell: what is left is found when the command runs again.
_MOST_REPAIRED = 50
_IF_ANY = "Such topics are left out of every answer; whether there is any cannot be seen."
_NO_ANSWER = "no broker answered"
_UNNAMED = (
    "No line repairs it, as kafka-acls takes blanks off the ends of a name. An AdminClient of Java "
    "does ({})."
)
_ADD_NONE = "Add none: the first ACL on a topic or group locks everybody else out of it."


def check_rights(
    inspection: Inspection,
    repair: RightsRepair,
    *,
    all_topics: bool = True,
    all_groups: bool = True,
) -> list[Finding]:
    """Each right in turn, and what is hidden for want of it; whether all names shall be read."""
    checks = _Checks(inspection, repair, all_topics, all_groups)
    return [
        *checks.acls(),
        *checks.cluster(),
        *checks.topics(),
        *checks.settings(),
        *checks.groups(),
        *checks.hidden_topics(),
        *checks.hidden_groups(),
    ]


@dataclass(frozen=True, slots=True)
class _Checks:
    inspection: Inspection
    repair: RightsRepair
    all_topics: bool
    all_groups: bool

    @property
    def _by_iam(self) -> bool:
        return self.repair.principal is None

    def acls(self) -> Iterable[Finding]:
        listing, rights = self.inspection.acls, self.inspection.rights
        if self._by_iam:
            yield Finding(ACLS, "info", "AWS IAM decides what this login may do, not ACLs")
        elif listing.enforced is False:
            yield Finding(
                ACLS,
                "info",
                "the brokers have no authorizer: every client may do everything",
                "Nothing is needed for this login. ACLs cannot be added.",
            )
        elif listing.acls is None:
            yield Finding(
                ACLS,
                "unknown",
                f"whether there is any cannot be seen ({printable(listing.detail)})",
                "It takes Describe on the cluster." if rights.cluster is False else "",
            )
        elif not listing.acls:
            yield Finding(
                ACLS,
                "info",
                "there is none, and this login may do everything that it needs"
                if rights.cluster and rights.topics and rights.groups
                else "there is none",
                f"{_ADD_NONE} Brokers allow everything to everybody where no ACL says otherwise "
                "(allow.everyone.if.no.acl.found, which MSK sets), or this is a super user.",
            )
        else:
            yield Finding(ACLS, "ok", f"there are {format_count(len(listing.acls))}")
            yield from self._open_by_default(listing.acls)

    def _open_by_default(self, acls: Sequence[Acl]) -> Iterable[Finding]:
        """Warn if names without ACLs are open to all: an ACL on all names would close them."""
        rights = self.inspection.rights
        kinds: tuple[tuple[Resource, bool | None], ...] = (
            ("topic", rights.topics),
            ("group", rights.groups),
        )
        for resource, is_allowed in kinds:
            if is_allowed and not any(acl.covers(resource, ANY_NAME) for acl in acls):
                yield Finding(
                    ACLS,
                    "info",
                    f"none is on all {resource}s, and this login may describe them",
                    f"Add none on all {resource}s: it would lock everybody else out of those that "
                    "no ACL names, unless this is a super user.",
                )

    def cluster(self) -> Iterable[Finding]:
        rights = self.inspection.rights
        if rights.cluster is not False:
            yield _right(CLUSTER, rights.cluster)
            return
        hides = (
            "Groups that this login may not describe are not listed, and ACLs are not shown."
            if not rights.groups
            else "Each group may be described, so none is hidden now; ACLs are not shown."
        )
        severity: Severity = "warning" if rights.groups else "fault"
        yield from self._denied(CLUSTER, severity, "cluster", "Describe", [CLUSTER_NAME], hides)

    def topics(self) -> Iterable[Finding]:
        rights = self.inspection.rights
        return self._of_names(
            *(TOPICS, "topic", "Describe", rights.topics, self.all_topics),
            names=rights.hidden_topics,
            prefixes=rights.hidden_prefixes,
            hides_all="Topics that it may not describe are left out of every answer, without a "
            "word.",
            hides="Nothing of it can be read.",
        )

    def settings(self) -> Iterable[Finding]:
        rights = self.inspection.rights
        hides = "Retention is unknown without: no time to a data loss, and ReadErrors counts it."
        return self._of_names(
            *(SETTINGS, "topic", "DescribeConfigs", rights.settings, self.all_topics),
            names=rights.without_settings,
            prefixes=rights.prefixes_without_settings,
            hides_all=hides,
            hides=hides,
        )

    def groups(self) -> Iterable[Finding]:
        rights = self.inspection.rights
        return self._of_names(
            *(GROUPS, "group", "Describe", rights.groups, self.all_groups),
            names=rights.denied_groups,
            prefixes=(),
            hides_all="Commits of a group that it may not describe are denied: no lag, no alarm.",
            hides="Its commits are denied: no lag, no alarm.",
        )

    def _of_names(
        self,
        check: str,
        resource: Resource,
        operation: str,
        is_allowed: bool | None,
        wants_all: bool,
        *,
        names: Sequence[str],
        prefixes: Sequence[str],
        hides_all: str,
        hides: str,
    ) -> Iterable[Finding]:
        """Yields findings on a right on all names, then on `names` and `prefixes` that lack it."""
        if is_allowed is False:
            severity: Severity = "fault" if wants_all else "warning"
            yield from self._denied(check, severity, resource, operation, [ANY_NAME], hides_all)
        elif not names and not prefixes:
            yield _right(check, is_allowed)
        found = [self._by_name(resource, operation, each, is_allowed) for each in (names, prefixes)]
        yield from self._denied(check, "fault", resource, operation, found[0], hides, found[1])

    def hidden_topics(self) -> Iterable[Finding]:
        rights = self.inspection.rights
        named = [*map(printable, rights.hidden_topics)]
        some = f": {format_list(named, _MOST_NAMES)}" if named else ""
        if rights.topics is None:
            yield Finding(HIDDEN_TOPICS, "unknown", _NO_ANSWER)
        elif rights.topics is False:
            yield Finding(
                HIDDEN_TOPICS,
                "unknown",
                f"how many are hidden cannot be counted; known by name are {len(named)}{some}",
                "Names come from members of groups and from ACLs.",
            )
        elif named:
            yield Finding(
                HIDDEN_TOPICS,
                "warning",
                f"{format_quantity(len(named), 'topic')} hidden{some}",
                "Members of groups own them or ACLs name them; one that ACLs alone name may not "
                "exist.",
            )
        elif rights.hidden_prefixes:
            begin = format_list([*map(printable, rights.hidden_prefixes)], _MOST_NAMES)
            yield Finding(
                HIDDEN_TOPICS,
                "unknown",
                f"none known by name; those that begin with {begin} are hidden, if there are any",
            )
        else:
            yield Finding(
                HIDDEN_TOPICS,
                "ok" if self.inspection.topics else "info",
                f"none known; {_to_be_read(len(self.inspection.topics))}",
            )
        if rights.without_members:
            groups = format_list([*map(printable, rights.without_members)], _MOST_NAMES)
            yield Finding(
                HIDDEN_TOPICS, "warning", f"members of these groups own hidden topics: {groups}"
            )

    def hidden_groups(self) -> Iterable[Finding]:
        rights = self.inspection.rights
        listed = sum(len(names) for names in self.inspection.groups.values())
        if not self.inspection.heard_all and rights.cluster is not None:
            yield Finding(
                HIDDEN_GROUPS,
                "unknown",
                f"{format_quantity(listed, 'group')} listed, by the brokers that answer",
                "Each broker lists the groups that it coordinates.",
            )
        elif rights.cluster or rights.groups:
            said = f"none: {format_quantity(listed, 'group')} listed"
            yield Finding(HIDDEN_GROUPS, "ok", said)
        elif rights.cluster is None:
            yield Finding(HIDDEN_GROUPS, "unknown", _NO_ANSWER)
        else:
            yield Finding(
                HIDDEN_GROUPS,
                "unknown",
                "cannot be counted without Describe on the cluster; "
                f"{format_quantity(listed, 'group')} listed",
            )

    def _denied(
        self,
        check: str,
        severity: Severity,
        resource: Resource,
        operation: str,
        names: Sequence[str],
        hides: str,
        prefixes: Sequence[str] = (),
    ) -> Iterable[Finding]:
        """A finding for each ACL that denies this, and one for all names that none denies.

        Names that begin with one of `prefixes` are denied, too, of which none may exist.
        """
        denials: dict[Acl, list[str]] = {}
        missing: list[str] = []
        begin: list[str] = []
        for prefix in prefixes:
            found = self._denials(resource, operation, prefix)
            for acl in found:
                if acl.prefixed:
                    denials.setdefault(acl, [])
            if not found and not prefix.startswith(tuple(begin)):
                begin.append(prefix)
        for name in names:
            found = self._denials(resource, operation, name)
            for acl in found:
                denials.setdefault(acl, []).append(name)
            if not found and not name.startswith(tuple(begin)):
                missing.append(name)
        for acl, denied in denials.items():
            shown = _shown(resource, denied) if denied else _beginning(resource, [acl.name])
            what = f"an ACL denies {acl.operation} on {shown}"
            whom = printable(acl.principal) + (
                "" if acl.host == ANY_HOST else f" from {printable(acl.host)}"
            )
            why = f"It is for {whom}, and wins over any that allows. {hides if denied else _IF_ANY}"
            if can_be_named(acl.name):
                yield Finding(check, severity, what, why, self.repair.remove(acl))
            else:
                yield Finding(check, severity, what, f"{why} {_UNNAMED.format('deleteAcls')}")
        if begin:
            what = f"{operation} on {_beginning(resource, begin)} is missing"
            line = self.repair.allow([operation], resource, begin[:_MOST_REPAIRED], prefixed=True)
            yield Finding(check, severity, what, f"{_IF_ANY} {self._safety()}", line)
        unnamed = [each for each in missing if not self._by_iam and not can_be_named(each)]
        if unnamed:
            what = f"{operation} on {_shown(resource, unnamed)} is missing"
            why = f"{hides} {_UNNAMED.format('createAcls')}"
            yield Finding(check, severity, what, why)
        if named := [each for each in missing if each not in unnamed]:
            what = f"{operation} on {_shown(resource, named)} is missing"
            line = self.repair.allow([operation], resource, named[:_MOST_REPAIRED])
            yield Finding(check, severity, what, f"{hides} {self._safety()}", line)

    def _by_name(
        self, resource: Resource, operation: str, names: Iterable[str], on_all: bool | None
    ) -> list[str]:
        """Return the names that a right on all names would not open: those denied, else all."""
        return [
            name
            for name in names
            if on_all is not False or self._denials(resource, operation, name)
        ]

    def _denials(self, resource: Resource, operation: str, name: str) -> list[Acl]:
        principal = self.repair.principal
        if principal is None:
            return []
        listed = self.inspection.acls.acls or ()
        return [acl for acl in listed if acl.denies(principal, operation, resource, name)]

    def _safety(self) -> str:
        if self._by_iam:
            return "Add this statement to the policy of the role."
        if self.inspection.acls.acls is None:
            return (
                "The line locks nobody out, as this is denied already. An ACL that denies it would "
                "win over this one: run doctor again. If nothing changes, an administrator sees it "
                "with kafka-acls --list."
            )
        return "The line locks nobody out, as this is denied already."


def _right(check: str, is_allowed: bool | None) -> Finding:
    if is_allowed is None:
        return Finding(check, "unknown", _NO_ANSWER)
    return Finding(check, "ok", "allowed")


def _beginning(resource: Resource, prefixes: Sequence[str]) -> str:
    return f"{resource}s that begin with {format_list([*map(printable, prefixes)], _MOST_NAMES)}"


def _shown(resource: Resource, names: Sequence[str]) -> str:
    if resource == "cluster":
        return "the cluster"
    if list(names) == [ANY_NAME]:
        return f"all {resource}s"
    kind = resource if len(names) == 1 else f"{resource}s"
    return f"the {kind} {format_list([*map(printable, names)], _MOST_NAMES)}"


def _to_be_read(topics: int) -> str:
    if not topics:
        return "the filters, which hide Kafka's own, leave no topic to be read"
    return f"{format_quantity(topics, 'topic')} to be read"
