"""Outline of diffs: changes weigh most, and come with their hunk and their file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison.compressors.diff import outline
from jettison.flow.segments import segment
from outlines import lawful, view
from strategies import law

GIT = """commit 76973cb916a55902a33b1824a458340d9a34761b
Author: A Person <person@example.com>

    Limit the basket

diff --git a/shop/cart.py b/shop/cart.py
index d2bc6a9..0dcfdc7 100644
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -10,7 +10,8 @@ class Cart:
     def add(self, item):
         self.check(item)
         self.log(item)
-        self.items.append(item)
+        if len(self.items) < LIMIT:
+            self.items.append(item)
         self.saved = False
         self.notify()
         self.redraw()
diff --git a/logo.png b/logo.png
Binary files a/logo.png and b/logo.png differ
"""
PLAIN = """--- old/a.txt\t2026-11-01
+++ new/a.txt\t2026-11-02
@@ -1,3 +1,3 @@
 one
-two
+three
 four
--- old/b.txt\t2026-11-01
+++ new/b.txt\t2026-11-02
@@ -1 +1 @@
-x
+-- y
"""


def by_line(text):
    parts = segment(text)
    told = outline(parts)
    return parts, told, {part.text.strip(): at for at, part in enumerate(parts.segments)}


def test_a_change_comes_with_its_hunk_and_file():
    parts, told, at = by_line(GIT)
    hunk = told.label[at["+        if len(self.items) < LIMIT:"]]
    assert parts.segments[hunk].text.startswith("@@ -10,7")
    assert parts.segments[told.label[hunk]].text == "diff --git a/shop/cart.py b/shop/cart.py"
    assert parts.segments[told.label[at["Binary files a/logo.png and b/logo.png differ"]]].text.endswith("b/logo.png")


def test_changes_weigh_more_than_context():
    _, told, at = by_line(GIT)
    changed, beside, far = (
        told.weight[at[line]] for line in ("-        self.items.append(item)", "self.saved = False", "self.redraw()")
    )
    assert changed > beside > far > 0 == told.weight[at["index d2bc6a9..0dcfdc7 100644"]]
    assert told.near[at["self.saved = False"]] == at["self.saved = False"] - 1


def test_a_plain_diff_has_files_as_well():
    parts, told, at = by_line(PLAIN)
    assert parts.segments[told.label[told.label[at["+three"]]]].text.startswith("--- old/a.txt")
    assert parts.segments[told.label[told.label[at["+-- y"]]]].text.startswith("--- old/b.txt")


def test_a_cut_diff_is_readable():
    assert view(GIT, outline, 0.4).split("\n") == [
        "[partial 8/22 lines, …n = n cut, ref badugisona]",
        "…3",
        "    Limit the basket",
        "",
        "diff --git a/shop/cart.py b/shop/cart.py",
        "…3",
        "@@ -10,7 +10,8 @@ class Cart:",
        "…3",
        "-        self.items.append(item)",
        "+        if len(self.items) < LIMIT:",
        "+            self.items.append(item)",
        "…3",
        "diff --git a/logo.png b/logo.png",
        "…2",
    ]


def test_what_was_cut_is_told():
    _, told, _ = by_line(GIT)
    assert told.about([9, 10, 11, 12, 13]) == "5 lines of the diff cut, 1 of them changes"


@pytest.mark.parametrize(
    "text", ["- a list\n- of things\n+ more\n", "", "a @@ - b", "--- \ntitle: x\n---\n", '{"a": "@@ -1 +1 @@"}']
)
def test_other_types_are_not_diffs(text):
    assert outline(segment(text)) is None


@given(
    st.lists(st.sampled_from([*GIT.split("\n"), *PLAIN.split("\n"), "+" + "x " * 200, "@@", "", "\x00"]), max_size=50)
)
@law(200)
def test_laws_of_an_outline(drawn):
    lawful("\n".join(drawn), outline)
    lawful("diff --git a/a b/a\n@@ -1 +1 @@\n" + "\n".join(drawn), outline)


def test_few_changes_among_much_context_are_alarms_many_are_not():
    def diff(changes):
        context = "\n".join(f" opt_{at} = {at}" for at in range(30))
        changed = "\n".join(f"-limit_{at} = 10\n+limit_{at} = 100" for at in range(changes))
        return f"diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,61 +1,61 @@\n{context}\n{changed}\n{context}"

    parts = segment(diff(2))
    assert [parts.segments[at].text for at in sorted(outline(parts).alarms)] == [
        "-limit_0 = 10",
        "+limit_0 = 100",
        "-limit_1 = 10",
        "+limit_1 = 100",
    ]
    assert not outline(segment(diff(5))).alarms
