"""Runs one case of `data/README.md`'s shape and lists what it breaks, in words. Works for cases that are not here."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from cases.checker import holds, pending, problems, recount, strings, torn
from jettison import Budget, Policy, Session
from jettison.errors import BudgetUnreachable, CutAnswer, InvalidInput, JettisonError
from jettison.tokens import o200k
from jettison.vault import Vault

Case = dict[str, Any]

DESCRIPTIVE = {
    "source",
    "format",
    "budget_tokens",
    "messages",
    "contents",
    "input",
    "system",
    "tools",
    "expect",
    "kind",
}
DESCRIPTIVE |= {"valid_input", "invalid_because", "note", "counts", "thinking", "name", "id", "model"}
CHECKED = {"must_contain", "must_contain_any", "must_not_contain", "if_contains", "pair_groups", "must_equal_input"}
CHECKED |= {"must_raise", "may_raise", "then_append", "appended_during", "must_contain_after_apply", "repeat_calls"}
CHECKED |= {"context_window", "max_output_tokens", "effective_input_budget", "last_role", "no_new_identifiers"}
CHECKED |= {"must_contain_all_if_summarised", "ideal_contains", "model_rules", "secrets"}
CHECKED |= {"summariser_context_tokens", "summariser_fault_modes"}

_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
# The newest Anthropic family takes up to 1.61 tokens for each of o200k's (jettison.tokens.FACTORS).
_DEAREST = 1.61


class Counting:
    """o200k, remembering how much it was asked to count; `hook` runs at its first call."""

    name = "o200k"
    error = "exact"

    def __init__(self, hook: Callable[[], None] | None = None) -> None:
        self.characters = 0
        self.hook = hook

    def __call__(self, text: str) -> int:
        self.characters += len(text)
        hook, self.hook = self.hook, None
        if hook is not None:
            hook()
        return o200k(text)


class Summariser:
    """Answers as asked, or fails in one of the ways of `summariser_fault_modes`; remembers what it was given."""

    name = "scripted"

    def __init__(self, window: int | None, fault: str = "") -> None:
        self.fault = fault
        self.given: list[tuple[int, int]] = []
        """(tokens of a prompt, most tokens of its answer)"""
        if window is not None:
            self.window = window

    def __call__(self, prompt: str, max_tokens: int) -> str:
        self.given.append((o200k(prompt), max_tokens))
        if self.fault == "cut at max_tokens":
            raise CutAnswer("length")
        if self.fault == "empty string":
            return ""
        if self.fault:
            raise ValueError(self.fault)
        head, _, record = prompt.partition("<<record ")
        listed = [line.partition(": ")[2] for line in head.split("\n") if line.startswith(("- Values", "- Open, "))]
        values = list(dict.fromkeys(value for line in listed for value in json.loads(line)))
        facts = [f"- {value}" for value in values] or ["- " + record.split("\n")[1][:60].rpartition(" ")[0]]
        return "\n".join(["Done:", "- none", "Open:", *facts, "Facts:", "- none", "Decisions:", "- none", "[end]"])


@dataclass
class Run:
    """A case under way: the session, the caller's own list, and what came out last."""

    case: Case
    session: Session
    messages: list[Any]
    repair: bool
    fitted: Any = None
    error: JettisonError | None = None
    outputs: list[Any] = field(default_factory=list)

    @property
    def wire(self) -> str:
        return str(self.case["format"])

    def step(self) -> None:
        self.fitted = self.error = None
        try:
            given = {"system": self.case.get("system"), "tools": self.case.get("tools")}
            self.fitted = self.session.fit(self.messages, repair=self.repair, **given)
            self.outputs.append(self.fitted.messages)
        except JettisonError as error:
            self.error = error


def messages_of(case: Case) -> list[Any]:
    return copy.deepcopy(case.get("messages") or case.get("contents") or case.get("input") or [])


def budget_of(case: Case) -> Budget:
    if "context_window" in case:
        return Budget(window=case["context_window"], reserve_output=case.get("max_output_tokens", 0))
    return Budget(window=case.get("effective_input_budget", case["budget_tokens"]))


def run_case(case: Case, counter: Any = None, *, repair: bool = False, summarizer: Any = None) -> Run:
    """The case's history, fitted once in a fresh session."""
    policy = Policy(budget=budget_of(case), counter=counter, summarizer=summarizer)
    vault = Vault(rule_sets=()) if case.get("secrets") else None
    run = Run(case, Session(policy, wire=case["format"], vault=vault), messages_of(case), repair)
    run.step()
    return run


def violations(case: Case, counter: Any = None) -> list[str]:
    """Everything the library does to this case that it must not; empty when all is well."""
    run = run_case(case, counter)
    found = list(_outcome(run, counter))
    found += [f"then_append: {text}" for text in _appended(run, counter)]
    found += [f"appended_during: {text}" for text in _during(case)]
    found += [f"repeat_calls: {text}" for text in _repeated(case)]
    found += [f"with a summary: {text}" for text in _summarised(case, counter)]
    if not case.get("valid_input", True):
        again = run_case(case, counter, repair=True)
        found += [f"repair: {text}" for text in _outcome(again, counter)]
    return found


def _outcome(run: Run, counter: Any) -> Iterator[str]:
    case = run.case
    if budget_of(case).limit != case.get("effective_input_budget", budget_of(case).limit):
        yield f"effective budget {budget_of(case).limit}, not {case['effective_input_budget']}"
    yield from _leaked(run)
    if run.error is not None:
        yield from _raised(run, run.error, counter)
    elif case.get("must_raise"):
        yield "returned a request where an error is due"
    elif not case.get("valid_input", True) and not run.repair and run.fitted.report.sendable:
        yield "broken input was passed on silently"
    elif (
        not case.get("valid_input", True)
        and run.repair
        and run.fitted.report.sendable
        and not run.fitted.report.repaired
    ):
        yield "repaired without saying so"
    else:
        yield from _request(run)


def _raised(run: Run, error: JettisonError, counter: Any) -> Iterator[str]:
    case, text = run.case, str(error)
    broken = not case.get("valid_input", True)
    if broken and not run.repair and isinstance(error, InvalidInput) and not all(p.position for p in error.problems):
        yield "the error does not say where the input is broken"
    if broken and not run.repair and "must_contain" in case and not any(part in text for part in case["must_contain"]):
        yield f"the error names none of {case['must_contain']}: {text}"
    if not broken and isinstance(error, InvalidInput):
        yield f"valid input was refused: {text}"
    if isinstance(error, BudgetUnreachable):
        if error.needed <= error.available or error.available > budget_of(case).limit:
            yield f"numbers do not add up: needs {error.needed}, available {error.available}"
        if f"{error.needed:,}" not in text or f"{error.available:,}" not in text:
            yield f"the error does not say needed and available: {text}"
    if not broken and not case.get("may_raise", False) and not case.get("must_raise") and not _too_dear(case, counter):
        yield f"raised {type(error).__name__} where the case fits: {text}"


def _too_dear(case: Case, counter: Any) -> bool:
    """The budget was set in o200k tokens; by the default Anthropic count the smallest request may not fit in it."""
    if counter == "o200k" or case["format"] != "anthropic":
        return False
    return bool(case.get("counts", {}).get("smallest_request_of_whole_units", 0) * _DEAREST > budget_of(case).limit)


def _request(run: Run) -> Iterator[str]:
    """What must hold of any request that was returned."""
    case, fitted, report = run.case, run.fitted, run.fitted.report
    sent, system, tools = fitted.messages, fitted.system, case.get("tools")
    whole = [sent, system, tools]
    broken = problems(run.wire, sent, system, tools)
    if not report.sendable:  # a call that is still open in the input is passed on as what it is
        broken = [text for text in broken if text not in problems(run.wire, run.messages)]
    yield from (f"wire: {text}" for text in broken)
    yield from (f"torn: {text}" for text in torn(run.wire, run.messages, sent))
    yield from (f"check {name}: {check.detail}" for name, check in report.checks.items() if not check.ok)
    tokens, limit = recount(run.wire, sent, system, tools), budget_of(case).limit
    if tokens > limit or report.after > report.limit or report.limit != limit:
        yield f"over budget: {tokens} counted, {report.after} reported, limit {report.limit}, given {limit}"
    if report.sendable != (not pending(run.wire, sent)) and case.get("valid_input", True):
        yield f"sendable is {report.sendable}, pending calls {pending(run.wire, sent)}"
    yield from (f"lost: {text}" for text in _must_stay(run) if not holds([sent, system], _masked(run, text)))
    if not report.repaired:  # a dead call that got its answer on request is done, and can be evicted like any
        yield from (f"lost: {text}" for text in case.get("must_contain", ()) if not holds(whole, text))
    wanted = case.get("must_contain_any")
    if wanted and not any(holds(whole, text) for text in wanted):
        yield f"none of {wanted} is left"
    yield from (f"contains {text}" for text in case.get("must_not_contain", ()) if holds([sent, system], text))
    for text, others in case.get("if_contains", {}).items():
        missing = [other for other in others if not holds(whole, other)]
        if holds(whole, text) and missing:
            yield f"keeps {text!r} without {missing}"
    for group in case.get("pair_groups", ()):
        if len({holds(sent, text) for text in group}) > 1:
            yield f"came apart: {group}"
    if case.get("must_equal_input") and (json.dumps(sent) != json.dumps(run.messages) or system != case.get("system")):
        yield "output is not the input"
    if "last_role" in case and sent[-1].get("role") != case["last_role"]:
        yield f"last role is {sent[-1].get('role')}"
    if case.get("no_new_identifiers"):
        yield from (f"new identifier {text}" for text in _new_identifiers(run, whole))
    if any(entry.why == "summary" for entry in report.inserted):
        yield from (
            f"lost: {text}" for text in case.get("must_contain_all_if_summarised", ()) if not holds(whole, text)
        )
    if "prefix-bound-thinking" in case.get("model_rules", ()):
        yield from _bound(run)


def _leaked(run: Run) -> Iterator[str]:
    """A secret of the case, anywhere in what came out or is remembered."""
    fitted, error = run.fitted, run.error
    out = (
        [fitted.messages, fitted.system, fitted.report.to_dict(), repr(fitted)] if fitted else [str(error), repr(error)]
    )
    text = json.dumps(
        [*out, repr(vars(run.session.archive)), repr(run.session._state)], ensure_ascii=False, default=repr
    )
    for secret in run.case.get("secrets", ()):
        value = secret if isinstance(secret, str) else secret.get("value", "")
        if value and (value in text or json.dumps(value, ensure_ascii=False)[1:-1] in text):
            yield f"a secret of {len(value)} characters came out"


def _masked(run: Run, text: str) -> str:
    """A text that must stay, as it is with the vault's placeholders."""
    return text if run.session.vault is None else run.session.vault.text(text)


def _must_stay(run: Run) -> Iterator[str]:
    """System and developer text, and what the user said last: always word for word."""
    said: list[str] = []
    for message in run.messages:
        texts = _texts(message)
        if message.get("role") in ("system", "developer"):
            yield from texts
        elif message.get("role") == "user" and texts:
            said = texts
    yield from said
    yield from (text for text in strings(run.case.get("system")) if text not in ("text", "ephemeral"))


def _texts(message: Any) -> list[str]:
    content = message.get("content", message.get("parts"))
    if isinstance(content, str):
        return [content] if content.isprintable() or content.isascii() else []
    return [part["text"] for part in content or () if isinstance(part.get("text"), str) and part["text"]]


def _new_identifiers(run: Run, sent: Any) -> set[str]:
    given = "\n".join(strings([run.messages, run.case.get("system"), run.case.get("tools")]))
    found = {text for part in strings(sent) for text in _IDENTIFIER.findall(part)}
    return {text for text in found if re.search(r"\d", text) and re.search(r"[A-Za-z]", text) and text not in given}


def _bound(run: Run) -> Iterator[str]:
    """A thinking block is valid only while all before it is unchanged; what was voided goes and is reported."""
    given, sent = _thoughts(run.messages), _thoughts(run.fitted.messages)
    yield from (
        f"a kept thinking block stands after an edit: [{n}]"
        for n, _ in sent
        if json.dumps(run.fitted.messages[:n]) != json.dumps(run.messages[:n])
    )
    lost = len(given) - len(sent)
    if run.fitted.report.cache.reasoning_lost < lost:
        yield f"{lost} thinking blocks are gone, {run.fitted.report.cache.reasoning_lost} reported"


def _thoughts(messages: Sequence[Any]) -> list[tuple[int, Any]]:
    return [
        (n, block)
        for n, message in enumerate(messages)
        if isinstance(message.get("content"), list)
        for block in message["content"]
        if block.get("type") in ("thinking", "redacted_thinking")
    ]


def _appended(run: Run, counter: Any) -> Iterator[str]:
    """The history goes on: between epochs each output starts with the last one, and not every turn is an epoch."""
    rewrites = 0
    for batch in run.case.get("then_append", ()):
        run.messages += copy.deepcopy(batch)
        before = run.outputs[-1] if run.outputs else None
        run.step()
        yield from _outcome(run, counter)
        if run.fitted is None or before is None:
            continue
        epoch = run.fitted.report.cache.epoch in ("minor", "major")
        rewrites += epoch
        if not epoch and json.dumps(run.fitted.messages[: len(before)]) != json.dumps(before):
            yield "the prefix changed without an epoch"
    if rewrites and rewrites == len(run.case["then_append"]):
        yield "every turn rewrote the prefix"


def _during(case: Case) -> Iterator[str]:
    """The caller appends to its own list while the policy runs: nothing is lost, nothing comes twice."""
    if "appended_during" not in case:
        return
    added = case["appended_during"]
    messages = messages_of(case)
    counter = Counting(lambda: messages.extend(copy.deepcopy(added)))
    session = Session(Policy(budget=budget_of(case), counter=counter), wire=case["format"])
    run = Run(case, session, messages, repair=False)
    run.step()
    if run.error is not None:
        return
    if len(messages) != len(messages_of(case)) + len(added):
        yield "the counter was never asked"
    run.step()
    if run.error is not None:
        return
    texts = case.get("must_contain_after_apply") or [text for message in added for text in _texts(message)]
    for text in texts:
        if sum(text in part for part in strings(run.fitted.messages)) != 1:
            yield f"{text!r} is not there exactly once"
    if run.fitted.messages[-len(added) :] != added:
        yield "what was appended does not come last"
    yield from _request(run)


def _repeated(case: Case) -> Iterator[str]:
    """The same call again: the same answer, without the work."""
    if "repeat_calls" not in case:
        return
    counter = Counting()
    session = Session(Policy(budget=budget_of(case), counter=counter), wire=case["format"])
    run = Run(case, session, messages_of(case), repair=False)
    answers, work = [], []
    for _ in range(case["repeat_calls"]):
        before = counter.characters
        run.step()
        work.append(counter.characters - before)
        answers.append(f"{type(run.error).__name__}: {run.error}" if run.error else json.dumps(run.fitted.messages))
    if len(set(answers)) != 1:
        yield f"answers differ: {sorted(set(answers))}"
    if any(again > work[0] // 10 for again in work[1:]):
        yield f"characters counted at each call: {work}"


def _summarised(case: Case, counter: Any) -> Iterator[str]:
    """The case with a summary of what goes: extracted, written by a model, and with each fault that it may have."""
    window = case.get("summariser_context_tokens")
    for summarizer in ("extractive", *(Summariser(window, fault) for fault in _faults(case))):
        run = run_case(case, counter, summarizer=summarizer)
        yield from _outcome(run, counter)
        if isinstance(summarizer, Summariser):
            yield from (f"{summarizer.fault or 'no fault'}: {text}" for text in _asked(run, summarizer, window))


def _faults(case: Case) -> tuple[str, ...]:
    return ("", *case.get("summariser_fault_modes", ()))


def _asked(run: Run, summarizer: Summariser, window: int | None) -> Iterator[str]:
    """What must hold of the questions, and of what was done after a fault."""
    yield from (
        f"was given {prompt} tokens and asked for {answer}, its window has {window}"
        for prompt, answer in summarizer.given
        if window is not None and prompt + answer > window
    )
    if run.fitted is None or not summarizer.given or not summarizer.fault:
        return
    notes = " ".join(run.fitted.report.notes)
    if summarizer.name not in notes:
        yield f"the report does not say that the summariser failed: {notes!r}"
    if summarizer.fault == "context_length_exceeded" and summarizer.fault not in notes:
        yield f"the report does not say why: {notes!r}"
