"""Vectors in the archive: a later session asks the embedder for nothing that an earlier one asked for."""

import asyncio

import pytest

from jettison import ArchiveError, Policy, Session
from jettison.archive import MemoryArchive, Scoped, SQLiteArchive
from unit.relevance.talk import Counting, bag, session, talk


class Named(Counting):
    """An embedder whose vectors can be told from those of others."""

    def __init__(self, identity="bag 1", embed=bag):
        super().__init__(embed)
        self.identity = identity


def never(texts):
    raise AssertionError(f"asked again for {len(texts)} texts")


def live(embedder, archive, **more):
    return Session(Policy(budget=260, relevance="rules+embeddings", embedder=embedder), archive=archive, **more)


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def place(request, tmp_path):
    """What sessions are given as their archive."""
    if request.param == "memory":
        return MemoryArchive()
    return tmp_path / "a.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")


def test_a_second_session_embeds_nothing(place):
    first = live(Named(), place).fit(talk())
    assert first.report.spent.embedded > 20
    second = live(Named(embed=never), place).fit(talk())
    assert second.messages == first.messages == session().fit(talk()).messages
    assert second.report.spent.embedded == 0
    assert not [note for note in second.report.notes if note.startswith("embeddings")]
    again = asyncio.run(live(Named(embed=never), place).afit(talk()))
    assert again.messages == first.messages


def test_only_what_is_new_is_embedded(tmp_path):
    live(Named(), tmp_path / "a.db").fit(talk())
    embedder = Named()
    live(embedder, tmp_path / "a.db").fit(talk(early="Something wholly new was said about the garden."))
    asked = {text for batch in embedder.asked for text in batch}
    assert asked == {"Something wholly new was said about the garden."}


@pytest.mark.parametrize("identity", ["", "bag 2"])
def test_vectors_of_another_embedder_are_not_taken(tmp_path, identity):
    live(Named(), tmp_path / "a.db").fit(talk())
    embedder = Named(identity)
    assert live(embedder, tmp_path / "a.db").fit(talk()).report.spent.embedded > 20


def test_a_loaded_session_embeds_nothing_again(tmp_path):
    history = talk()
    before = live(Named(), tmp_path / "a.db")
    before.fit(history)
    embedder = Named()
    policy = Policy(budget=260, relevance="rules+embeddings", embedder=embedder)
    later = Session.load(before.save(), policy, archive=tmp_path / "a.db")
    new = [{"role": "assistant", "content": f"Yet another remark, on page {at} of it."} for at in range(20)]
    expected = before.fit([*history, *new, {"role": "user", "content": "And the dessert?"}])
    fitted = later.fit([*history, *new, {"role": "user", "content": "And the dessert?"}])
    assert fitted.messages == expected.messages
    assert embedder.asked == []


def test_a_session_with_an_archive_of_its_own_keeps_them_to_itself():
    own = live(Named(), None)
    own.fit(talk())
    assert own.archive._vectors == {}


def test_observing_leaves_nothing(tmp_path):
    live(Named(), tmp_path / "a.db").fit(talk(), observe=True)
    assert live(Named(), tmp_path / "a.db").fit(talk()).report.spent.embedded > 20


def test_they_go_with_their_conversation(tmp_path):
    live(Named(), tmp_path / "a.db", conversation="chat-1").fit(talk())
    SQLiteArchive(tmp_path / "a.db").delete("chat-1")
    assert live(Named(), tmp_path / "a.db").fit(talk()).report.spent.embedded > 20


def test_one_user_does_not_see_those_of_another(tmp_path):
    archive = SQLiteArchive(tmp_path / "a.db")
    live(Named(), Scoped(archive, "user-1")).fit(talk())
    assert live(Named(), Scoped(archive, "user-2")).fit(talk()).report.spent.embedded > 20
    assert live(Named(embed=never), Scoped(archive, "user-1")).fit(talk()).report.spent.embedded == 0


class Broken(MemoryArchive):
    """Its vectors cannot be read, written, or are none."""

    def __init__(self, what):
        super().__init__()
        self.what = what

    def vectors(self, embedder, keys, **more):
        if self.what == "read":
            raise ArchiveError("the disk is gone")
        return dict.fromkeys(keys, self.what) if isinstance(self.what, bytes) else {}

    def put_vectors(self, embedder, vectors, conversation=""):
        if self.what == "write":
            raise ArchiveError("the disk is full")


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("read", "cannot be read: ArchiveError: the disk is gone; embedded anew"),
        ("write", "not kept in the archive: ArchiveError: the disk is full"),
        (b"odd", "cannot be read: ValueError"),
        (b"", "cannot be read: ValueError"),
        (b"\x00\x7e" * 512, "cannot be read: ValueError"),  # not a number
    ],
)
def test_a_cache_that_fails_is_a_note(what, says):
    fitted = live(Named(), Broken(what)).fit(talk())
    assert fitted.messages == session().fit(talk()).messages
    assert any(says in note for note in fitted.report.notes), fitted.report.notes
