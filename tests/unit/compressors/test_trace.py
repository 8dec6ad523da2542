"""Stack traces: the exception, its causes and one's own frames nearest to it weigh most."""

import pytest

from jettison.compressors.trace import outline
from jettison.flow.segments import segment

PYTHON = """Traceback (most recent call last):
  File "/app/main.py", line 10, in <module>
    run()
  File "/app/job.py", line 44, in run
    load(path)
  File "/usr/lib/python3.12/site-packages/pandas/io.py", line 900, in load
    return read(path)
KeyError: 'orders'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/app/main.py", line 12, in <module>
    run()
ValueError: bad job 17"""
JAVA = """Exception in thread "main" com.shop.OrderException: order 17 is not payable
\tat com.shop.Orders.pay(Orders.java:88)
\tat com.shop.Main.main(Main.java:12)
\tat java.base/java.lang.reflect.Method.invoke(Method.java:580)
\tat org.springframework.web.Filter.doFilter(Filter.java:117)
Caused by: java.sql.SQLException: deadlock found
\tat com.mysql.Driver.execute(Driver.java:55)
\t... 23 more"""
JAVASCRIPT = """TypeError: Cannot read properties of undefined (reading 'total')
    at sum (/app/src/cart.js:14:21)
    at checkout (/app/src/checkout.js:40:9)
    at Layer.handle (/app/node_modules/express/lib/router/layer.js:95:5)
    at node:internal/process/task_queues:95:5"""
GO = """panic: runtime error: index out of range [5] with length 3

goroutine 1 [running]:
main.pick(...)
\t/app/pick.go:12
main.main()
\t/app/main.go:8 +0x1d
runtime.main()
\t/usr/local/go/src/runtime/proc.go:271 +0x29d"""
RUST = """thread 'main' panicked at src/main.rs:9:13:
no such order: 17
stack backtrace:
   0: rust_begin_unwind
             at /rustc/abc/library/std/src/panicking.rs:645:5
   1: core::panicking::panic_fmt
             at /rustc/abc/library/core/src/panicking.rs:72:14
   2: shop::orders::find
             at ./src/orders.rs:31:9
   3: shop::main
             at ./src/main.rs:9:13"""

HEAVY = {
    "python": (PYTHON, ["KeyError: 'orders'", "ValueError: bad job 17", "/app/job.py"], ["site-packages"]),
    "java": (JAVA, ["order 17", "deadlock found", "Orders.java:88"], ["reflect", "springframework", "23 more"]),
    "javascript": (JAVASCRIPT, ["TypeError", "cart.js:14"], ["node_modules", "node:internal"]),
    "go": (GO, ["panic: runtime", "/app/pick.go:12"], ["/usr/local/go"]),
    "rust": (RUST, ["panicked at", "no such order", "shop::orders::find"], ["panic_fmt", "library/core"]),
}


@pytest.mark.parametrize("language", HEAVY)
def test_the_exception_and_the_own_frames_outweigh_the_library(language):
    text, heavy, light = HEAVY[language]
    parts = segment(text)
    found = outline(parts)
    assert found.kind == "trace"

    def weights(words):
        return [found.weight[at] for word in words for at, part in enumerate(parts.segments) if word in part.text]

    assert len(weights(heavy)) >= len(heavy)
    assert len(weights(light)) >= len(light)
    assert min(weights(heavy)) >= 0.7
    assert max(weights(light)) <= 0.3


def test_a_line_of_code_comes_with_its_frame():
    parts = segment(PYTHON)
    found = outline(parts)
    assert {parts.segments[at].text: parts.segments[label].text for at, label in found.label.items()} == {
        "    run()": '  File "/app/main.py", line 12, in <module>',
        "    load(path)": '  File "/app/job.py", line 44, in run',
        "    return read(path)": '  File "/usr/lib/python3.12/site-packages/pandas/io.py", line 900, in load',
    }


def test_what_was_cut_is_told_in_frames():
    parts = segment(JAVA)
    assert outline(parts).about([2, 3, 4]) == "3 frames cut"
    assert outline(parts).about([]) == ""


@pytest.mark.parametrize(
    "text", ["", "meet me at (noon)", "We look at it:\n    at last (or not)\n" * 3 + "prose\n" * 90]
)
def test_other_texts_are_no_traces(text):
    assert outline(segment(text)) is None
