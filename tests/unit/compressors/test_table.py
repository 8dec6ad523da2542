"""Tables: each row comes with the header; edges, totals and rows that stand out weigh most."""

import random

import pytest

from jettison.compressors.table import outline
from jettison.flow.segments import segment

DICE = random.Random(3)
ROWS = [[str(n), f"user {n}", f"{DICE.randint(10, 99)}.50", DICE.choice(["Paris", "Rome"])] for n in range(200)]
ROWS[50][2] = "990000.00"
ROWS[120][3] = "Ouagadougou"
NAMES = ["id", "name", "amount", "city"]


def written(delimiter, names=NAMES, rows=ROWS):
    return "\n".join(delimiter.join(cells) for cells in [names, *rows])


def aligned(names=NAMES, rows=ROWS):
    return "\n".join("   ".join(cell.ljust(14) for cell in cells).rstrip() for cells in [names, *rows])


MARKDOWN = "\n".join(
    ["| id | name | amount | city |", "|----|:-----|-------:|------|", *(f"| {' | '.join(cells)} |" for cells in ROWS)]
)


@pytest.mark.parametrize(
    ("text", "above"),
    [
        (written(","), 1),
        (written("\t"), 1),
        (written(";"), 1),
        (written(" | "), 1),
        (MARKDOWN, 2),
        (aligned(), 1),
        ("\ufeff" + written(","), 1),
        (written(",").replace("\n", "\r\n"), 1),
        (written(",").replace("user 7,", '"user, 7",'), 1),
        (written(",", ["номер", "имя", "сумма", "город"]), 1),
    ],
)
def test_header_edges_and_outliers_weigh_most(text, above):
    found = outline(segment(text))
    assert found.kind == "table"
    assert found.weight[0] == 1.0
    assert found.weight[above + 50] == found.weight[above + 120] == 0.9
    assert found.weight[above] == found.weight[above + 1] == found.weight[above + 199] == 0.6
    assert sum(weight > 0.1 for weight in found.weight) <= above + 5
    assert all(found.label[above + row] == 0 for row in range(200))


@pytest.mark.parametrize("word", ["total", "Grand total", "Итого", "Всего"])
def test_a_total_weighs_as_much_as_the_header(word):
    found = outline(segment(f"{written(',')}\n{word},,12345.50,"))
    assert found.weight[201] == 1.0


def test_what_was_cut_is_told_in_rows():
    found = outline(segment(written(",")))
    assert found.about(range(60, 201)) == "141 of 200 rows cut, 1 of 2 unusual ones kept"
    assert found.about([]) == ""


def test_the_pieces_of_a_long_header_come_in_a_chain():
    names = [f"a column with a rather long name {n}" for n in range(12)]
    parts = segment(written(",", names, [[str(n * m) for m in range(12)] for n in range(20)]))
    found = outline(parts)
    pieces = [at for at, part in enumerate(parts.segments) if part.line == 0]
    assert len(pieces) > 1
    at, chain = len(parts.segments) - 1, []
    while at in found.label:
        at = found.label[at]
        chain.append(at)
    assert chain == pieces[::-1]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a,b",
        "Prose, with commas, here.\nAnd a second line, longer.\nNo table.\nThe end, really, it is, yes.",
        "2026-11-30 05:00:01,123 INFO started, well\n2026-11-30 05:00:02,123 INFO ended, well\n" * 10,
        "a\n" * 30,
        "".join(f"{n:6}\tvalue = compute({n})\n" for n in range(1, 60)),
        "".join(f"{n:6}\tvalue\t= compute({n})\n" for n in range(1, 60)),
        "the file:\n" + "".join(f"{n}\tvalue = compute({n})\n" for n in range(1, 60)),
    ],
)
def test_other_texts_are_no_tables(text):
    assert outline(segment(text)) is None
