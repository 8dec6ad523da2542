"""`wrap`: the clients of the providers' own SDKs, with every request fitted on its way out."""

from __future__ import annotations

import copy
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

from jettison.budget import Budget
from jettison.errors import ConfigError
from jettison.integrations.common import MOST, Conversation
from jettison.integrations.http import Fitter, fitting_client
from jettison.policy import Policy
from jettison.protocols import Archive

if TYPE_CHECKING:
    from jettison.vault import Vault

__all__ = ["session_of", "wrap"]

C = TypeVar("C")


def wrap(
    client: C,
    policy: Policy | Budget | int | None = None,
    *,
    archive: Archive | str | PathLike[str] | None = None,
    vault: Vault | None = None,
    conversation: str | None = None,
    most: int = MOST,
) -> C:
    """A client of the same class as `client` (openai, anthropic or google-genai, sync or async) that fits what it
    sends: `client = wrap(OpenAI(), 32_000)`. The one that was given is not changed; close one of them.

    `policy`: a `Policy`, a `Budget`, or tokens; None: the window of the model that each request names. `archive`,
    `vault`: as for `Session`; calls in answers, streamed too, come with the values of their placeholders where they may
    have them, else `session_of(client).refusals` says why not. `conversation`: the key of all requests; else each is
    known by its header `x-jettison-conversation` (not sent on), or by its first message. The provider's usage flows
    back, streams included.

    When nothing safe fits, the SDK raises what it raises for a prompt that is too long (`BadRequestError`, for Google
    `ClientError`), before anything is sent. Raises ConfigError for a client that is not known.
    """
    fitter = Fitter(policy, archive=archive, vault=vault, conversation=conversation, most=most)
    kind = type(client).__module__.partition(".")[0]
    if kind in ("openai", "anthropic"):
        wrapped = client.copy(http_client=fitting_client(client._client, fitter))  # type: ignore[attr-defined]
    elif kind == "google":
        wrapped = _google(client, fitter)
    else:
        raise ConfigError(f"wrap() takes a client of openai, anthropic or google-genai, not {type(client).__name__}")
    wrapped._jettison = fitter
    wrapped._wrapped = client  # some clients close their connections when they are collected
    return wrapped  # type: ignore[no-any-return]


def session_of(client: Any) -> Conversation | None:
    """The session of a wrapped client's last request: its report, recall and search. None before the first."""
    fitter = getattr(client, "_jettison", None)
    if not isinstance(fitter, Fitter):
        raise ConfigError(f"this {type(client).__name__} was not wrapped")
    return fitter.session


def _google(client: Any, fitter: Fitter) -> Any:
    """google-genai has no `copy`: its parts are made anew around an API client with other connections."""
    api = copy.copy(client._api_client)
    api._httpx_client = fitting_client(api._httpx_client, fitter)
    if api._async_httpx_client is not None:
        api._async_httpx_client = fitting_client(api._async_httpx_client, fitter)
        api._use_aiohttp = lambda: False
    wrapped = copy.copy(client)
    for name, part in vars(client).items():
        if getattr(part, "_api_client", None) is client._api_client:
            setattr(wrapped, name, type(part)(api))  # models, aio, files, …: each is made of an API client
    wrapped._api_client = api
    return wrapped
