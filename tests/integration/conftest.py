"""In every integration test each session has a vault, and nothing that comes out of one may hold the canary."""

import logging
from collections.abc import Iterator

import pytest

from canary import Watch, watching

OWN = {"GITHUB_TOKEN", ".env"}
"""Files that a test writes secrets into itself."""


@pytest.fixture(autouse=True)
def watch(request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture) -> Iterator[Watch]:
    caplog.set_level(logging.DEBUG, logger="jettison")
    folder = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    with watching() as found:
        yield found
        logged = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("jettison"))
        found.end(logged, folder, tuple(OWN))
