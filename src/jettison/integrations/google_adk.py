"""Google ADK: a plugin that fits what each model call of its runner is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from jettison.budget import Budget
from jettison.errors import CannotFit, SecretGone, SecretRefused
from jettison.integrations.common import MOST, Conversation, Conversations, missing
from jettison.integrations.google_adk_messages import (
    from_fitted,
    from_wire,
    schema_of,
    system_of,
    to_tools,
    to_wire,
    without_secrets,
)
from jettison.integrations.overflow import is_overflow
from jettison.policy import Policy
from jettison.protocols import Archive
from jettison.recall import DESCRIPTION, NAME, PARAMETERS, recall_answer

if TYPE_CHECKING:
    from jettison.vault import Vault

try:
    from google.adk.plugins.base_plugin import BasePlugin
    from google.adk.tools.base_tool import BaseTool
    from google.genai import types
except ImportError as error:
    raise missing("google-adk 2.13 or newer", "google-adk") from error

__all__ = ["JettisonPlugin"]


class JettisonPlugin(BasePlugin):
    """`App(name=…, root_agent=agent, plugins=[JettisonPlugin(32_000)])`: each model call is sent what fits.

    The session keeps all its events. The provider's usage flows back; after its overflow error the model is called
    once more, tighter (then without partial events). `policy`: a `Policy`, a `Budget`, or tokens; None: the model's
    own window. `archive`, `vault`: as for `Session`; tools get the values of
    placeholders in `before_tool_callback`. `recall`: give each agent the tool `recall_context`. `most`: conversations
    that are remembered; each agent of a session, and each branch of it, has its own. Put it last, so that it sees what
    other plugins made of the request.

    CannotFit comes out of the runner as ADK gives every error of a plugin: a RuntimeError whose `__cause__` it is. For
    one agent alone, and without that wrapping, give its methods as the agent's `before_model_callback`,
    `after_model_callback` and `on_model_error_callback`. Calls that go on from an interaction on the server
    (`previous_interaction_id`) are passed as they are.
    """

    def __init__(
        self,
        policy: Policy | Budget | int | None = None,
        *,
        archive: Archive | str | PathLike[str] | None = None,
        vault: Vault | None = None,
        recall: bool = False,
        most: int = MOST,
        name: str = "jettison",
    ) -> None:
        super().__init__(name=name)
        self._conversations = Conversations(policy, wire="gemini", archive=archive, vault=vault, most=most)
        self._vault = vault
        self._recall = _Recall(self) if recall else None
        self._given: WeakKeyDictionary[Conversation, Sequence[Any]] = WeakKeyDictionary()
        self.session: Conversation | None = None
        """Of the last call."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        if not llm_request.contents:
            return
        if llm_request.previous_interaction_id:
            if self._vault is not None:
                self._passed(callback_context, llm_request)
            return
        if self._recall is not None and NAME not in llm_request.tools_dict:
            llm_request.append_tools([self._recall])
        session = self.session = self._conversations.of(_key(callback_context), llm_request.model)
        contents = self._given[session] = llm_request.contents
        llm_request.contents = await _fit(session, contents, llm_request.config)

    async def before_tool_callback(self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any) -> Any:
        """With a vault: the tool gets the values of placeholders, where it may have them; else its answer says why not.
        The call in the session keeps its placeholders: the arguments given here are ADK's copy."""
        session = self._conversations.find(_key(tool_context))
        if session is None:
            return None
        try:
            filled = session.filled(tool.name, tool_args)
        except (SecretRefused, SecretGone) as refused:
            return {"error": str(refused)}
        tool_args.update(filled)
        return None

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        session = self._conversations.find(_key(callback_context))
        used = llm_response.usage_metadata
        if session is not None and used and used.prompt_token_count and not llm_response.partial:
            session.usage(input_tokens=used.prompt_token_count)

    async def on_model_error_callback(self, *, callback_context: Any, llm_request: Any, error: Exception) -> Any:
        """One more call, tighter; None (ADK then raises `error`): it was no overflow, or is one again."""
        session = self._conversations.find(_key(callback_context))
        contents = None if session is None else self._given.pop(session, None)
        if session is None or contents is None or not is_overflow(error):
            return None
        session.tighten()
        try:
            llm_request.contents = await _fit(session, contents, llm_request.config)
        except CannotFit as unfit:
            error.__cause__ = unfit
            return None
        invocation = callback_context.get_invocation_context()
        model = await invocation.agent.canonical_model_async(callback_context)
        invocation.increment_llm_call_count()
        try:
            return [response async for response in model.generate_content_async(llm_request, stream=False)][-1]
        except Exception as again:
            if not is_overflow(again):
                raise
            return None

    def _passed(self, context: Any, request: Any) -> None:
        """Contents that go on from an interaction on the server: as they are, secrets aside."""
        session = self.session = self._conversations.of(_key(context), request.model)
        wire = to_wire(request.contents)
        sent, _ = session.vaulted(wire)
        request.contents = from_wire(sent, range(len(wire)), wire, request.contents)
        without_secrets(session.cleaned, request.config)

    def find(self, context: Any) -> Conversation | None:
        """The conversation of one of ADK's contexts, None before its first call."""
        return self._conversations.find(_key(context))


class _Recall(BaseTool):
    """The tool `recall_context`."""

    def __init__(self, plugin: JettisonPlugin) -> None:
        super().__init__(name=NAME, description=DESCRIPTION)
        self._plugin = plugin

    def _get_declaration(self) -> Any:
        schema = dict(PARAMETERS)
        return types.FunctionDeclaration(name=NAME, description=DESCRIPTION, parameters_json_schema=schema)

    async def run_async(self, *, args: Mapping[str, Any], tool_context: Any) -> Any:
        session = self._plugin.find(tool_context)
        return {"result": "Nothing was cut yet." if session is None else recall_answer(session, args)}


def _key(context: Any) -> str:
    """The session; agents in it see it each in its own way, and so do branches that run side by side."""
    session = context.session
    where = f"{session.app_name}/{session.user_id}/{session.id}"
    return f"{where}/{context.branch or ''}/{context.agent_name}"


async def _fit(session: Conversation, contents: Sequence[Any], config: Any) -> list[Any]:
    wire = to_wire(contents)
    tools = to_tools(config) or None
    fitted = await session.afit(wire, system=system_of(config), tools=tools, response_schema=schema_of(config))
    without_secrets(session.cleaned, config)
    return from_fitted(fitted, wire, contents)
