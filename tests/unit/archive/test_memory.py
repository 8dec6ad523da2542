"""The archive in memory: exact bytes by handle, and a search over them."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison.archive import MemoryArchive
from jettison.errors import ArchiveError
from strategies import law


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=40), max_size=6))
@law(50)
def test_what_is_put_comes_back_exactly(texts):
    archive = MemoryArchive()
    for handle, text in texts.items():
        archive.put(handle, text)
        archive.put(handle, text)
    assert {handle: archive.get(handle) for handle in texts} == texts


def test_a_handle_never_changes_its_text():
    archive = MemoryArchive()
    archive.put("badu", "one")
    with pytest.raises(ArchiveError, match="badu"):
        archive.put("badu", "two")
    assert archive.get("badu") == "one"


def test_an_unknown_handle_is_an_error_that_names_it():
    with pytest.raises(ArchiveError, match="gisona"):
        MemoryArchive().get("gisona")


def filled():
    archive = MemoryArchive()
    archive.put("a", "The blue tent of ORD-9913 is damaged.")
    archive.put("b", "A tent, green.")
    archive.put("c", "Синий шатёр на складе.")
    return archive


def test_the_text_with_most_words_of_the_query_comes_first():
    assert [handle for handle, _ in filled().search("blue TENT")] == ["a", "b"]
    assert [handle for handle, _ in filled().search("шатёр")] == ["c"]


def test_the_limit_holds_and_a_query_without_words_finds_nothing():
    assert len(filled().search("tent", limit=1)) == 1
    assert filled().search("  ") == filled().search("zebra") == []


def test_the_excerpt_is_the_text_around_the_first_hit():
    archive = MemoryArchive()
    archive.put("a", "x " * 500 + "needle" + " y" * 500)
    ((_, excerpt),) = archive.search("needle")
    assert "needle" in excerpt
    assert len(excerpt) <= 240


def test_threads_may_share_it():
    archive = MemoryArchive()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: archive.put(f"h{n % 50}", f"text {n % 50}"), range(1_000)))
    assert [archive.get(f"h{n}") for n in range(50)] == [f"text {n}" for n in range(50)]


def test_archives_share_nothing():
    filled()
    assert MemoryArchive().search("tent") == []
