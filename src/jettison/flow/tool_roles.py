"""What a call does, by its tool's name and arguments: it begins work, only looks, waits for it, ends it, asks."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from jettison.flow.patterns import compiled

__all__ = ["asks_for_leave", "is_asking", "is_looking", "is_polling", "is_running", "is_stopping", "words_of"]

LONGEST_ARGUMENTS = 20_000
"""Characters of arguments that are read for a command; longer ones carry a document."""
LONGEST_COMMAND = 2_000
"""Characters of a command that are read; what a longer one does is said by its first lines."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_READING = _set(
    "get list search read find fetch describe query lookup show view check retrieve inspect browse select count status "
    "grep glob ls cat head tail history snapshot screenshot navigate scrape crawl browser page diff logs info "
    "test tests lint edit editor replace patch "
    "получить показать найти посмотреть прочитать проверить список поиск узнать"
)
_WAITING = _set("poll wait await status output watch tail progress ждать дождаться статус опросить")
_STOPPING = _set(
    "cancel kill stop abort terminate close revoke delete withdraw complete finish finalize approve reject decline "
    "deny отменить остановить закрыть удалить отклонить одобрить завершить"
)
# Before a reading word these say that something is made: `create_list`, `start_query`.
_BEGINNING = _set(
    "start create submit launch trigger enqueue deploy begin spawn dispatch initiate restart "
    "создать запустить начать отправить оформить"
)
_RUNNING = _set(
    "bash shell sh terminal exec execute run command cmd powershell console python ipython code interpreter ssh sql "
    "repl eval"
)
_COMMANDS = ("command", "cmd", "script", "code", "sql", "query", "statement", "commands", "input")
_ASKS = r"approv|confirm|permission|consent|ask_?(?:user|human)|human_?input|escalat|соглас|подтвер"

# Programs that look, and runners of tests: what they print is about files, services and tests.
_LOOKS = (
    r"^\s*(?:\w+=\S*\s+|sudo\s+|time\s+)*(?:cat|bat|ls|ll|grep|egrep|rg|ag|ack|head|tail|less|more|find|fd|stat|wc|awk|"
    r"sed|jq|yq|echo|printf|diff|tree|ps|top|df|du|env|which|pwd|cd|sort|uniq|cut|nl|select|show|explain|with|git "
    r"(?:status|log|diff|show|branch|blame|grep|fetch|pull)|gh \w+ (?:list|view|status)|docker (?:ps|logs|inspect|"
    r"images|stats)|kubectl (?:get|describe|logs|top)|systemctl (?:status|list\S*|is-\w+)|journalctl|squeue|sacct)\b|"
    r"\b(?:pytest|unittest|jest|vitest|mocha|tox|nox|(?:npm|yarn|go|cargo|make) (?:run )?test|phpunit|rspec)\b"
)
_STARTS = (
    r"(?:^|\s)(?:nohup|sbatch|qsub|bsub|setsid)\b|&\s*$|(?:^|\s)--(?:detach|async|no-wait|background)\b|"
    r"\bdocker (?:\w+ )*run (?:\S+ )*-d\b|\b(?:workflow|pipeline|task|job)s? run\b|"
    r"(?<![a-z])(?:submit|start|restart|launch|deploy|enqueue|trigger|dispatch|schedule|create|apply)(?![a-z])|"
    r"(?:-X|--request)[ =]?['\"]?(?:POST|PUT)\b|\s(?:--data[\w-]*|--json|-d)[ =]"
)
_PIECE = re.compile(r"&&|\|\|?|;|\n")


@lru_cache(maxsize=2_048)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a tool's name, lower case."""
    return tuple(word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[А-ЯЁ]?[а-яё]+", name))


@lru_cache(maxsize=2_048)
def is_asking(name: str) -> bool:
    """Whether a tool asks somebody for leave."""
    return asks_for_leave(name)


def asks_for_leave(text: str) -> bool:
    """Whether words speak of leave."""
    return compiled(_ASKS).search(text) is not None


def is_polling(name: str, arguments: str = "") -> bool:
    """Whether a call waits for work or asks how it stands."""
    return not _WAITING.isdisjoint(_verbs(name, arguments))


def is_stopping(name: str, arguments: str = "") -> bool:
    """Whether a call ends what it is given."""
    return not _STOPPING.isdisjoint(_verbs(name, arguments))


def is_looking(name: str, arguments: str = "") -> bool:
    """Whether a call only looks: its result describes things, and none of them is work that it began."""
    given = _arguments(arguments)
    if str(given.get("method", "")).upper() in ("GET", "HEAD"):
        return True
    command = _command(given, arguments) if not _RUNNING.isdisjoint(words_of(name)) else None
    if command is not None:
        return not (_begins(command) or given.get("run_in_background") is True)
    for word in _verbs(name, arguments):
        if word in _BEGINNING:
            return False
        if word in _READING:
            return True
    return False


def is_running(name: str, arguments: str) -> bool:
    """Whether a call runs a command: its result is what that printed."""
    return not _RUNNING.isdisjoint(words_of(name)) and _command(_arguments(arguments), arguments) is not None


def _verbs(name: str, arguments: str) -> tuple[str, ...]:
    """Words of the name; of a tool that does several things also the one that was asked for."""
    if '"action"' not in arguments[:LONGEST_ARGUMENTS]:
        return words_of(name)
    action = _arguments(arguments).get("action")
    one = isinstance(action, str) and re.fullmatch(r"[\w-]{2,30}", action)  # `poll`, not "delete the old logs"
    return (*words_of(action), *words_of(name)) if one else words_of(name)


@lru_cache(maxsize=16)
def _arguments(text: str) -> Mapping[str, Any]:
    if len(text) > LONGEST_ARGUMENTS or text.lstrip()[:1] != "{":
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _command(given: Mapping[str, Any], arguments: str) -> str | None:
    """What a tool that runs things was given to run."""
    if not given:
        return arguments if arguments.lstrip()[:1] != "{" and arguments.strip() else None
    for key in _COMMANDS:
        value = given.get(key)
        if isinstance(value, list):
            value = " ".join(map(str, value))
        if isinstance(value, str) and value.strip():
            return value
    return None


def _begins(command: str) -> bool:
    """Whether a command begins work that goes on after it: in the background, as a job, by a POST."""
    pieces = _PIECE.split(command[:LONGEST_COMMAND])
    return any(compiled(_STARTS).search(piece) and not compiled(_LOOKS).search(piece) for piece in pieces)
