"""Reading DOT, the language of graphviz: the part of it that says which node points to which.

Looks (attributes, ports, ranks) are read and dropped, except ``dir``, which changes what an arrow
means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from cyclearn.foundation.errors import InputError
from cyclearn.foundation.json_input import short
from cyclearn.graphs.directed_graph import DirectedGraph

_TOKEN = re.compile(
    r"""
    (?P<skip>\s+ | //[^\n]* | /\*.*?\*/ | ^\#[^\n]*)
  | "(?P<quoted>(?:[^"\\]|\\.)*)"
  | (?P<arrow>-> | --)
  | (?P<plain>[^\W\d]\w* | -?(?:\.\d+|\d+(?:\.\d*)?))
  | (?P<mark>[{}\[\];,=:+])
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
_KEYWORDS = re.compile(r"(?:strict\s+)?(?:di)?graph\b", re.IGNORECASE)
_TITLE = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s{}"<>-]+', re.DOTALL)
# Groups inside groups, and pairs of nodes that arrows between groups may stand for.
_MAX_DEPTH, _MAX_EDGES = 100, 4_000_000


def is_dot(text: str) -> bool:
    """Whether a text begins like a DOT file, after comments if any."""
    # Part by part: one pattern for all would try every way to divide comments among its parts.
    keywords = _KEYWORDS.match(text, _after_comments(text, 0))
    if not keywords:
        return False
    position = _after_comments(text, keywords.end())
    title = _TITLE.match(text, position)
    if title:
        position = _after_comments(text, title.end())
    return text.startswith("{", position)


def _after_comments(text: str, position: int) -> int:
    while (found := _TOKEN.match(text, position)) and found.lastgroup == "skip":
        position = found.end()
    return position


def parse_dot(text: str) -> DirectedGraph:
    r"""Graph from a DOT text.

    Examples
    --------
    >>> parse_dot('digraph { a -> {b; "c d"} [color=red]; e }')
    DirectedGraph(4 nodes, 2 edges: a -> b, a -> c d)
    """
    reader = _Reader(list(_tokens(text)))
    reader.read_file()
    return DirectedGraph.from_edges(reader.edges, list(reader.names))


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    line: int

    def is_word(self, *words: str) -> bool:
        # Keywords are told from names by the missing quotes, whatever their case.
        return self.kind == "plain" and self.text.lower() in words

    def is_mark(self, marks: str) -> bool:
        return self.kind == "mark" and self.text in marks


_END = _Token("end", "the end of the text", 0)


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    line = 1
    while position < len(text):
        if text[position] == "<":
            end = _end_of_markup(text, position)
            yield _Token("quoted", text[position:end], line)
        else:
            found = _TOKEN.match(text, position)
            if not found:
                raise InputError(
                    f"not valid DOT: line {line}: {text[position]!r} is out of place; "
                    "a name with such characters stands in double quotes"
                )
            end = found.end()
            kind = found.lastgroup or ""
            if kind == "quoted":
                # Other pairs with a backslash are for labels and belong to the name as they are.
                yield _Token(kind, re.sub(r'\\(["\\]|\r?\n)', _unescaped, found[kind]), line)
            elif kind != "skip":
                yield _Token(kind, found[kind], line)
        line += text.count("\n", position, end)
        position = end


def _unescaped(pair: re.Match[str]) -> str:
    # A backslash at the end of a line continues the name on the next one.
    return pair[1].strip("\r\n")


def _end_of_markup(text: str, start: int) -> int:
    depth = 0
    for position in range(start, len(text)):
        depth += {"<": 1, ">": -1}.get(text[position], 0)
        if depth == 0:
            return position + 1
    raise InputError("not valid DOT: a '<' is never closed")


class _Reader:
    """Walks the tokens once and keeps the nodes, in order of appearance, and the edges."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._next = 0
        self._depth = 0
        self.names: dict[str, None] = {}
        self.edges: list[tuple[str, str]] = []

    def read_file(self) -> None:
        if self._peek().is_word("strict"):
            self._take()
        kind = self._take()
        if kind.is_word("graph"):
            raise InputError("the DOT graph is undirected; write digraph and ->")
        if not kind.is_word("digraph"):
            raise self._wrong(kind, "digraph")
        if not self._peek().is_mark("{"):
            self._take_name("a name or {")
        self._read_group()
        if self._peek() is not _END:
            raise InputError(
                f"line {self._peek().line} goes on after the graph has ended; "
                "write one digraph a file"
            )

    def _peek(self) -> _Token:
        return self._tokens[self._next] if self._next < len(self._tokens) else _END

    def _take(self) -> _Token:
        token = self._peek()
        self._next += 1
        return token

    def _take_mark(self, mark: str) -> None:
        token = self._take()
        if not token.is_mark(mark):
            raise self._wrong(token, mark)

    def _take_name(self, expected: str) -> str:
        token = self._take()
        if token.kind not in {"plain", "quoted"}:
            raise self._wrong(token, expected)
        parts = [token.text]
        while self._peek().is_mark("+"):
            self._take()
            token = self._take()
            if token.kind not in {"plain", "quoted"}:
                raise self._wrong(token, "a quoted text after +")
            parts.append(token.text)
        return "".join(parts)

    def _wrong(self, token: _Token, expected: str) -> InputError:
        where = f"line {token.line}: {short(token.text)}" if token is not _END else token.text
        return InputError(f"not valid DOT: {where} stands where {expected} is expected")

    def _read_group(self) -> dict[str, None]:
        """Read ``{ … }``; returns the nodes that occur in it."""
        self._take_mark("{")
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise InputError(f"not valid DOT: more than {_MAX_DEPTH} groups are nested too deeply")
        found: dict[str, None] = {}
        while not self._peek().is_mark("}"):
            if self._peek().is_mark(";,"):
                self._take()
            elif self._peek().is_word("graph", "node", "edge"):
                self._take()
                self._read_attributes()
            else:
                found |= self._read_statement()
        self._take_mark("}")
        self._depth -= 1
        return found

    def _read_statement(self) -> dict[str, None]:
        """Read nodes, groups and the arrows between them, or ``name = value``."""
        ends = self._read_end()
        if ends is None:
            return {}
        found = dict(ends)
        while self._peek().kind == "arrow":
            arrow = self._take()
            if arrow.text == "--":
                raise InputError(f"line {arrow.line}: -- has no direction; write -> in a digraph")
            following = self._read_end()
            if following is None:
                raise self._wrong(self._peek(), "a node")
            if len(self.edges) + len(ends) * len(following) > _MAX_EDGES:
                raise InputError(f"the DOT graph has more than {_MAX_EDGES:,} edges; give fewer")
            self.edges += [(a, b) for a in ends for b in following]
            found |= following
            ends = following
        if self._peek().is_mark("["):
            self._read_attributes()
        return found

    def _read_end(self) -> dict[str, None] | None:
        """Read one end of an arrow; None where it was ``name = value``, which names no node."""
        if self._peek().is_word("subgraph"):
            self._take()
            if not self._peek().is_mark("{"):
                self._take_name("a name or {")
            return self._read_group()
        if self._peek().is_mark("{"):
            return self._read_group()
        name = self._take_name("a node or }")
        if self._peek().is_mark("="):
            self._take()
            self._take_name("a value")
            return None
        # A port, as in a:n or a:port:n, is part of the drawing, not of the name.
        while self._peek().is_mark(":"):
            self._take()
            self._take_name("a port")
        self.names.setdefault(name)
        return {name: None}

    def _read_attributes(self) -> None:
        if not self._peek().is_mark("["):
            raise self._wrong(self._peek(), "[")
        while self._peek().is_mark("["):
            self._take()
            while not self._peek().is_mark("]"):
                if self._peek().is_mark(";,"):
                    self._take()
                    continue
                line = self._peek().line
                key, value = self._take_name("an attribute or ]"), "true"
                if self._peek().is_mark("="):
                    self._take()
                    value = self._take_name("a value")
                if key == "dir" and value != "forward":
                    raise InputError(
                        f"line {line}: dir={value} changes the direction of an arrow; "
                        "write each edge as cause -> effect, without dir"
                    )
            self._take_mark("]")
