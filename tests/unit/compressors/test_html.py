"""HTML: the visible text says what a reader sees, in the words of the page; markup weighs nothing."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison.compressors.html import outline, visible
from jettison.flow.segments import segment
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


def test_visible_text():
    assert visible(PAGE).split("\n") == [
        "Orders & returns",
        "- Home (/home)",
        "- Orders (/o?x=1&y=2)",
        "Your orders",
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


def test_nothing_won_is_none():
    assert visible("<html>" + "words and more words " * 200) is None


def test_russian_and_chinese_pages():
    page = (
        "<html><body class='x y z'><h2 id='a'>Заказ&nbsp;№&#160;5</h2>"
        "<p class='long class name'>订单已付款</p></body></html>"
    )
    assert visible(page) == "Заказ № 5\n订单已付款"


@pytest.mark.parametrize(
    "piece", ["<script>", "<!--", "<a ", '<a "', "<a '\"", "<", "<td>x", "<div>", "&amp", "<svg>", "<pre>"]
)
def test_unclosed_pages_are_read_to_the_end(piece):
    """200,000 openings: a quadratic reader would take hours."""
    page = f"<html><style>{'x' * 2_000_000}</style><p>said</p>" + piece * 200_000
    assert (visible(page) or "").startswith("said")
    lawful(page[:20_000], outline)


def test_weights_of_a_page():
    parts = segment(PAGE)
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
    lawful("<html>" + "".join(drawn), outline)
    visible("<html>" + "".join(drawn))
