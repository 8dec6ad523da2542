"""A headless Chromium for the tests of pages: the machine's own, driven by playwright; no profile, no network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

REQUIRED = "JETTISON_REQUIRE_BROWSER"
"""Set by .ci/run: a missing browser is then a failure, not a skip."""

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
"""Without the background ones Chromium looks up its maker's hosts at every start."""


def _program() -> str | None:
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


def missing() -> str | None:
    """Why no page can be opened here; None when one can."""
    if find_spec("playwright") is None:
        return "playwright is not installed: pip install playwright"
    return None if _program() else f"no browser: none of {', '.join(PROGRAMS)} is installed"


@contextmanager
def running() -> Iterator[Any]:
    """A playwright Browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=_program(), headless=True, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()
