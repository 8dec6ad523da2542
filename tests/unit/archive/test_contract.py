"""What every archive of Jettison does, whatever keeps its texts: in memory, in a file, in PostgreSQL."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator

import pytest

from jettison import ArchiveError, ConfigError, Session
from jettison.archive import Conversation, MemoryArchive, Pruned, Scoped, opened
from jettison.protocols import ConversationArchive, VectorCache

KINDS = ("memory", "sqlite", "postgres")


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=KINDS)
def place(request, tmp_path) -> Callable[[], object]:
    """Opens the same archive, again and again; in memory there is only one."""
    if request.param == "memory":
        only = MemoryArchive()
        return lambda: only
    where = tmp_path / "a.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    return lambda: opened(where)


@pytest.fixture
def archive(place) -> Iterator[ConversationArchive]:
    store = place()
    store.clock = Clock()
    yield store
    store.close()


def test_it_knows_conversations(archive):
    assert isinstance(archive, ConversationArchive)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "строка\r\n\x00 \u2028 👩‍👩‍👧‍👦 " * 500,
        "lone \ud800 surrogate",
        "\x00",
        "x" * 3_000_000,
        "% _ ' \" \\ %s {}",
    ],
    ids=["empty", "blank", "mixed", "surrogate", "nul", "3 MB", "quotes"],
)
def test_what_is_put_comes_back_exactly(archive, text):
    archive.put("bofidu", text)
    archive.put("bofidu", text)
    assert archive.get("bofidu") == text


def test_a_handle_never_changes_its_text(archive):
    archive.put("bofidu", "one")
    with pytest.raises(ArchiveError, match="'bofidu' already stands for another text"):
        archive.put("bofidu", "two")
    assert archive.get("bofidu") == "one"


def test_an_unknown_handle_is_an_error_that_names_it(archive):
    with pytest.raises(ArchiveError, match="kadusa"):
        archive.get("kadusa")


def test_all_of_many_are_stored_or_none(archive):
    archive.put("bofidu", "one")
    with pytest.raises(ArchiveError, match="bofidu"):
        archive.put_many({"aaaa": "first", "bofidu": "two", "zzzz": "last"}, "chat")
    for handle in ("aaaa", "zzzz"):
        with pytest.raises(ArchiveError, match=handle):
            archive.get(handle)
    assert [one.key for one in archive.conversations()] == [""]


# conversations


def test_a_conversation_is_deleted_wholly_and_what_another_holds_stays(archive):
    archive.put_many({"a": "mine alone", "b": "of us both"}, "chat-1")
    archive.put_many({"b": "of us both", "c": "yours alone"}, "chat-2")
    assert archive.delete("chat-1") == 1
    assert archive.get("b") == "of us both"
    assert archive.get("c") == "yours alone"
    with pytest.raises(ArchiveError, match="'a'"):
        archive.get("a")
    assert archive.search("mine") == []
    assert [handle for handle, _ in archive.search("both")] == ["b"]
    assert [one.key for one in archive.conversations()] == ["chat-2"]
    assert archive.delete("chat-1") == 0
    archive.put("a", "another text may use the handle now", "chat-3")
    assert archive.delete("chat-2") == 2


def test_a_conversation_covers_those_of_its_sub_agents(archive):
    archive.put("a", "told the agent", "chat-1")
    archive.put("b", "told the researcher", "chat-1/researcher")
    archive.put("c", "told someone else", "chat-10")
    archive.put("d", "told in между", "chat-1.5")
    archive.put("e", "told later", "chat-1:x")
    assert {handle for handle, _ in archive.search("told", conversation="chat-1")} == {"a", "b"}
    assert {handle for handle, _ in archive.search("told", conversation="chat-1/researcher")} == {"b"}
    assert len(archive.search("told")) == 5
    assert archive.get("b", conversation="chat-1") == "told the researcher"
    for handle, conversation in (("a", "chat-1/researcher"), ("c", "chat-1"), ("a", "nobody")):
        with pytest.raises(ArchiveError, match=handle):
            archive.get(handle, conversation=conversation)
    assert archive.delete("chat-1") == 2
    assert [one.key for one in archive.conversations()] == ["chat-1.5", "chat-10", "chat-1:x"]


def test_conversations_say_what_they_hold(archive):
    archive.put_many({"a": "four", "b": "пять"}, "chat-1")
    archive.clock.now += 60
    archive.put("c", "x", "chat-1")
    archive.put("a", "four", "chat-2")
    began = Clock.now
    assert archive.conversations() == [
        Conversation("chat-1", 3, 13, began, began + 60),
        Conversation("chat-2", 1, 4, began + 60, began + 60),
    ]


@pytest.mark.parametrize("key", ["", "чат 17", "a'b\"c%", "🙂" * 50, "x/y/z"])
def test_any_key_will_do(archive, key):
    archive.put("a", "text", key)
    archive.put("b", "text of another", "another")
    assert archive.get("a", conversation=key) == "text"
    assert archive.delete(key) == 1
    assert [one.key for one in archive.conversations()] == ["another"]


def test_a_scoped_archive_is_one_conversation_of_another(archive):
    one, two = Scoped(archive, "user-1"), Scoped(archive, "user-2")
    assert isinstance(one, ConversationArchive)
    one.put("a", "told user one")
    one.put_many({"b": "told in a chat"}, "chat-1")
    two.put_many({"c": "told user two"}, "chat-1")
    assert [one.get(handle) for handle in "ab"] == ["told user one", "told in a chat"]
    assert one.get("b", conversation="chat-1") == "told in a chat"
    for scope, handle in ((one, "c"), (two, "a"), (two, "b")):
        with pytest.raises(ArchiveError, match=handle):
            scope.get(handle)
    assert {handle for handle, _ in one.search("told")} == {"a", "b"}
    assert [handle for handle, _ in one.search("told", conversation="chat-1")] == ["b"]
    assert [item.key for item in archive.conversations()] == ["user-1", "user-1/chat-1", "user-2/chat-1"]
    two.release()
    assert archive.prune(max_bytes=0).texts == 1
    assert one.delete() == 2


# limits


def test_age_drops_what_was_released_and_is_old(archive):
    archive.put_many({"a": "old", "b": "old and pointed at", "c": "old, released, and live elsewhere"}, "chat")
    archive.release("chat", ["a", "c"])
    archive.clock.now += 100
    archive.put_many({"d": "new"}, "chat")
    archive.release("chat", ["d"])
    assert archive.prune(max_age=100) == Pruned(0, 0, 57)
    archive.clock.now += 1
    assert archive.prune(max_age=100, live=["c"]).texts == 1
    with pytest.raises(ArchiveError, match="'a'"):
        archive.get("a")
    assert [archive.get(handle)[:3] for handle in "bcd"] == ["old", "old", "new"]


def test_size_drops_the_oldest_first(archive):
    for handle in "abcde":
        archive.put(handle, handle * 100, "chat")
        archive.clock.now += 1
    archive.put("a", "a" * 100, "chat")  # seen again: the newest now
    archive.release("chat")
    assert archive.prune(max_bytes=250) == Pruned(3, 300, 200)
    assert [handle for handle in "abcde" if _has(archive, handle)] == ["a", "e"]
    assert archive.search("bbbbb" * 20) == []


def test_no_limit_drops_what_a_live_stub_points_at(archive):
    archive.put_many({"a": "x" * 100, "b": "y" * 100}, "one")
    archive.put("b", "y" * 100, "two")
    archive.release("one", ["b"])  # two still points at it
    archive.clock.now += 10**9
    assert archive.prune(max_bytes=0, max_age=0) == Pruned(0, 0, 200)
    archive.put_many({}, "two", release=["b"])
    assert archive.prune(max_bytes=0, max_age=0) == Pruned(1, 100, 100)
    archive.put("b", "y" * 100, "two")
    archive.release("two")
    archive.put("b", "y" * 100, "two")  # evicted again: pinned again
    assert archive.prune(max_bytes=0) == Pruned(0, 0, 200)


def test_what_is_stored_and_released_at_once_is_pinned(archive):
    archive.put_many({"a": "text"}, "chat", release=["a", "unknown"])
    assert archive.prune(max_bytes=0).texts == 0


def test_a_conversation_that_is_over_is_released_with_its_sub_agents(archive):
    archive.put("a", "text", "chat")
    archive.put("b", "more text", "chat/sub")
    archive.put("c", "text of another", "chat2")
    archive.release("chat")
    assert archive.prune(max_bytes=0).texts == 2
    assert archive.get("c") == "text of another"


def test_without_limits_nothing_is_dropped_and_bad_ones_are_refused(archive):
    archive.put("a", "text", "chat")
    archive.release("chat")
    assert archive.prune() == Pruned(0, 0, 4)
    for limits in ({"max_bytes": -1}, {"max_age": -0.5}, {"max_age": float("nan")}):
        with pytest.raises(ConfigError):
            archive.prune(**limits)


def _has(archive, handle: str) -> bool:
    try:
        archive.get(handle)
    except ArchiveError:
        return False
    return True


# search


def test_search_finds_english_and_russian_and_other_forms_of_a_word(archive):
    archive.put("bofidu", "Refund of ORD-17 is pending")
    archive.put("kadusa", "Заказ отправлен на склад")
    for query, handle in [
        ("refund", "bofidu"),
        ("REFUNDS", "bofidu"),
        ("ord-17", "bofidu"),
        ("заказ", "kadusa"),
        ("ЗАКАЗЫ", "kadusa"),
        ("отправлены на складе", "kadusa"),
    ]:
        assert [found for found, _ in archive.search(query)] == [handle], query


def test_the_text_with_most_words_of_the_query_comes_first(archive):
    archive.put("a", "A green tent. " + "Nothing else to say here. " * 3)
    archive.put("b", "The blue tent of ORD-9913 is damaged. " + "Nothing else to say here. " * 3)
    assert [handle for handle, _ in archive.search("blue damaged tent")] == ["b", "a"]
    assert len(archive.search("tent", limit=1)) == 1
    assert archive.search("tent", limit=0) == []


def test_an_excerpt_shows_the_hit(archive):
    archive.put("a", "filler " * 3_000 + "the needle of the haystack" + " filler" * 3_000)
    ((_, excerpt),) = archive.search("needle")
    assert "needle" in excerpt
    assert len(excerpt) < 1_000


def test_a_word_at_the_end_of_a_long_text_is_found(archive):
    archive.put("a", " ".join(f"w{n}" for n in range(100_000)) + " needle")
    assert [handle for handle, _ in archive.search("needle")] == ["a"]


ODD = [
    "", "   ", "NEAR(", 'refund "ORD-17"', '"', "''", "* OR AND NOT", "a AND (b", "text: x", "{a b}:c", "^x", "-x",
    "x*", "🙂", "🙂 refund", "\x00refund\x00", "\ud800 refund", "%", "\\", "refund & !| <-> (:*",
    "'; DROP TABLE texts; --",
    "refund " * 1_500, " ".join(f"w{n}" for n in range(2_000)), "x" * 10_240, "-".join("ab" * 5_000), "🙂" * 10_240,
    "(" * 10_240, '"' * 10_240, "возврат " * 1_300, "\u2028\u0301",
]  # fmt: skip


@pytest.mark.parametrize("query", ODD, ids=range(len(ODD)))
def test_any_query_is_words_not_syntax(archive, query):
    archive.put("bofidu", "the refund of ORD-17, возврат принят")
    found = archive.search(query)
    expected = "refund" in query or "возврат" in query
    assert [handle for handle, _ in found] == (["bofidu"] if expected else [])


def test_random_queries_raise_nothing(archive):
    draw = random.Random(17)
    archive.put("bofidu", "the refund of ORD-17, возврат принят")
    letters = "aя \"'()*:^-+~<>&|!{}[]\\%_.,\t\n\x00🙂é"
    for _ in range(200):
        archive.search("".join(draw.choices(letters, k=draw.randrange(1, 60))))


# sharing


def test_another_connection_sees_it_at_once(place):
    one, two = place(), place()
    one.put("bofidu", "text", "chat")
    assert two.get("bofidu") == "text"
    two.delete("chat")
    with pytest.raises(ArchiveError):
        one.get("bofidu")


def test_threads_and_connections_share_it(place):
    stores = [place() for _ in range(3)]
    errors: list[BaseException] = []

    def work(number: int) -> None:
        store = stores[number % 3]
        try:
            for turn in range(8):
                mine = {f"h{n}": f"text {n}" for n in random.Random(number * 100 + turn).sample(range(30), 10)}
                store.put_many(mine, f"chat-{number}")
                assert all(store.get(handle) == text for handle, text in mine.items())
                if number == 5:
                    store.delete("chat-5")
                    store.prune(max_bytes=0)
        except BaseException as error:
            errors.append(error)
            raise

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert [one.key for one in stores[0].conversations()] == [f"chat-{n}" for n in range(5)]


# with a session


def history(results: int = 8) -> list[dict[str, object]]:
    messages: list[dict[str, object]] = [{"role": "user", "content": "Read the logs."}]
    for n in range(results):
        call = {"id": f"c{n}", "type": "function", "function": {"name": "logs", "arguments": f'{{"page": {n}}}'}}
        log = "\n".join(f"09:{n:02}:{line % 60:02} INFO worker.tick batch={line * 7 + n}" for line in range(120))
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{n}", "content": log})
    return [*messages, {"role": "user", "content": "And?"}]


def test_a_session_stores_in_its_conversation_and_only_what_it_shows_is_pinned(place):
    archive = place()
    session = Session(6_000, archive=archive, conversation="chat-17")
    messages = history()
    shown: set[str] = set()
    for end in range(9, len(messages) + 1, 2):
        fitted = session.fit(messages[:end])
        shown = {row.handle for row in fitted.report.rows if row.decision in ("compressed", "stub") and row.handle}
        archive.prune(max_bytes=0)
        originals = {message["content"] for message in messages}
        assert all(archive.get(handle) in originals for handle in shown)
    assert shown
    (one,) = archive.conversations()
    assert one.key == "chat-17"
    assert archive.delete(session.conversation) >= len(shown)
    assert archive.conversations() == []


def test_sessions_without_a_key_do_not_share_one(place):
    first, second = Session(6_000, archive=place()), Session(6_000, archive=place())
    first.fit(history())
    second.fit(history(9))
    assert len(place().conversations()) == 2
    place().delete(first.conversation)
    handles = [row.handle for row in second.fit(history(9)).report.rows if row.handle]
    assert handles
    assert all(second.recall(handle) for handle in handles)


def test_a_session_with_a_key_searches_its_own_conversation(place):
    first = Session(6_000, archive=place(), conversation="a")
    first.fit(history())
    archive = place()
    archive.put("foreign", "worker.tick of somebody else", "b")
    archive.put("child", "worker.tick of a sub-agent", "a/sub")
    found = {handle for handle, _ in first.search("worker.tick", 50)}
    assert "foreign" not in found
    assert "child" in found
    assert "foreign" in {handle for handle, _ in Session(6_000, archive=place()).search("worker.tick", 50)}


# vectors

ONE, TWO, THREE = b"\x01" * 16, b"\x00\xff" * 8, b"\x03" * 16


def test_vectors_come_back_by_embedder_and_key(place):
    archive = place()
    assert isinstance(archive, VectorCache)
    assert archive.vectors("m", [ONE]) == {}
    archive.put_vectors("m", {ONE: b"\x00\x01", TWO: b""}, "chat-1")
    archive.put_vectors("other", {ONE: b"\xff\xfe"}, "chat-1")
    again = place()  # another connection
    assert again.vectors("m", [ONE, TWO, THREE]) == {ONE: b"\x00\x01", TWO: b""}
    assert again.vectors("other", [ONE, TWO]) == {ONE: b"\xff\xfe"}
    assert again.vectors("m", []) == {}
    again.put_vectors("m", {ONE: b"newer"}, "chat-1")
    assert archive.vectors("m", [ONE]) == {ONE: b"newer"}
    assert archive.search("newer") == []
    assert archive.conversations() == []


def test_many_vectors_at_once(archive):
    many = {at.to_bytes(16): bytes(1_024) for at in range(2_000)}
    archive.put_vectors("m", many)
    assert archive.vectors("m", many) == many


def test_vectors_are_deleted_with_their_conversation(archive):
    archive.put_vectors("m", {ONE: b"1", TWO: b"2"}, "chat-1")
    archive.put_vectors("m", {TWO: b"2"}, "chat-2")
    archive.put_vectors("m", {THREE: b"3"}, "chat-1/researcher")
    assert archive.vectors("m", [ONE, TWO, THREE], conversation="chat-2") == {TWO: b"2"}
    assert archive.vectors("m", [ONE, TWO, THREE], conversation="chat-1") == {ONE: b"1", TWO: b"2", THREE: b"3"}
    archive.delete("chat-1")
    assert archive.vectors("m", [ONE, TWO, THREE]) == {TWO: b"2"}


def test_a_scoped_archive_sees_its_own_vectors(archive):
    one, two = Scoped(archive, "user-1"), Scoped(archive, "user-2")
    one.put_vectors("m", {ONE: b"1"}, "chat-1")
    assert one.vectors("m", [ONE]) == {ONE: b"1"}
    assert two.vectors("m", [ONE]) == {}
    one.delete()
    assert archive.vectors("m", [ONE]) == {}


def test_vectors_have_what_texts_leave(archive):
    archive.put("a", "x" * 100)
    for at, key in enumerate((ONE, TWO, THREE)):
        archive.clock.now += 10
        archive.put_vectors("m", {key: bytes(40)}, f"chat-{at}")
    assert archive.prune(max_bytes=200) == Pruned(0, 0, 100)
    assert set(archive.vectors("m", [ONE, TWO, THREE])) == {TWO, THREE}
    archive.clock.now += 5
    archive.prune(max_age=10)
    assert set(archive.vectors("m", [ONE, TWO, THREE])) == {THREE}
    assert archive.get("a") == "x" * 100  # pinned
    archive.prune(max_bytes=50)
    assert archive.vectors("m", [THREE]) == {}
