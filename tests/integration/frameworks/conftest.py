"""What the tests of the frameworks share."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress

import pytest


@pytest.fixture(autouse=True)
def _event_loop() -> Iterator[None]:
    """A loop for the frameworks' sync calls, closed after the test.

    They take the thread's loop, or make one, and leave it open. The next `asyncio.run` would drop it, and the warning
    of an unclosed loop would come in some later test.
    """
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    loop.close()
    with suppress(RuntimeError):  # there is none: `asyncio.run` took it away
        asyncio.get_event_loop().close()
    asyncio.set_event_loop(None)
