"""HTML: a page is read as its visible text, in the words of the page; in other sources markup weighs nothing."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison import Session
from jettison.compressors.html import outline
from jettison.compressors.shrink import shrink
from jettison.flow.pages import visible
from jettison.flow.segments import as_lines, segment
from outlines import lawful
from strategies import law

PAGE = """<!DOCTYPE html>
<html><head><title>Orders &amp; returns</title>
<style>body { color: red }</style>
<script>var x = "<p>not seen</p>"; if (a < b) {}</SCRIPT>
<meta name="description" content="x"></head>
<body class="a"><nav><ul><li><a href="/home">Home</a></li><li><a href="/o?x=1&amp;y=2">Orders</a></ul></nav>
<h1>Your   orders</h1><!-- c <p>hidden</p> -->
<p>You have <b>3</b> open orders,
the last one is <a href="/o/ORD-17" title="a > b">ORD-17</a>.</p>
<table><tr><th>Id</th><th>Total</th></tr><tr><td>ORD-17</td><td>€ 12&nbsp;</td></tr></table>
<form><label>Search</label><input type="text" name="q" placeholder="Order no."><input type=hidden name=csrf value=abc>
<button type="submit">Go</button></form>
<pre>a
  b
</pre></body></html>
"""

LINES = [f"Note {n} on order ORD-{n * 7}: packed, weighed and sent on day {n}" for n in range(60)]


def test_visible_text():
    assert visible(PAGE).split("\n") == [
        "# Orders & returns",
        "- Home (/home)",
        "- Orders (/o?x=1&y=2)",
        "# Your orders",
        "You have 3 open orders, the last one is ORD-17 (/o/ORD-17).",
        "Id | Total",
        "ORD-17 | € 12",
        "Search [input type=text name=q placeholder=Order no.]",
        "[button type=submit] Go",
        "a",
        "  b",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain text",
        "a < b and c > d " * 20,
        '<?xml version="1.0"?><note><to>x</to></note>',
        "# Head\n<br>\ntext " * 9,
        '{"a": "<p>x</p>"}',
    ],
)
def test_what_is_not_a_page_is_left_alone(text):
    assert visible(text) is None
    assert outline(segment(text)) is None


def test_a_page_is_cut_as_its_visible_text():
    page = PAGE.replace("</body>", "<p class='note'>" + "</p>\n<p class='note'>".join(LINES) + "</p></body>")
    assert segment(page).text == visible(page)
    short = shrink(page, 700)
    assert "<p" not in short
    assert "# Your orders" in short
    assert all(line in visible(page) for line in short.split("\n")[1:] if "…" not in line)


@pytest.mark.parametrize("before", ["     1\t", "Here is the page:\n", "x = 1\n"])
def test_a_program_or_a_mail_with_a_page_in_it_keeps_its_lines(before):
    assert segment(before + PAGE).text == before + PAGE


def test_what_is_protected_in_a_page_stays_and_the_source_can_be_had_back():
    held = '<input type="text" name="q" placeholder="Order no.">'
    page = PAGE.replace("</body>", "<p>" + "</p>\n<p>".join(LINES) + "</p></body>")
    call = {"id": "c1", "type": "function", "function": {"name": "browse", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Read the page."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": page},
        {"role": "assistant", "content": "Read. " * 40},
        {"role": "user", "content": "And now?"},
    ]
    free = Session(500)
    fitted = free.fit(messages)
    row = next(row for row in fitted.report.rows if row.kind == "result")
    assert row.decision in ("compressed", "gone")
    assert free.recall(row.handle) == page
    bound = Session(6_000)
    bound.task.begin("search", needs=[held])
    assert held in str(bound.fit(messages).messages)


def test_nothing_won_is_none():
    assert visible("<html>" + "words and more words " * 200) is None


def test_russian_and_chinese_pages():
    page = (
        "<html><body class='x y z'><h2 id='a'>Заказ&nbsp;№&#160;5</h2>"
        "<p class='long class name'>订单已付款</p></body></html>"
    )
    assert visible(page) == "## Заказ № 5\n订单已付款"


@pytest.mark.parametrize(
    "piece", ["<script>", "<!--", "<a ", '<a "', "<a '\"", "<", "<td>x", "<div>", "&amp", "<svg>", "<pre>"]
)
def test_unclosed_pages_are_read_to_the_end(piece):
    """200,000 openings: a quadratic reader would take hours."""
    page = f"<html><style>{'x' * 2_000_000}</style><p>said</p>" + piece * 200_000
    assert (visible(page) or "").startswith("said")
    lawful(page[:20_000], outline, as_lines)


def test_weights_of_a_page():
    parts = as_lines(PAGE)
    told = outline(parts)
    weight = {part.text[:12]: told.weight[at] for at, part in enumerate(parts.segments)}
    assert weight["<style>body "] == weight["<script>var "] == weight['<meta name="'] == 0
    assert weight["<html><head>"] > weight["<h1>Your   o"] > weight["<form><label"] > weight["<p>You have "] > 0
    heading = next(at for at, part in enumerate(parts.segments) if part.text.startswith("<h1>"))
    assert told.label[heading + 1] == heading
    assert told.about([2, 3]).endswith("characters of the page cut, 91 of them markup")


class Words(HTMLParser):
    """Texts of a page as the standard parser sees them."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_data(self, data):
        self.found += data.split()


pieces = st.lists(
    st.sampled_from(
        [
            "<p>",
            "</p>",
            "<b>",
            "</b>",
            "<div class='x'>",
            "</div>",
            "<li>",
            "<br/>",
            " word ",
            " слово ",
            " 3 &lt; 5 ",
            " 词 ",
        ]
    ),
    max_size=40,
)


@given(pieces)
@law(200)
def test_no_word_is_lost_or_made(drawn):
    """The words are those of the standard parser, in its order."""
    page = "<html>" + "".join(drawn) + "<div style='" + "x" * 900 + "'></div></html>"
    reader = Words()
    reader.feed(page)
    reader.close()
    assert [word for word in (visible(page) or "").split() if word != "-"] == [
        word for word in reader.found if word != "-"
    ]


@given(
    st.lists(
        st.sampled_from([*re.findall(r"<[^>]*>|[^<]+", PAGE), "<", ">", '"', "'", "&", "\n", "x" * 300]), max_size=60
    )
)
@law(200)
def test_laws_of_an_outline(drawn):
    lawful("<html>" + "".join(drawn), outline, as_lines)
    visible("<html>" + "".join(drawn))
