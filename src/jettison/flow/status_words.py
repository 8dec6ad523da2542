"""The words of a status: under way, begun, over, or only said of the call; in prose and as a value."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache

from jettison.flow.patterns import compiled

__all__ = [
    "DONE_WORD",
    "JOB",
    "JOB_NOUN",
    "OPEN_TEXT",
    "OPEN_WORD",
    "STARTED_WORD",
    "UNREACHED",
    "State",
    "is_told",
    "partly",
    "state_of",
]

LONGEST_STATE = 80
"""Characters of a status; a longer text under that key is prose."""
SHARE = 24
"""Characters behind a done word in which the share that it is said of begins: `done: 3 of 10 parts`."""


class State(Enum):
    """What a status says."""

    OPEN = "under way, of whatever it is said"
    STARTED = "under way if it is said of a job: an order is `accepted` and an assignment `submitted` for good"
    DONE = "over"
    ENVELOPE = "over if it is said of the work: `success` and `error` mostly speak of the call"


_OPEN = (
    r"pending|queued|in[ _-]?queue|enqueued|running|in[ _-]?progress|processing|provisioning|deploying|waiting|"
    r"on[ _-]?hold|under ?way|ongoing|(?:in|under)[ _-]review|"
    r"await\w*(?:[ _-](?:\w+[ _-])?(?:approval|confirmation|review|payment|response|input|user|settlement))?|"
    r"(?:requires|needs)[ _-](?:\w+[ _-])?(?:approval|confirmation|action|capture|payment|method)|action required|"
    r"(?:async[ _-])?launched|in[ _-]?flight|"
    r"(?:creat|updat|delet|start|stopp|restart|initiali[sz]|prepar|build|upload|import|export|scal|migrat|restor|sync|"
    r"index|render|train|generat|compil|calculat|validat|retry|transcod|crawl)ing|"
    r"partial(?:ly)?[ _-]\w+|incomplete|unfinished|"
    r"pending[ _-]\w+|not[ _-]?(?:yet[ _-])?(?:finished|completed?|ready|done)|"
    r"в очереди|в ожидании|ожида\w+|жд[её][тм]|выполня\w+ся|исполняется|в обработке|обрабатывается|на согласовании|"
    r"на рассмотрении|на проверке|на модерации|на подтверждении|запущен[аоы]?|запускается|в процессе|в работе|"
    r"формируется|готовится|созда[её]тся|собирается|загружается|проверяется|рассматривается|согласуется|"
    r"(?:отправлен|передан|направлен|поставлен)[аоы]? (?:на|в) (?!архив)\w+|"
    r"принят[аоы]? (?:в работу|к исполнению|в обработку)|"
    r"(?:ещ[её] |пока )?не (?:готов|заверш[её]н|выполнен|окончен)[аоы]?|требу\w+ (?:подтверждени|согласовани)\w+|"
    r"l(?:ä|ae)uft|in bearbeitung|in der warteschlange|wartet|ausstehend|wird (?:bearbeitet|ausgef(?:ü|ue)hrt)|"
    r"en (?:curso|proceso|cola|cours|attente)|pendiente|procesando|em andamento|in corso"
)
_OPEN_CJK = (
    "处理中|进行中|排队中|等待中|运行中|执行中|审核中|待审批|待处理|実行中|処理中|待機中|진행 ?중|처리 ?중|대기 ?중"
)
_STARTED = (
    r"started|scheduled|submitted|accepted|initiated|created|requested|spawned|dispatched|triggered|"
    r"принят[аоы]?|создан[аоы]?|отправлен[аоы]?|назначен[аоы]?|начат[аоы]?|поставлен[аоы]?"
)
_DONE = (
    r"done|completed?|succeeded|finished|failed|failure|cancel+ed|errored|approved|"
    r"rejected|denied|declined|closed|resolved|refunded|settled|expired|aborted|timed[ _-]?out|delivered|confirmed|"
    r"merged|"
    r"ready|killed|terminated|stopped|revoked|paid|shipped|processed|granted|"
    r"заверш[её]н[аоы]?|завершил(?:ся|ась|ось|ись)|готов[аоы]?|выполнен[аоы]?|отмен[её]н[аоы]?|отклон[её]н[аоы]?|"
    r"одобрен[аоы]?|подтвержд[её]н[аоы]?|возвращ[её]н[аоы]?|"
    r"исполнен[аоы]?|закрыт[аоы]?|остановлен[аоы]?|зачислен[аоы]?|согласован[аоы]?|не удал(?:ось|ась|ся)|"
    r"отказано|доставлен[аоы]?|разрешен[аоы]?|провален[аоы]?|провалил(?:ся|ась|ось|ись)|упал[аои]?|сделан[аоы]?|"
    r"(?:отменил|закрыл|остановил|одобрил|отклонил|подтвердил|согласовал)[аи]?|"
    r"fertig|abgeschlossen|erledigt|fehlgeschlagen|storniert|completad[oa]|terminad[oa]|finalizad[oa]|cancelad[oa]|"
    r"termin[ée]e?|annul[ée]e?"
)
_ENVELOPE = r"success(?:ful(?:ly)?)?|error|ok|successo|успешно|успех|ошибка"
_DONE_CJK = "已?完成|失败|已取消|已批准|已拒绝|完了|失敗|완료|실패"
JOB = (
    r"ticket|job|run|operation|op|export|import|batch|deployment|deploy|build|request|approval|confirmation|"
    r"execution|agent|shell|bash|"
    r"process|refund|transfer|payout|query|workflow|background_task|task|pipeline|backup|restore|migration|"
    r"тикет|заявка|задача|задание|операция|"
    r"возврат|запрос|процесс|выгрузка|экспорт|импорт|сборка"
)
"""Nouns of work, as they stand in keys and names."""
JOB_NOUN = (
    r"(?:\b(?:ticket|job|run|operation|export|import|batch|deployment|build|request|approval|execution|agent|process|"
    r"refund|transfer|payout|workflow|task|pipeline|backup|restore|migration|"
    r"тикет\w{0,2}|заявк\w{1,2}|задач\w{1,2}|задани\w|операци\w|возврат\w?|запрос\w?|процесс\w?|выгрузк\w|экспорт\w?|"
    r"импорт\w?|сборк\w|отч[её]т\w?|обработк\w|рассылк\w|плат[её]ж\w?|перевод\w?|брон[ьи]|поручени\w|деплой\w?|агент\w?|"
    r"развёртывани\w|auftrag|vorgang|antrag|tarea|trabajo|solicitud|t(?:â|a)che|demande|tarefa)\b|任务|工单|订单|申请|作业|"
    r"ジョブ|タスク|작업)"
)
"""The same as they stand in prose."""
OPEN_WORD = rf"(?:\b(?:{_OPEN})\b|{_OPEN_CJK})"
STARTED_WORD = (
    r"\b(?:started|scheduled|submitted|accepted|initiated|spawned|dispatched|triggered|kicked off|принят[аоы]?|"
    r"начат[аоы]?|отправлен[аоы]?|поставлен[аоы]?|стартовал[аои]?)\b"
)
DONE_WORD = rf"(?:\b(?:{_DONE}|{_ENVELOPE})\b|{_DONE_CJK})"
OPEN_TEXT = (
    rf"(?:\b(?:status|state|статус|состояние)\W{{1,4}}(?:{_OPEN})|\b(?:queued|enqueued|"
    r"(?:is|still|now) (?:running|pending|in progress|being processed)|"
    r"(?:running|started|launched|moved) (?:in|to) (?:the )?background|background (?:task|job|agent|shell|process)|"
    r"(?:async|background) agent launched|"
    r"await\w* (?:\w+ )?(?:approval|confirmation|review)|waiting for (?:\w+ ){0,2}(?:approval|confirmation|review)|"
    r"pending (?:\w+ )?approval|"
    r"requires? (?:\w+ )?(?:approval|confirmation)|в очереди|ожида\w+ (?:\w+ )?(?:согласовани|подтверждени|одобрени|"
    r"проверк|оплат)\w+|ещ[её] выполняется|выполняется в фоне|в обработке|на согласовании|"
    r"(?:запущен\w*|работает) в фоне|поставлен\w* в очередь|требу\w+ (?:подтверждени|согласовани|одобрени)\w+))"
)
# What makes "done" no statement: a condition, a guess, what is to come ...
_CONDITION = (
    r"\b(?:if|unless|until|till|when(?:ever)?|once|whether|as soon as|in case|should|would|will|may (?:be|have)|might|"
    r"maybe|perhaps|probably|to be|waiting|"
    r"если|когда|пока|как только|ли|чтобы|бы|будет|будут|может|возможно|наверное?|должн\w+|жд[иеу]\w*|"
    r"wenn|falls|sobald|ob|cuando|quand|lorsque)\b|如果|当|等"
)
# ... and of what a user says, also a wish or an order.
_WISH = (
    r"\b(?:before|after|i (?:hope|think|guess|assume)|let me know|tell me|make sure|ensure|check|verify|wait|want|need|"
    r"please|mark|is it|"
    r"надеюсь|думаю|кажется|скажи\w*|сообщи\w*|проверь\w*|убедись|убедитесь|дождись|дождитесь|хочу|нужно|надо|прошу|"
    r"пусть|после|перед|отметь\w*|сделай\w*)\b"
)
_NEGATED = (
    r"\b(?:not|never|cannot|no|hardly|barely|almost|nearly|half|\w+n['’]t|не|ни|ещё не|почти|nicht|noch|pas)\b|未|没"
)
# A share that is not all of it, before the word or right behind it.
_SHARE = (
    r"(?<![\d.,])(?P<some>\d+)\s*(?:of|out of|/|из|von|de)\s*(?P<all>\d+)\b|(?<![\d.,])(?P<per>\d+(?:[.,]\d+)?)\s?%"
)
# A piece of the work, not the work: `step 1 done`, `2 files done`; and a count: `done 3, failed 0`.
_PART = (
    r"\b(?:step|stage|part|phase|chunk|file|row|page|шаг|этап|часть|стадия|файл|schritt|teil)\s*#?\d*\W*"
    r"(?:is|was|has|been)?\s*$|"
    r"(?<![\w/])(?<!of )(?<!из )\d+\s+(?:files|rows|parts|items|records|steps|tests|pages|chunks|файл\w*|"
    r"строк\w*|запис\w*|част\w*|шаг\w*)\s*"
    r"(?:are|were|have|been)?\s*$"
)
_COUNT = r"^\s*[:=]?\s*\d+\s*(?:[,;)]|$)"
_SHARE_AFTER = r"^\W{0,3}(?:(?:at|to|by|на|до|zu)\s+)?(?=\d)"
# How a question begins, if its mark is left out.
_ASKED = r"^\W*(?:[а-яё]+ ли|is|are|was|were|has|have|had|did|does|do|can|could|what|why|how|who|which|разве|неужели)\b"
# The question how work stands got no answer: nothing is said of the work.
UNREACHED = (
    r"\b(?:HTTP\W{0,3}(?:\d\.\d )?)?(?:408|425|429|50[0-4])\b(?=\W{0,3}(?:$|[a-zа-я]))|service unavailable|bad gateway|"
    r"gateway time-?out|connection (?:refused|reset|timed out|error)|rate limit|too many requests|timed out (?:while )?"
    r"(?:waiting|reading|connecting)|temporarily unavailable|"
    r"(?:failed|unable|could ?n[o']t|cannot) (?:to )?(?:get|fetch|poll|reach|check|retrieve|connect|read|query)|"
    r"(?:poll|status check|request|lookup) (?:failed|timed out)|retry|try again|"
    r"не удалось (?:получить|узнать|проверить|связаться|подключиться|запросить)|сервис недоступен|"
    r"повтор\w+ (?:попытк|через)"
)


def _spaced(value: str) -> str:
    """`IN_PROGRESS`, `inProgress` and `in-progress` as words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_-]", " ", value).strip()


@lru_cache(maxsize=4_096)
def state_of(value: str) -> State | None:
    """What the value of a status says."""
    if len(value) > LONGEST_STATE:
        return None
    plain = _spaced(value)
    if compiled(rf"^\W*(?:(?:{_OPEN})\b|{_OPEN_CJK})").match(plain):
        return State.OPEN
    for state, words in ((State.DONE, rf"(?:{_DONE})\b|{_DONE_CJK}"), (State.ENVELOPE, rf"(?:{_ENVELOPE})\b")):
        if compiled(rf"^\W*(?:{words})").match(plain):
            return State.OPEN if partly(plain) else state
    return State.STARTED if compiled(rf"^\W*(?:{_STARTED})\b").match(plain) else None


def partly(text: str) -> bool:
    """Whether a text names a share that is less than all: `3 of 10`, `40%`."""
    for match in compiled(_SHARE).finditer(text):
        if match["per"]:
            if float(match["per"].replace(",", ".")) < 100:
                return True
        elif int(match["some"]) < int(match["all"]):
            return True
    return False


def is_told(clause: str, start: int, end: int, spoken: bool) -> bool:
    """Whether the done word of a clause at `start` to `end` says how things are: it is not denied, not asked, no
    condition, no share of the whole; of what a user says (`spoken`) also no wish."""
    before, after = clause[:start], clause[end:]
    if clause.rstrip(" \"'»)").endswith(("?", "？")) or compiled(_ASKED).match(clause):
        return False
    if compiled(_CONDITION).search(before) or (spoken and compiled(_WISH).search(before)):
        return False
    if compiled(_PART).search(before) or compiled(_COUNT).match(after):
        return False
    if partly(before) or (compiled(_SHARE_AFTER).match(after) and partly(after[:SHARE])):
        return False
    return compiled(_NEGATED).search(re.split(r"[,;:]\s", before)[-1]) is None
