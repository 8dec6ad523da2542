"""What one line of source code is: a definition, an import, a return, a comment … by its first words.

Covers Python, JavaScript and TypeScript, Java, Go, Rust, C, C++, C#, Kotlin, Ruby, PHP, shell and SQL by one table of
first words. Lexical on purpose: agents read windows of files, which no parser accepts, and `ast.parse` alone takes
3–4.5 times the time of counting the tokens (measured: 15 ms for `argparse.py`, 100 KB; the count takes 3.4 ms).
"""

from __future__ import annotations

import re

__all__ = ["NUMBERED", "kind_of", "strong"]

NUMBERED = re.compile(r"[ \t]{0,8}\d{1,7}(?:\t|→|:| ?[|│]) ?")
"""Line numbers as reading tools print them: `cat -n`, `12|`, `12:`, `12→`."""

_WORD = re.compile(r"[A-Za-z_$][\w$]*")
_NAMED = re.compile(r"\w++[*!]?+(?:<[^<>]{0,80}>)? *+(?![\w$]+ +in\b)[\w$*(<&\[\"'{]")
_INNER = re.compile(
    r"(?:[\w()<>:\[\],.*&?]+ +){1,6}?(?:(class|interface|struct|enum|trait|impl|union|namespace|module|mod|record|"
    r"type|object)|(def|fn|func|function|fun|sub)) *[*\w(]"
)
_ARROW = re.compile(
    r"(?:(?:export|default|const|let|var|static|readonly|public|private) +)*[\w$.]+ *(?::[^=]{0,80})?= *(?:async *)?"
    r"(?:function\b|\([^()]{0,200}\)[^=;]{0,80}=>|[\w$]+ *=>|forwardRef|memo\(|useCallback\()"
)
_METHOD = re.compile(r"(?:[\w<>:,*&\[\]~?.$]+ +){0,6}[\w:~*&$<>]+ ?\((?!.*(?:=>|\bfunction\b))")
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]{2,} *(?::[^=]{0,60})?=|[A-Z_][\w]* *: *Final")
_ASSIGNED = re.compile(r"[\w.$\[\]\"']+(?: *:[^=]{1,80})? *(?::=|=)(?![=~])|[\w$]+\??: *[\w\"'\[{<|]")
_SETTLED = re.compile(r"(?:TODO|FIXME|XXX|HACK|NOTE|WARNING|DEPRECATED|SAFETY)\b")
_BARE = re.compile(r"[\])}>;,({\s]+$")

_GROUPS = {
    "def": "def func fn function fun sub proc procedure constructor macro_rules describe test it create alter CREATE "
    "ALTER function* task rule",
    "class": "class interface struct enum trait impl union namespace module mod record protocol extension type",
    "import": "import from using use require require_once include include_once package extern source load autoload",
    "return": "return raise throw yield panic assert exit die abort RETURN RAISE RETURNING",
    "control": "if for while with except catch switch match case elif elsif unless until foreach loop when select "
    "guard defer go IF FOR WHILE SELECT FROM WHERE JOIN INSERT UPDATE DELETE WITH select insert update delete where "
    "join LEFT ORDER GROUP with",
    "bare": "pass break continue else try finally do end fi done esac then begin BEGIN END ensure rescue default",
    "modifier": "export default public private protected internal static final abstract async pub unsafe inline "
    "virtual override partial sealed declare open suspend data local explicit constexpr readonly synchronized template",
    "binding": "const let var val auto",
}
_FIRST = {word: kind for kind, words in _GROUPS.items() for word in words.split()}
_BEFORE_BRACKETS = ("function", "func", "fn", "constructor", "describe", "test", "it")
_SIGNS = {"}": "bare", ")": "bare", "]": "bare", "{": "bare", "*": "comment", ";": "comment", "~": "def"}


def kind_of(line: str, top: bool) -> str:
    """The kind of a line that has no indentation left: a key of `code.WEIGHTS`. `top`: it had none."""
    word = _WORD.match(line)
    if word is None:
        return _sign(line)
    kind = _FIRST.get(word[0], "")
    if not kind or line[word.end() : word.end() + 1] in ("=", ".", ":"):
        return kind if kind in ("bare", "modifier") and line.endswith(":") and len(line) < 12 else _other(line, top)
    if kind in ("def", "class"):
        if line[word.end() : word.end() + 1] == "(" and word[0] not in _BEFORE_BRACKETS:
            return _other(line, top)
        return kind if _NAMED.match(line) and not line.endswith(";") else _other(line, top)
    if kind == "modifier":
        return _modified(line, top)
    if kind == "binding":
        if _ARROW.match(line):
            return "def"
        if "require(" in line or "import(" in line:
            return "import"
        return "const" if top or _CONSTANT.match(line, word.end() + 1) else "body"
    if kind == "bare" and len(line) > word.end() + 2:
        return "control"
    return kind


def _sign(line: str) -> str:
    """A line that begins with a sign."""
    first = line[0]
    if first == "@":
        return "decorator"
    if first == "#":
        if line.startswith(("#include", "#import", "#[", "#!")):
            return "decorator" if line[1] == "[" else "import"
        if line.startswith("#define"):
            return "const"
        return "directive" if line.startswith(("#if", "#el", "#end", "#pragma")) else _comment(line)
    if line.startswith(("//", "/*", "--", "* ", "*/", "<!--", "%", "'''", '"""')):
        return _comment(line)
    if first == "}" and len(line) > 3 and not _BARE.match(line):
        return "control"
    if first == "[" and line.endswith("]") and line[1:2].isupper():
        return "decorator"
    if line.startswith("=begin") or line == "*":
        return "comment"
    return "bare" if _BARE.match(line) else "sign" if first in "})]{" else "def" if first == "~" else "body"


def _comment(line: str) -> str:
    if line.startswith(("/**", "///", "//!")) and len(line) > 6:
        return "doc"
    return "note" if _SETTLED.search(line) else "comment"


def _modified(line: str, top: bool) -> str:
    """A line that begins with a modifier: `export`, `public`, `static`, `async` …"""
    if line.startswith(("async with", "async for")):
        return "control"
    if line.startswith("template"):
        return "decorator"
    inner = _INNER.match(line)
    if inner is not None:
        return "class" if inner[1] else "def"
    if _ARROW.match(line):
        return "def"
    call, equals = line.find("("), line.find("=")
    if call > 0 and not 0 <= equals < call:
        return "def"
    return "const" if top or _CONSTANT.search(line) else "field"


def _other(line: str, top: bool) -> str:
    """A line whose first word says nothing: a method, an assignment, a statement."""
    if line.endswith("{") and "(" in line:
        call, equals = line.find("("), line.find("=")
        if not 0 <= equals < call and _METHOD.match(line):
            return "def"
    if top and _ARROW.match(line):
        return "def"
    if _CONSTANT.match(line):
        return "const"
    if _ASSIGNED.match(line):
        return "const" if top else "body"
    return "body"


_STRONG = re.compile(
    r"(?:(?:async +)?def +\w+ *\(|class +\w+[^.]*[:{(]$|class +\w+$|from +[\w.]+ +import\b|"
    r"import +[\w.{*\"'$,@ ]+(?:;|from|$)|#include *[<\"]|package +[\w.]+;?$|use +[\w:\\]+.*;$|using +[\w.:]+;|"
    r"func +[\w(]|(?:pub(?:\([\w:]*\))? +)?"
    r"(?:async +)?(?:fn|struct|impl|enum|trait|mod)\b.*[{(;,>]$|(?:export|public|private|protected|static|internal)\b"
    r".*[{;(,]$|(?:const|let|var) +[\w${\[][^=]*=|function\b *\*?[\w$]* *\(|return\b.*;$|if *\(.*\{$|#!/|<\?php|"
    r"@\w+(?:\(.*\))?$|(?:CREATE|ALTER|create|alter) +(?:OR +REPLACE +|or +replace +)?(?:TABLE|VIEW|INDEX|FUNCTION|"
    r"table|view|index|function)\b|require(?:_relative)? +['\"]|[\w-]+ *\(\) *\{$|"
    r"(?:typedef +)?(?:struct|enum|union) +\w+ *\{|(?:[\w<>:,*&\[\]~?.]+ +){1,5}[\w:~*&]+ ?\([^;]*\) *(?:const *)?\{$)"
)
_WEAK = re.compile(
    r"[\])}]+[;,)]*$|(?:return|raise|throw|yield|assert|await|elif|else|try|except|finally|end|fi|done|pass|break|"
    r"continue)\b[^,]{0,60}:?;?$|(?:if|for|while|with|elif|except|switch|case)\b.*[:{]$|"
    r"[\w.\[\]\"'$>()-]+ *(?:[+*/|&-]?=|:=)(?!=) *\S|[\w.$:>()-]+\(.*\)?[;,(]?$|(?:#|//|/\*|\*)(?: |/|\*|$)|"
    r".*[;{]$|[\"'\w.]+: *[\w\"'\[{].*,$|[\"']{3}"
)


def strong(line: str) -> int:
    """2 a line that only source code has, 1 one that code often has, 0 another. Without its indentation."""
    return 2 if _STRONG.match(line) else 1 if _WEAK.match(line) else 0
