"""What every store must do, in one suite that the test of each inherits."""

import threading

import pytest

from jettison.errors import StoreConflict


class StoreContract:
    def test_what_was_saved_is_loaded(self, store):
        assert store.load("chat") is None
        first = store.save("chat", b"\x00one")
        assert first > 0
        assert store.load("chat") == (first, b"\x00one")
        second = store.save("chat", b"two", first)
        assert second > first
        assert store.load("chat", first) == (second, b"two")
        assert store.load("chat", second) == (second, None)
        assert store.load("other") is None

    def test_only_the_version_that_was_loaded_is_replaced(self, store):
        first = store.save("chat", b"one")
        for expected in (0, first - 1, first + 1):
            with pytest.raises(StoreConflict, match="'chat'"):
                store.save("chat", b"two", expected)
        with pytest.raises(StoreConflict, match="'new'"):
            store.save("new", b"one", first)
        assert store.load("chat") == (first, b"one")
        assert store.load("new") is None

    def test_of_many_writers_each_version_has_one(self, store):
        start, won = store.save("chat", b"0"), []

        def work(worker):
            version = start
            for turn in range(15):
                data = b"%d %d" % (worker, turn)
                try:
                    version = store.save("chat", data, version)
                    won.append((version, data))
                except StoreConflict:
                    version = store.load("chat").version

        threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(version for version, _ in won) == list(range(start + 1, start + 1 + len(won)))
        assert store.load("chat") == max(won)

    def test_deleted_it_is_gone_with_those_under_it(self, store):
        for key in ("chat", "chat/one", "chat/two/three", "chat-2", "cha", "chat0"):
            store.save(key, b"state")
        assert store.delete("chat") == 3
        assert store.delete("chat") == 0
        assert [key for key in ("chat", "chat/one", "chat-2", "cha", "chat0") if store.load(key)] == [
            "chat-2",
            "cha",
            "chat0",
        ]

    def test_begun_anew_it_is_not_taken_for_the_deleted_one(self, store):
        old = store.save("chat", b"old")
        store.delete("chat")
        assert store.save("chat", b"new") != old
        with pytest.raises(StoreConflict):
            store.save("chat", b"stale", old)

    def test_any_bytes_and_any_key(self, store):
        data = bytes(range(256)) * 5_000
        for key in ("", "Ж/чат 1", "%s'; --", "👩‍👧"):
            assert store.load(key, store.save(key, data) - 1).data == data
