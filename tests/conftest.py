"""Properties draw the same examples at each run; JETTISON_FUZZ=n explores new ones (`strategies.law`)."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from postgres_server import REQUIRED, Server, missing, running

settings.register_profile(
    "steady", derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """A running PostgreSQL. Without its programs the test is skipped, or fails where .ci/run says they are there."""
    reason = missing()
    if reason is not None:
        if os.environ.get(REQUIRED):
            pytest.fail(f"{REQUIRED} is set, and {reason}")
        pytest.skip(reason)
    with running() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: Server) -> str:
    """The address of a database without an archive in it."""
    import psycopg

    with psycopg.connect(postgres_server.url) as base:
        base.execute("DROP TABLE IF EXISTS jettison_words, jettison_holds, jettison_vectors, jettison_texts")
    return postgres_server.url


@pytest.fixture
def browser() -> Iterator[Any]:
    """A headless Chromium, for one test: while it is open its thread has a running event loop, and no other can be.

    Without it the test is skipped, or fails where .ci/run says it is there.
    """
    import browser as chromium

    reason = chromium.missing()
    if reason is not None:
        if os.environ.get(chromium.REQUIRED):
            pytest.fail(f"{chromium.REQUIRED} is set, and {reason}")
        pytest.skip(reason)
    with chromium.running() as running:
        yield running
