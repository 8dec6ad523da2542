"""Requests to a provider fitted on their way out, under any SDK that lets its httpx client be given.

A request is known by its path and worked on as JSON, so create, parse, stream, raw responses and the SDK's own
retries all pass through here.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from functools import lru_cache
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING, Any

from jettison.budget import Budget
from jettison.errors import CannotFit, InvalidInput, JettisonError
from jettison.integrations.answers import Refill
from jettison.integrations.common import MOST, Conversation, Conversations
from jettison.integrations.metering import Meter
from jettison.integrations.overflow import says_overflow
from jettison.integrations.refusals import masked, told
from jettison.policy import Policy
from jettison.protocols import Archive
from jettison.wire.base import digest

if TYPE_CHECKING:
    from jettison.vault import Vault

__all__ = ["HEADER", "Fitter", "fitting_client"]

HEADER = "x-jettison-conversation"
"""Names the conversation of a request; it is not sent on. Without it a conversation is known by its first message."""
_PATHS = (
    (re.compile(r"/chat/completions/?$"), "openai-chat"),
    (re.compile(r"/responses/?$"), "openai-responses"),
    (re.compile(r"/messages/?$"), "anthropic"),
    (re.compile(r"/models/([^/:]+):(?:streamG|g)enerateContent$"), "gemini"),
)
_FIELDS = {"openai-chat": "messages", "openai-responses": "input", "anthropic": "messages", "gemini": "contents"}
UNNAMED = "?"
_DROPPED = frozenset({"content-encoding", "content-length", "transfer-encoding"})


class Fitter:
    """Fits request bodies, by conversation. `conversation`: the key of requests that name none; else as for
    `Conversations`."""

    def __init__(
        self,
        policy: Policy | Budget | int | None = None,
        *,
        archive: Archive | str | PathLike[str] | None = None,
        vault: Vault | None = None,
        conversation: str | None = None,
        most: int = MOST,
    ) -> None:
        self._settings: dict[str, Any] = {"archive": archive, "vault": vault, "most": most}
        self._vault = vault
        self._policy, self._conversation = policy, conversation
        self._wires: dict[str, Conversations] = {}
        self.session: Conversation | None = None
        """Of the last request."""

    def open(self, request: Any) -> Sending | None:
        """What is to be done with a request; None: it is not one that has a history."""
        found = next(((wire, match) for path, wire in _PATHS if (match := path.search(request.url.path))), None)
        if request.method != "POST" or found is None:
            return None
        wire, match = found
        body = _body(request)
        elsewhere = _on_server(body)
        if not body.get(_FIELDS[wire]) or (elsewhere and self._vault is None):
            return None
        model = body.get("model") or (match.group(1) if match.groups() else None)
        key = request.headers.get(HEADER) or self._conversation or ("" if elsewhere else _key(body, wire))
        if wire not in self._wires:
            self._wires[wire] = Conversations(self._policy, wire=wire, **self._settings)
        self.session = self._wires[wire].of(key, model)
        return Sending(self.session, request, body, wire, elsewhere and (key or UNNAMED))


def _body(request: Any) -> dict[str, Any]:
    """The JSON object of a request, an empty one when it has none."""
    if "json" not in request.headers.get("content-type", ""):
        return {}
    body = json.loads(request.content)
    return body if isinstance(body, dict) else {}


def _on_server(body: Mapping[str, Any]) -> bool:
    """Whether the history goes on from one that the provider keeps."""
    items = body.get("input")
    named = body.get("previous_response_id") or body.get("conversation")
    return bool(named) or (isinstance(items, list) and any(item.get("type") == "item_reference" for item in items))


def _key(body: Mapping[str, Any], wire: str) -> str:
    """The instructions, where they are messages, and what the user said first."""
    history = body.get(_FIELDS[wire])
    if not isinstance(history, list):
        return digest([wire, history])
    at = next((n for n, message in enumerate(history) if message.get("role") == "user"), 0)
    return digest([wire, history[: at + 1]])


class Sending:
    """One request, and what the provider said to it."""

    def __init__(
        self, session: Conversation, request: Any, body: dict[str, Any], wire: str, elsewhere: str | bool
    ) -> None:
        self.session, self.request, self.body, self.wire = session, request, body, wire
        self._elsewhere = elsewhere
        self._given = told(body, session.refusals)

    def parts(self) -> tuple[Any, bytes] | JettisonError:
        """(headers, content) of the fitted request, or why there is none."""
        try:
            if self._elsewhere:
                return self._written(self._masked())
            return self._written(self.session.fit_request(self._given))
        except (CannotFit, InvalidInput) as error:
            return error

    async def aparts(self) -> tuple[Any, bytes] | JettisonError:
        try:
            if self._elsewhere:
                return self._written(self._masked())
            return self._written(await self.session.afit_request(self._given))
        except (CannotFit, InvalidInput) as error:
            return error

    def refill(self, answer: Any) -> Refill | None:
        """What fills the calls of an answer; None without a vault."""
        return None if self.session.vault is None else Refill(self.session, answer.headers.get("content-type", ""))

    def _masked(self) -> dict[str, Any]:
        """The body without secrets, for a history that the provider keeps; all its requests need one vault."""
        if self._elsewhere == UNNAMED:
            raise InvalidInput(f"with a vault a conversation that is kept on the server needs a name: {HEADER}")
        return masked(self.session, self._given)

    def refused(self, status: int, text: str) -> bool:
        """Whether the provider found it too long; the session is tighter then."""
        if status not in (400, 413, 422) or not says_overflow(text):
            return False
        self.session.tighten()
        return True

    def refusal(self, error: JettisonError) -> dict[str, Any]:
        """What the provider would have answered: an exception in the transport would only make the SDK try again."""
        said = f"jettison: {error}"
        if self.wire == "gemini":
            return {"error": {"code": 400, "message": said, "status": "INVALID_ARGUMENT"}}
        if self.wire == "anthropic":
            return {"type": "error", "error": {"type": "invalid_request_error", "message": said}}
        code = "context_length_exceeded" if isinstance(error, CannotFit) else "invalid_value"
        inner = {"message": said, "type": "invalid_request_error", "param": _FIELDS[self.wire], "code": code}
        return {"error": inner}

    def _written(self, body: Mapping[str, Any]) -> tuple[Any, bytes]:
        headers = self.request.headers.copy()
        headers.pop(HEADER, None)
        if dict(body) == self.body:
            return headers, self.request.content
        content = json.dumps(dict(body), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        headers["content-length"] = str(len(content))
        return headers, content


def fitting_client(inner: Any, fitter: Fitter) -> Any:
    """An httpx client (sync or async as `inner` is) that fits what it sends, and sends it through `inner`."""
    packages = (cls.__module__.partition(".")[0] for cls in type(inner).__mro__)
    http, transport, atransport = _classes(next(name for name in packages if name in ("httpx", "httpx2")))
    timeout = inner.timeout
    if isinstance(inner, http.AsyncClient):
        return http.AsyncClient(transport=atransport(inner, fitter), timeout=timeout, base_url=inner.base_url)
    return http.Client(transport=transport(inner, fitter), timeout=timeout, base_url=inner.base_url)


@lru_cache(maxsize=4)
def _classes(package: str) -> tuple[ModuleType, Any, Any]:
    """(httpx, transport, async transport) of the httpx that the SDK uses, or of its fork httpx2."""
    from importlib import import_module

    http: Any = import_module(package)

    class Watched(http.SyncByteStream):
        def __init__(self, response: Any, meter: Meter, refill: Refill | None = None) -> None:
            self.response, self.meter, self.refill = response, meter, refill

        def __iter__(self) -> Iterator[bytes]:
            for chunk in self.response.iter_bytes():
                self.meter.take(chunk)
                yield chunk if self.refill is None else self.refill.take(chunk)
            self.meter.end()
            if self.refill is not None:
                yield self.refill.end()

        def close(self) -> None:
            self.response.close()

    class AsyncWatched(http.AsyncByteStream):
        def __init__(self, response: Any, meter: Meter, refill: Refill | None = None) -> None:
            self.response, self.meter, self.refill = response, meter, refill

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for chunk in self.response.aiter_bytes():
                self.meter.take(chunk)
                yield chunk if self.refill is None else self.refill.take(chunk)
            self.meter.end()
            if self.refill is not None:
                yield self.refill.end()

        async def aclose(self) -> None:
            await self.response.aclose()

    def request_of(sending: Sending, parts: tuple[Any, bytes]) -> Any:
        old = sending.request
        return http.Request(old.method, old.url, headers=parts[0], content=parts[1], extensions=old.extensions)

    def refusal(sending: Sending, error: JettisonError) -> Any:
        headers = {"x-should-retry": "false"}  # the SDKs made with Stainless heed it
        return http.Response(400, json=sending.refusal(error), headers=headers, extensions={"jettison": error})

    def response_of(old: Any, stream: Any) -> Any:
        """The response with a body that is decoded already."""
        headers = [(name, value) for name, value in old.headers.raw if name.decode().lower() not in _DROPPED]
        if isinstance(stream, bytes):
            return http.Response(old.status_code, headers=headers, content=stream)
        return http.Response(old.status_code, headers=headers, stream=stream)

    class Transport(http.BaseTransport):
        """Hands requests on to the client that was there before, fitted."""

        def __init__(self, inner: Any, fitter: Fitter) -> None:
            self.inner, self.fitter = inner, fitter

        def handle_request(self, request: Any) -> Any:
            request.read()
            sending = self.fitter.open(request)
            if sending is None:
                response = self.inner.send(request, stream=True)
                return response_of(response, Watched(response, Meter(None)))
            response, refused = None, False
            while True:
                parts = sending.parts()
                if isinstance(parts, JettisonError):
                    return response or refusal(sending, parts)
                answer = self.inner.send(request_of(sending, parts), stream=True)
                if answer.status_code < 400:
                    return response_of(answer, Watched(answer, Meter(sending.session), sending.refill(answer)))
                text = answer.read()
                response = response_of(answer, text)
                if refused or not sending.refused(answer.status_code, answer.text):
                    return response
                refused = True

        def close(self) -> None:
            self.inner.close()

    class AsyncTransport(http.AsyncBaseTransport):
        def __init__(self, inner: Any, fitter: Fitter) -> None:
            self.inner, self.fitter = inner, fitter

        async def handle_async_request(self, request: Any) -> Any:
            await request.aread()
            sending = self.fitter.open(request)
            if sending is None:
                response = await self.inner.send(request, stream=True)
                return response_of(response, AsyncWatched(response, Meter(None)))
            response, refused = None, False
            while True:
                parts = await sending.aparts()
                if isinstance(parts, JettisonError):
                    return response or refusal(sending, parts)
                answer = await self.inner.send(request_of(sending, parts), stream=True)
                if answer.status_code < 400:
                    return response_of(answer, AsyncWatched(answer, Meter(sending.session), sending.refill(answer)))
                text = await answer.aread()
                response = response_of(answer, text)
                if refused or not sending.refused(answer.status_code, answer.text):
                    return response
                refused = True

        async def aclose(self) -> None:
            await self.inner.aclose()

    return http, Transport, AsyncTransport
