"""LiteLLM: a callback for the SDK's async calls, the router and the proxy; and `completion` that tries once more."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

from jettison.bodies import Body
from jettison.budget import Budget
from jettison.errors import CannotFit, ConfigError
from jettison.integrations.common import MOST, Conversation, Conversations, guarded, guarded_async, missing
from jettison.integrations.litellm_answers import FilledStream, fill_objects
from jettison.integrations.overflow import is_overflow
from jettison.integrations.refusals import masked, told
from jettison.policy import Policy
from jettison.protocols import Archive
from jettison.wire.base import digest

if TYPE_CHECKING:
    from jettison.vault import Vault

try:
    import litellm
    from litellm import CustomStreamWrapper
    from litellm.exceptions import ContextWindowExceededError
    from litellm.integrations.custom_logger import CustomLogger
except ImportError as error:
    raise missing("litellm", "litellm") from error

__all__ = ["JettisonLogger", "LiteLLM", "NothingSafeFits"]

_WIRES = {
    "completion": "openai-chat",
    "acompletion": "openai-chat",
    "anthropic_messages": "anthropic",
    "responses": "openai-responses",
    "aresponses": "openai-responses",
}
_FIELDS = {"openai-chat": "messages", "anthropic": "messages", "openai-responses": "input"}


class NothingSafeFits(CannotFit, ContextWindowExceededError):
    """No safe context fits: Jettison's error and LiteLLM's, so that its context-window fallbacks take over."""

    def __init__(self, model: str, error: CannotFit) -> None:
        ContextWindowExceededError.__init__(self, f"jettison: {error}", model=model, llm_provider="")
        self.report = error.report

    def __str__(self) -> str:
        return str(self.message)


class _Fitting:
    """What the callback and the client share. Settings as for `Conversations`, one for all wires."""

    def __init__(
        self,
        policy: Policy | Budget | int | None = None,
        *,
        archive: Archive | str | PathLike[str] | None = None,
        vault: Vault | None = None,
        most: int = MOST,
    ) -> None:
        self._settings: dict[str, Any] = {"archive": archive, "vault": vault, "most": most}
        self._policy, self._vault = policy, vault
        self._wires: dict[str, Conversations] = {}
        self.session: Conversation | None = None
        """Of the last request."""

    def _of(self, request: Mapping[str, Any], wire: str) -> Conversation:
        if wire not in self._wires:
            self._wires[wire] = Conversations(self._policy, wire=wire, **self._settings)
        model = request.get("model")
        self.session = self._wires[wire].of(_key(request, wire), model if isinstance(model, str) else None)
        return self.session


class JettisonLogger(CustomLogger, _Fitting):
    """`litellm.callbacks = [JettisonLogger(32_000)]`, or under `callbacks` in the proxy's configuration.

    Fits `acompletion`, `aresponses` and Anthropic messages (`anthropic_messages`), streams too, in the SDK, the router
    and the proxy; arguments must be given by name. A conversation is known by `litellm_session_id` (or
    `metadata={"session_id": …}`), else by its first message; those of different proxy keys never meet. The provider's
    usage flows back (not that of streams). After an overflow error the next try of this conversation (LiteLLM's own
    retries, or yours) is tighter.

    With a `vault` (as for `Session`) calls in answers come with the values of their placeholders, where they may have
    them; else `session.refusals` says why not. LiteLLM shows callbacks the last chunk of a stream alone: calls in
    streams keep their placeholders, for `session.rehydrate`; `LiteLLM` fills them.

    LiteLLM has no such hook for sync `completion`: use `LiteLLM`. Raises NothingSafeFits, which is a
    `ContextWindowExceededError` and a `CannotFit`.
    """

    def __init__(
        self,
        policy: Policy | Budget | int | None = None,
        *,
        archive: Archive | str | PathLike[str] | None = None,
        vault: Vault | None = None,
        most: int = MOST,
    ) -> None:
        CustomLogger.__init__(self)
        _Fitting.__init__(self, policy, archive=archive, vault=vault, most=most)
        self._calls: OrderedDict[Any, Conversation] = OrderedDict()

    async def async_pre_call_deployment_hook(self, kwargs: dict[str, Any], call_type: Any) -> dict[str, Any] | None:
        wire = _wire(call_type)
        if wire is None or not kwargs.get(_FIELDS[wire]):
            return None
        pointers = ("previous_response_id", *(["conversation"] if wire == "openai-responses" else []))
        elsewhere = any(map(kwargs.get, pointers))
        if elsewhere and self._vault is None:
            return None
        if elsewhere and not _named(kwargs):
            raise ConfigError("with a vault a conversation kept on the server needs a name: litellm_session_id=…")
        session = self._of(kwargs, wire)
        self._calls[kwargs.get("litellm_call_id")] = session
        if len(self._calls) > MOST:
            self._calls.popitem(last=False)
        given = told(kwargs, session.refusals)
        if elsewhere:
            return masked(session, given)
        try:
            return dict(await session.afit_request(given))
        except CannotFit as error:
            raise NothingSafeFits(str(kwargs.get("model")), error) from error

    async def async_post_call_success_deployment_hook(
        self, request_data: dict[str, Any], response: Any, call_type: Any
    ) -> None:
        """Takes the provider's count, and fills calls. The logging events come later, when the next request may be on
        its way."""
        session = self._calls.pop(request_data.get("litellm_call_id"), None)
        if session is not None:
            _fed(session, response)

    async def async_post_call_failure_deployment_hook(
        self, request_data: Mapping[str, Any], exception: Exception, call_type: Any, fallback_depth: int | None = None
    ) -> None:
        session = self._calls.pop(request_data.get("litellm_call_id"), None)
        if session is not None and is_overflow(exception) and not isinstance(exception, NothingSafeFits):
            session.tighten()


class LiteLLM(_Fitting):
    """`LiteLLM(32_000).completion(model=…, messages=…)`: LiteLLM's `completion` and `acompletion`, fitted.

    Usage flows back (not that of streams), and after an overflow error there is one tighter try. With a `vault`
    calls in answers are filled, in streams too. Conversations are known, and errors are raised, as by `JettisonLogger`.
    """

    def completion(self, **request: Any) -> Any:
        """`litellm.completion`, by name; it takes and gives the same."""
        session = self._of(request, "openai-chat")

        def send() -> Any:
            try:
                body = session.fit_request(told(request, session.refusals))
            except CannotFit as error:
                raise NothingSafeFits(str(request.get("model")), error) from error
            return litellm.completion(**body)

        return _fed(session, guarded(session, send))

    async def acompletion(self, **request: Any) -> Any:
        """`litellm.acompletion`, by name; it takes and gives the same."""
        session = self._of(request, "openai-chat")

        async def send() -> Any:
            try:
                body: Body = await session.afit_request(told(request, session.refusals))
            except CannotFit as error:
                raise NothingSafeFits(str(request.get("model")), error) from error
            return await litellm.acompletion(**body)

        return _fed(session, await guarded_async(session, send))


def _wire(call_type: Any) -> str | None:
    return _WIRES.get(str(getattr(call_type, "value", call_type)))


def _named(request: Mapping[str, Any]) -> Any:
    """What the caller calls the conversation."""
    return request.get("litellm_session_id") or _metadata(request).get("session_id")


def _metadata(request: Mapping[str, Any]) -> Mapping[str, Any]:
    return request.get("metadata") or request.get("litellm_metadata") or {}


def _key(request: Mapping[str, Any], wire: str) -> str:
    """Whose conversation it is, and which."""
    metadata = _metadata(request)
    owner = metadata.get("user_api_key_hash") or metadata.get("user_api_key")
    named, history = _named(request), request.get(_FIELDS[wire])
    if not named and isinstance(history, list):
        first = next((message for message in history if _read(message, "role") == "user"), None)
        named = digest(_read(first, "content"))
    return f"{owner or ''}/{named or digest(history)}"


def _read(value: Any, name: str) -> Any:
    """A field of one of LiteLLM's objects, or of a dict in its place."""
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _feed(session: Conversation, response: Any) -> None:
    """LiteLLM's counts have what came from a cache in them, on every provider."""
    usage = _read(response, "usage")
    count = _read(usage, "prompt_tokens") or _read(usage, "input_tokens")
    if isinstance(count, int) and count > 0:
        session.usage(input_tokens=count)


def _fed(session: Conversation, response: Any) -> Any:
    """The response, its usage taken and its calls filled."""
    if session.vault is not None and isinstance(response, CustomStreamWrapper):
        return FilledStream(session, response)
    _feed(session, response)
    if session.vault is not None:
        fill_objects(session, response)
    return response
