"""One secret of a session, as it is kept and as it is stored."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from jettison.errors import VaultError
from jettison.vault.grants import HOSTS, Grant

__all__ = ["Secret"]


@dataclass(slots=True)
class Secret:
    """A secret and where it may go. Its value is in no `repr`."""

    name: str
    """Its placeholder."""
    kind: str
    value: str | None = field(repr=False)
    """None: revoked or expired."""
    tools: set[str] = field(default_factory=set)
    """Tools it came from."""
    hosts: set[str] = field(default_factory=set)
    """Hosts that the calls named which it came from."""
    grants: list[Grant] = field(default_factory=list)
    """What the caller allowed for this one."""
    expires: float | None = None
    number: bool = False
    """It stood in JSON as a bare number."""
    why_gone: str = ""

    def default(self) -> list[Grant]:
        """The tool it came from, for the hosts of that call and those of its issuer."""
        hosts = {*self.hosts, *HOSTS.get(self.kind, ())}
        return [Grant(self.name, frozenset(self.tools), None, frozenset(hosts))] if self.tools else []

    def dump(self) -> bytes:
        """As it is stored, before it is sealed."""
        grants = [[sorted(grant.tools), _listed(grant.arguments), _listed(grant.hosts)] for grant in self.grants]
        data = {"v": self.value, "t": sorted(self.tools), "h": sorted(self.hosts), "g": grants}
        return json.dumps(data).encode()

    @classmethod
    def load(cls, name: str, data: bytes, expires: float | None) -> Secret:
        """Raises VaultError for what `dump` did not write."""
        try:
            got = json.loads(data)
            grants = [Grant(name, tools, arguments, hosts) for tools, arguments, hosts in got["g"]]
            kind = name.removeprefix("{{secret:").rpartition(":")[0]
            return cls(name, kind, str(got["v"]), set(got["t"]), set(got["h"]), grants, expires)
        except (ValueError, KeyError, TypeError) as error:
            raise VaultError(f"the record of {name} cannot be read") from error


def _listed(names: object) -> list[str] | None:
    return None if names is None else sorted(names)  # type: ignore[call-overload]
