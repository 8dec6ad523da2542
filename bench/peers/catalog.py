"""Which peers there are: what to install for each, where its adapter is, and what its counter counts with."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["OURS", "PEERS", "SETTINGS", "Peer", "peer_of"]

SETTINGS = ("default", "fair")


@dataclass(frozen=True, slots=True)
class Peer:
    """One adapter."""

    name: str
    adapter: str
    """Module in `bench.peers.adapters`."""
    environment: str
    requires: tuple[str, ...]
    """Pinned: a table is of versions. The first is the one that is named beside it."""
    counter: str = "o200k"
    """What it counts with at the fair setting: ours, or its own where it takes none."""
    python: tuple[int, int] = (3, 11)
    """At least."""
    budgeted: bool = True
    """Whether the default setting looks at the budget; if not, its requests are the same at all of them."""
    stand_in: bool = False
    """An extract stands in for the model that it would ask for summaries."""

    @property
    def module(self) -> str:
        return f"bench.peers.adapters.{self.adapter}"

    @property
    def distributions(self) -> tuple[str, ...]:
        """Names of what is required, without versions."""
        return tuple(part.partition("==")[0] for part in self.requires)


_LANGCHAIN = ("langchain==1.5.2", "langchain-core==1.8.3", "langgraph==1.2.24")
_LITELLM = ("litellm==1.110.2",)
_HARNESS = ("pydantic-ai-harness==0.62.0", "pydantic-ai-slim==2.62.0")

PEERS: tuple[Peer, ...] = (
    Peer("langchain trim_messages", "langchain_trim", "langchain", _LANGCHAIN),
    Peer("langchain ContextEditing", "langchain_editing", "langchain", _LANGCHAIN, budgeted=False),
    Peer("langchain Summarization", "langchain_summary", "langchain", _LANGCHAIN, stand_in=True),
    Peer("litellm trim_messages", "litellm_trim", "litellm", _LITELLM, counter="own", budgeted=False),
    Peer("litellm compress", "litellm_compress", "litellm", _LITELLM, counter="own", budgeted=False),
    Peer("pydantic-ai-harness", "pydantic_harness", "harness", _HARNESS),
    Peer("haystack CompactionHook", "haystack_compaction", "haystack", ("haystack-ai==3.4.1",)),
    Peer("strands", "strands_window", "strands", ("strands-agents==1.62.0",)),
    Peer("agent-framework", "agent_framework_compaction", "agent-framework", ("agent-framework-core==1.23.0",)),
    Peer("llama-index", "llama_index_buffer", "llama-index", ("llama-index-core==0.14.25",)),
    Peer("headroom", "headroom_compress", "headroom", ("headroom-ai==0.42.0",), counter="own", budgeted=False),
    Peer("furl", "furl_compress", "furl", ("furl-ctx==1.4.0",), counter="own", budgeted=False),
    Peer("hot-context", "hot_context_manager", "hot-context", ("hot-context==0.1.2",), counter="own"),
    Peer("astromesh-context", "astromesh_engine", "astromesh", ("astromesh-context==0.1.0",)),
    Peer("cutctx", "cutctx_plan", "cutctx", ("cutctx==0.1.0",), python=(3, 12), stand_in=True),
    Peer("contexttrim", "contexttrim_manager", "contexttrim", ("contexttrim==0.1.0",)),
    Peer("convopack", "convopack_packer", "convopack", ("convopack==0.3.2",)),
)

OURS = Peer("jettison", "jettison_session", "", ())
"""Through the same pipe, for the speed run."""


def peer_of(name: str) -> tuple[Peer, str]:
    """The peer and the setting of a row's name, such as `strands (fair)`. Raises KeyError."""
    for peer in PEERS:
        for setting in SETTINGS:
            if name == f"{peer.name} ({setting})":
                return peer, setting
    raise KeyError(name)
