"""The page of a replay: one self-contained HTML file that works offline."""

from __future__ import annotations

from jettison.replay.page.build import page

__all__ = ["page"]
