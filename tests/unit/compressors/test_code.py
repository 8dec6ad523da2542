"""Outline of source code: definitions weigh most, every line knows what it is defined in."""

import ast
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jettison
from jettison.compressors.code import WEIGHTS, outline
from jettison.compressors.code_lines import kind_of
from jettison.flow.segments import segment
from outlines import lawful, view
from strategies import law

PYTHON = '''import os
from typing import (
    Any,
)

LIMIT = 20


@dataclass
class Cart:
    """What a customer wants to buy."""

    items: list[str]

    def total(
        self,
        rate: float,
    ) -> float:
        """Price of all items.

        Taxes are in it.
        """
        text = """
not a definition
neither is this
"""
        return sum(self.items) * rate


def checkout(cart):
    for item in cart.items:
        if not item:
            raise ValueError(item)
    return None
'''
TYPESCRIPT = """import { Request } from "express";

export interface Cart {
  id: string;
}

const total = (items: Item[]): number => {
  return items.length;
};

export class CartController {
  private store: Store;

  async checkout(req: Request, res: Response): Promise<void> {
    const cart = await this.store.get(req.params.id);
    if (!cart) {
      res.status(404).json({ error: "not found" });
    }
  }
}
"""
CPP = """#include <vector>

class Cart : public Base
{
public:
    int total() const
    {
        return sum;
    }
};

int Cart::count(const std::string& name,
                int limit)
{
    return 0;
}
"""
GO = """package store

const MaxRows = 500

type Store struct {
	path string
}

func (s *Store) Get(id string) (*Order, error) {
	row := s.db.QueryRow(id)
	return row, nil
}
"""
RUBY = """require 'json'

module Shop
  class Cart
    def total
      items.sum
    end

    def empty?
      items.empty?
    end
  end
end
"""
RUST = """use std::fmt;

#[derive(Debug)]
pub struct Cart {
    items: Vec<Item>,
}

impl Cart {
    pub fn total(&self) -> u32 {
        let sum = self.items.len();
        return sum;
    }
}
"""
SQL = """-- orders of the shop
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    total NUMERIC NOT NULL
);

CREATE INDEX by_total ON orders (total);

SELECT id FROM orders
WHERE total > 100;
"""
WINDOW = "    return total\n\n\ndef other(a):\n    b = a + 1\n    if b:\n        return b\n    raise ValueError(a)\n"


def owners(text):
    """{line of code: the definition it comes with, up to the outermost}."""
    parts = segment(text)
    told = outline(parts)
    out = {}
    for index, part in enumerate(parts.segments):
        chain, at = [], index
        while at in told.label:
            at = told.label[at]
            chain.append(parts.segments[at].text.strip())
        out.setdefault(part.text.strip(), chain)
    return out


@pytest.mark.parametrize(
    ("text", "line", "chain"),
    [
        (PYTHON, "items: list[str]", ["class Cart:"]),
        (PYTHON, "rate: float,", ["def total(", "class Cart:"]),
        (PYTHON, "return sum(self.items) * rate", ["def total(", "class Cart:"]),
        (PYTHON, "neither is this", ["def total(", "class Cart:"]),
        (PYTHON, "raise ValueError(item)", ["def checkout(cart):"]),
        (PYTHON, "LIMIT = 20", []),
        (TYPESCRIPT, "return items.length;", ["const total = (items: Item[]): number => {"]),
        (
            TYPESCRIPT,
            'res.status(404).json({ error: "not found" });',
            ["async checkout(req: Request, res: Response): Promise<void> {", "export class CartController {"],
        ),
        (CPP, "return sum;", ["int total() const", "class Cart : public Base"]),
        (CPP, "return 0;", ["int Cart::count(const std::string& name,"]),
        (GO, "path string", ["type Store struct {"]),
        (GO, "return row, nil", ["func (s *Store) Get(id string) (*Order, error) {"]),
        (RUBY, "items.empty?", ["def empty?", "class Cart", "module Shop"]),
        (RUST, "return sum;", ["pub fn total(&self) -> u32 {", "impl Cart {"]),
        (SQL, "total NUMERIC NOT NULL", ["CREATE TABLE orders ("]),
        (WINDOW, "return b", ["def other(a):"]),
        (WINDOW, "return total", []),
    ],
)
def test_a_line_comes_with_its_function_and_that_with_its_class(text, line, chain):
    assert owners(text)[line] == chain


@pytest.mark.parametrize("prefix", ["{:6}\t", "{:>4}|", "{}: ", "{:5}→"])
def test_line_numbers_of_reading_tools_change_nothing(prefix):
    plain, numbered = (
        outline(segment(text))
        for text in (PYTHON, "\n".join(prefix.format(n) + line for n, line in enumerate(PYTHON.split("\n"), 1)))
    )
    assert list(plain.weight) == list(numbered.weight)
    assert plain.label == numbered.label


def test_a_numbered_window_needs_no_definition_to_be_code():
    window = ["    if not x:", "    # nothing is left", "    else:", "    y = f(x)", "    # go on", "    y += 1"]
    assert outline(segment("".join(f"{n:6}\t{line}\r\n" for n, line in enumerate(window, 300)))) is not None
    assert outline(segment("".join(f"{n:6}\tWords of a letter, nothing else.\r\n" for n in range(20)))) is None


def test_definitions_weigh_most_and_closing_lines_nothing():
    parts = segment(TYPESCRIPT)
    weight = {part.text.strip(): outline(parts).weight[at] for at, part in enumerate(parts.segments)}
    assert weight["export class CartController {"] == WEIGHTS["class"]
    assert weight["async checkout(req: Request, res: Response): Promise<void> {"] == WEIGHTS["def"]
    assert weight["}"] == weight[""] == 0
    assert 0 < weight["if (!cart) {"] < weight["private store: Store;"] < weight["export interface Cart {"]


def test_signature_and_decorator_come_near_their_definition():
    parts = segment(PYTHON)
    told = outline(parts)
    near = {parts.segments[at].text.strip(): parts.segments[to].text.strip() for at, to in told.near.items()}
    assert near["@dataclass"] == "class Cart:"
    assert near["rate: float,"] == "def total("


def test_what_was_cut_is_told_in_lines_and_definitions():
    parts = segment(GO)
    assert outline(parts).about([5, 9, 10]) == "3 lines of 2 definitions cut"
    assert outline(parts).about([2]) == "1 line cut"


def test_the_skeleton_of_this_library_names_its_classes_and_methods():
    """In a quarter of the lines 99 names in 100; where a file is mostly definitions, some have no room."""
    named = missing = 0
    for path in Path(jettison.__file__).parent.rglob("*.py"):
        text = path.read_text("utf-8")
        names = [node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        if len(names) < 8:
            continue
        shown = view(text, outline)
        assert len(shown) < 0.4 * len(text), path
        named += len(names)
        missing += sum(f" {name}(" not in shown and f"class {name}" not in shown for name in names)
    assert named > 500
    assert missing < 0.01 * named


def test_labels_agree_with_the_parser():
    """`ast` is the oracle: on modules of the standard library 99 lines in 100 have the definition it says."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    right = total = 0
    for name in ("argparse", "dataclasses", "textwrap", "heapq", "json/decoder", "logging/__init__", "subprocess"):
        text = (folder / f"{name}.py").read_text("utf-8")
        parts = segment(text)
        told, truth = outline(parts), enclosing(ast.parse(text))
        lines = [part.line for part in parts.segments]
        defined = {lines[at] for at in told.label.values()}
        for at, part in enumerate(parts.segments):
            if part.text.strip(" \t)]}") and not part.text.lstrip().startswith("#"):
                own = lines[told.label[at]] if at in told.label else -1
                own = (
                    part.line if part.line in truth and truth[part.line] == part.line and part.line in defined else own
                )
                right += own == truth.get(part.line, -1) or truth.get(part.line) == part.line
                total += 1
    assert total > 3000
    assert right > 0.99 * total


def enclosing(tree):
    """{line: line of the innermost definition}, from 0."""
    out = {}

    def walk(node, owner):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                out.update(dict.fromkeys(range(child.lineno - 1, child.end_lineno), child.lineno - 1))
                walk(child, child.lineno - 1)
            else:
                walk(child, owner)

    walk(tree, -1)
    return out


@pytest.mark.parametrize(
    "text",
    [
        "A letter to the customer about what we import from abroad, and how to return it.\n" * 9,
        "2026-11-30 10:00:01 INFO request done in 12 ms\n" * 20,
        "id,name,total\n" + "1,tent,200\n" * 30,
        "diff --git a/x.py b/x.py\n@@ -1,3 +1,4 @@\n import os\n+import re\n def f():\n     pass\n" * 5,
        '{"a": [1, 2, 3], "b": {"c": "def f(): pass"}}',
        "README.md\nsrc/\n  main.py\n  util.py\ntests/\n  test_main.py\n" * 3,
        "",
    ],
)
def test_other_types_are_not_code(text):
    assert outline(segment(text)) is None


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("rule = 'a'", "body"),
        ("func = obj.fget", "body"),
        ("type(x) is int", "body"),
        ("return foo(x)", "return"),
        ("} else if (x) {", "control"),
        ("});", "bare"),
        ("public static void main(String[] args) {", "def"),
        ("static const int LIMIT = 3;", "const"),
        ("CREATE OR REPLACE FUNCTION f() RETURNS int AS $$", "def"),
        ("# TODO: check the limit", "note"),
        ("template <typename T>", "decorator"),
        ("const x = require('x');", "import"),
        ("handle(req, (err) => {", "body"),
        ("main() {", "def"),
    ],
)
def test_kinds_of_lines(line, kind):
    assert kind_of(line, False) == kind


lines = st.sampled_from(
    [
        *PYTHON.split("\n"),
        *CPP.split("\n"),
        *GO.split("\n"),
        '"""',
        "'''",
        "(",
        ")",
        "{",
        "}",
        "\tx = (",
        "x" * 300,
        "\x00",
        "é",
    ]
)


@given(st.lists(lines, max_size=60))
@law(200)
def test_laws_of_an_outline(drawn):
    lawful("\n".join(drawn), outline)


@given(st.text(max_size=400))
@law(100)
def test_any_text_is_taken(text):
    lawful(text, outline)


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=80).filter(lambda text: text.strip()))
@law(150)
def test_every_line_has_a_kind_with_a_weight(text):
    assert kind_of(text.strip(), False) in WEIGHTS
