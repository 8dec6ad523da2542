"""The settings file: its defaults are the defaults, every setting is in it, and mistakes are named."""

from __future__ import annotations

import re
from dataclasses import fields
from importlib.resources import files
from pathlib import Path

import pytest

from jettison import Budget, ConfigError, Policy
from jettison.settings import CODE_ONLY
from jettison.tool_policy import ToolPolicy

SHIPPED = Path(str(files("jettison").joinpath("jettison.toml")))


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "policy.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_file_holds_the_defaults() -> None:
    assert Policy.from_file(SHIPPED) == Policy()


def test_the_shipped_file_names_every_setting() -> None:
    named = set(re.findall(r"^(?:# )?\[?\[?(\w+)(?:\]|\s*=)", SHIPPED.read_text(encoding="utf-8"), re.MULTILINE))
    wanted = {field.name for kind in (Policy, Budget, ToolPolicy) for field in fields(kind)} - set(CODE_ONLY)
    assert wanted <= named


def test_every_default_has_words_before_it() -> None:
    lines = SHIPPED.read_text(encoding="utf-8").splitlines()
    bare = [at for at, line in enumerate(lines) if re.match(r"\w+ =", line)]
    above = ["w_relevance", "reserve_tools"]
    assert all(lines[at - 1].startswith("#") or lines[at].startswith(tuple(above)) for at in bare)


def test_settings_and_changes(tmp_path: Path) -> None:
    text = 'decay = 1\nprofile = "economy"\nbudget = 900\n[[tools]]\nname = "x*"\nproduces = ["id"]\n'
    policy = Policy.from_file(write(tmp_path, text), w_recency=0.5, w_relevance=0.5)
    assert (policy.decay, policy.profile, policy.size, policy.w_recency) == (1, "economy", Budget(900), 0.5)
    assert policy.tools == (ToolPolicy("x*", produces=("id",)),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("decai = 1", "did you mean 'decay'"),
        ("zzz = 1", "there are budget"),
        ("[worth]\nbias = -5.5", r"weights that `jettison tune --toml` fitted, and no settings .* --policy"),
        ("scorers = []", "in code"),
        ("decay = -1", "decay"),
        ("decay", "not TOML"),
        ("[budget]\nwindow = 9\nlow = 1", "low_water"),
        ("[budget]\nlow_water = 0.5", r"\[budget\]: it needs `window = …`"),
        ("[budget]\nwindow = 'x'", r"\[budget\]: Budget.window must be"),
        ("[[tools]]\nkeep = 'latest'", r"\[\[tools\]\] 1: it needs `name = …`"),
        ("[[tools]]\nname = 'x'\nkeep = 'never'", r"\[\[tools\]\] 1: keep must be"),
        ("[[tools]]\nname = 'x'\nproduces = 3", r"\[\[tools\]\] 1: "),
        ("decay = 'x'", "decay must be a finite number >= 0, not 'x'"),
        ("relevance = 'full'", "which only code can give: Policy.from_file"),
        ("tools = 3", r"\[\[tools\]\]"),
        ("tools = [3]", "table"),
    ],
)
def test_mistakes_are_named(text: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError, match=message) as caught:
        Policy.from_file(path)
    assert str(caught.value).startswith(str(path)), "of two files nobody could tell which"


def test_what_code_gives_is_told_from_what_the_file_says(tmp_path: Path) -> None:
    path = write(tmp_path, "relevance = 'full'")
    assert Policy.from_file(path, judge=lambda question: "{}").relevance == "full"
    with pytest.raises(ConfigError, match=r"policy.toml with relevance, decay from code: decay must be"):
        Policy.from_file(path, relevance="rules", decay=-1)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(ConfigError, match="cannot read"):
        Policy.from_file("no/such/file.toml")
