"""The page of a replay in a real browser: what it shows, keyboard and names, light and dark, offline, 5,000 items.

With JETTISON_SCREENSHOTS=docs it also writes the pictures of the docs.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from bench.synthetic import history

from jettison.cli import main
from jettison.replay.engine import Setup
from jettison.replay.page import page
from jettison.replay.sources import Intake
from jettison.replay.totals import Totals
from jettison.replay.trace import CallTrace, ItemTrace, Need, Trace

SCREENSHOTS = os.environ.get("JETTISON_SCREENSHOTS")


def needing(size: int, seed: int) -> list[dict[str, Any]]:
    """A made-up history whose late calls use ids that old results showed."""
    messages = history(size, seed=seed)
    results = [m["content"] for m in messages if m["role"] == "tool" and '"id": "' in m["content"]]
    calls = [m for m in messages if m.get("tool_calls")]
    for at, message in enumerate(calls[len(calls) // 2 :]):
        wanted = results[at % max(1, len(results) // 2)].split('"id": "')[1].split('"')[0]
        message["tool_calls"][0]["function"]["arguments"] = json.dumps({"id": wanted})
    return messages


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page written by the command."""
    folder = tmp_path_factory.mktemp("replay")
    evil = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    rows = [{"id": f"run-{at}", "task": f"t{at % 3}", "messages": needing(60, at)} for at in range(6)]
    rows[0]["messages"][1]["content"] += evil
    (folder / "runs.jsonl").write_text("\n".join(map(json.dumps, [*rows, {"nothing": 1}])), encoding="utf-8")
    out = folder / "page.html"
    command = [
        "replay",
        str(folder / "runs.jsonl"),
        "--baselines",
        "--html",
        str(out),
        "--budget",
        "50%,25%",
        "-j",
        "1",
    ]
    assert main(command) == 0
    return out


@pytest.fixture
def opened(browser: Any, made: Path) -> Any:
    """The page, opened offline; whatever it logs or asks for is a failure."""
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    view = context.new_page()
    wrong: list[str] = []
    view.on("pageerror", lambda error: wrong.append(str(error)))
    view.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    view.on("request", lambda request: None if request.url.startswith("file:") else wrong.append(request.url))
    view.goto(made.as_uri())
    yield view
    context.close()
    assert wrong == []


def test_figures_and_what_was_skipped(opened: Any) -> None:
    assert opened.title().startswith("Replay of")
    assert opened.locator("main table").count() == 2
    first = opened.locator("main table").first
    assert first.locator("tbody tr").count() == 8
    assert "jettison" in first.locator("tr.ours th").first.inner_text()
    assert "6 runs" in first.locator("caption").inner_text()
    assert "1 rows or files" in opened.locator("summary").first.inner_text()


def test_every_picture_and_control_has_a_name(opened: Any) -> None:
    assert opened.locator("svg[role=img]:not([aria-label])").count() == 0
    nameless = """() => [...document.querySelectorAll('input, select, button')]
        .filter(e => !e.labels?.length && !e.textContent.trim() && !e.getAttribute('aria-label')).length"""
    assert opened.evaluate(nameless) == 0
    snapshot = opened.locator("body").aria_snapshot()
    for name in ('slider "Call"', 'grid "Items"', 'combobox "Run"', "heading", 'region "Details of the item"'):
        assert name in snapshot


def test_the_slider_moves_by_keyboard_and_reads_out(opened: Any) -> None:
    slider = opened.get_by_role("slider", name="Call")
    slider.focus()
    opened.keyboard.press("Home")
    assert slider.get_attribute("aria-valuetext").startswith("call 1 of")
    assert opened.locator("#callname").inner_text().startswith("Call 1 of")
    opened.keyboard.press("ArrowRight")
    assert opened.locator("#callname").inner_text().startswith("Call 2 of")
    opened.keyboard.press("End")
    last = slider.get_attribute("aria-valuetext")
    assert "tokens" in last
    assert slider.get_attribute("max") == opened.locator("#callname").inner_text().split(" of ")[1].split(",")[0]


def test_items_by_keyboard_with_their_story(opened: Any) -> None:
    grid = opened.get_by_role("grid", name="Items")
    chosen = grid.locator('.row[tabindex="0"]')
    assert chosen.count() == 1
    chosen.focus()
    start = chosen.get_attribute("id")
    for key in ("ArrowDown", "PageDown", "End"):
        opened.keyboard.press(key)
        assert opened.evaluate("document.activeElement.getAttribute('aria-selected')") == "true"
    assert opened.evaluate("document.activeElement.id") != start
    opened.keyboard.press("Home")
    assert opened.evaluate("document.activeElement.id") == start
    assert "Its life:" in opened.locator("#itemdetails").inner_text()
    tip = opened.locator("#tip")
    assert tip.is_visible()
    assert "call 1: full" in tip.inner_text()
    opened.keyboard.press("Escape")
    assert not tip.is_visible()


def test_a_needed_value_leads_to_its_source_and_back(opened: Any) -> None:
    opened.select_option("#state", "lost")
    if opened.locator("#rows .row").count() == 0:
        opened.select_option("#state", "")
    needs = opened.evaluate(
        "JSON.parse(document.getElementById('data').textContent).traces[0].needs.filter(n => n.sources.length)"
    )
    assert needs, "the made-up run needs earlier values"
    need = needs[-1]
    opened.locator("#call").fill(str(need["call"] + 1))
    assert need["value"] in opened.locator("#calldetails code").all_inner_texts()
    opened.locator("#calldetails button.link").first.click()
    details = opened.locator("#itemdetails")
    assert need["value"] in details.inner_text()
    details.get_by_role("button", name=f"call {need['call'] + 1}", exact=True).first.click()
    assert opened.locator("#callname").inner_text().startswith(f"Call {need['call'] + 1} of")


def test_filters_and_comparison(opened: Any) -> None:
    total = int(opened.locator("#count").inner_text().split()[0])
    opened.select_option("#kind", "result")
    some = int(opened.locator("#count").inner_text().split()[0])
    assert 0 < some < total
    opened.select_option("#kind", "")
    opened.get_by_label("Find").fill("no such text anywhere")
    assert opened.locator("#rows .row").count() == 0
    opened.get_by_label("Find").fill("")
    opened.select_option("#other", "window")
    assert "window" in opened.locator("#verdict").inner_text()
    assert opened.locator("#beside svg").get_attribute("aria-label").count("window") == 1
    before = opened.locator("#about").inner_text()
    opened.select_option("#trace", "1")
    assert opened.locator("#about").inner_text() != before


def test_text_of_a_run_is_never_markup(opened: Any) -> None:
    assert "owned" not in opened.title()
    assert opened.locator("main img, main script").count() == 0


CONTRAST = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const light = (rgb) => { const [r, g, b] = rgb.map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const paper = (node) => { for (; node; node = node.parentElement) {
    const c = getComputedStyle(node).backgroundColor; if (!/, 0\\)|transparent/.test(c)) return c; }
    return "rgb(255,255,255)"; };
  return [...document.querySelectorAll("p, th, td, label, button, .row span, h1, h2, h3, code")]
    .filter(e => e.textContent.trim() && e.offsetParent).map(e => {
      const a = light(parse(getComputedStyle(e).color)), b = light(parse(paper(e)));
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); }).reduce((least, x) => Math.min(least, x), 99); }"""


def pictures(opened: Any, scheme: str, folder: Path) -> None:
    """The comparison, and a run."""
    opened.set_viewport_size({"width": 1180, "height": 940})
    if scheme == "light":
        box = {"x": 0, "y": 0, "width": 1180, "height": 520}
        opened.screenshot(path=folder / "replay-figures.png", clip=box)
    opened.locator("#run").scroll_into_view_if_needed()
    opened.evaluate("document.getElementById('run').scrollIntoView()")
    opened.screenshot(path=folder / f"replay-run-{scheme}.png")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_are_readable(opened: Any, scheme: str) -> None:
    opened.emulate_media(color_scheme=scheme)
    dark = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (dark == "rgb(255, 255, 255)") == (scheme == "light")
    assert opened.evaluate(CONTRAST) >= 4.5
    if SCREENSHOTS:
        pictures(opened, scheme, Path(SCREENSHOTS))


def test_a_narrow_window_does_not_scroll_sideways(opened: Any) -> None:
    opened.set_viewport_size({"width": 400, "height": 800})
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")


def big(items: int = 5000, calls: int = 2000) -> Trace:
    made = [
        ItemTrace(
            f"{at}.0-abc", "result" if at % 2 else "call", "tool", "find", at, at * calls // items, 100, f"text {at}"
        )
        for at in range(items)
    ]
    for item in made:
        item.score, item.life = [0.5, 0.5, 0.5], [[item.born, "full", 100, "", None]]
        if item.born + 50 < calls:
            item.life.append([item.born + 50, "gone", 0, "lowest rank, no room", 0.4])
    rows = [
        CallTrace(at, 9000, 8000, 100 * at, 90 * at, 10.0, 90.0, 1, 1, True, False, "", "none", [], {"result": 5000})
        for at in range(calls)
    ]
    needs = [Need(at, "some-value-1", True, [at]) for at in range(calls)]
    return Trace("big", "made-up", "t", "openai-chat", "jettison", 9000, rows, made, needs, {}, [])


def test_five_thousand_items_stay_a_small_document(browser: Any, tmp_path: Path) -> None:
    """No clock: what makes a long list slow is how much of it is in the document, and that is bounded."""
    path = tmp_path / "big.html"
    path.write_text(page("big", Totals(), Setup(), Intake(), [big()]), encoding="utf-8")
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    view = context.new_page()
    view.goto(path.as_uri())
    assert view.locator("#items").get_attribute("aria-rowcount") == "5001"
    assert view.evaluate("document.querySelectorAll('*').length") < 1500
    view.locator('.row[tabindex="0"]').focus()
    view.keyboard.press("End")
    assert view.evaluate("document.activeElement.getAttribute('aria-rowindex')") == "5001"
    assert view.evaluate("document.querySelectorAll('#rows .row').length") < 60
    view.evaluate("document.getElementById('rows').scrollTop = 60000")
    view.wait_for_function("document.querySelector('#rows .row').offsetTop > 59000")
    assert view.evaluate("document.querySelectorAll('*').length") < 1500
    context.close()
