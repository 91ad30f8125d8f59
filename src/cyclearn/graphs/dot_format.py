"""A reader for DOT, the language of graphviz, limited to nodes and edges.

Attributes, ports and ranks are ignored, except ``dir``, which changes the meaning of an arrow.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from cyclearn.foundation import InputError, short
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
# Limits on the nesting of groups, and on the edges between groups.
_MAX_DEPTH, _MAX_EDGES = 100, 4_000_000


def is_dot(text: str) -> bool:
    """Whether a text begins like a DOT file, possibly after comments."""
    first: list[str] = []
    with suppress(InputError):
        first += (token.symbol for token in islice(_tokens(text), 4))
    if first[:1] == ["strict"]:
        del first[0]
    # A title may come before the brace.
    return first[:1] in (["graph"], ["digraph"]) and "{" in first[1:3]


def parse_dot(text: str) -> DirectedGraph:
    r"""Graph from a DOT text.

    Examples
    --------
    >>> parse_dot('digraph { a -> {b; "c d"} [color=red]; e }')
    DirectedGraph(4 nodes, 2 edges: a -> b, a -> c d)
    """
    reader = _Reader(_tokens(text))
    reader.read_file()
    return DirectedGraph.from_edges(reader.edges, list(reader.names))


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    line: int

    @property
    def symbol(self) -> str:
        """The mark or keyword; quoted text is always a name."""
        return "" if self.kind == "quoted" else self.text.lower()


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
                    f"not valid DOT: line {line}: unexpected {text[position]!r}; put names with "
                    "such characters in double quotes"
                )
            end = found.end()
            kind = found.lastgroup or ""
            if kind == "quoted":
                # A backslash at the end of a line continues the name on the next one.
                # Other escape sequences are for labels and stay part of the name.
                yield _Token(kind, re.sub(r'\\(?:(["\\])|\r?\n)', r"\1", found[kind]), line)
            elif kind != "skip":
                yield _Token(kind, found[kind], line)
        line += text.count("\n", position, end)
        position = end


def _end_of_markup(text: str, start: int) -> int:
    depth = 0
    for position in range(start, len(text)):
        depth += {"<": 1, ">": -1}.get(text[position], 0)
        if depth == 0:
            return position + 1
    raise InputError("not valid DOT: a '<' is never closed")


class _Reader:
    """Reads the tokens once and stores the nodes, in order of appearance, and the edges."""

    def __init__(self, tokens: Iterator[_Token]) -> None:
        self._left = deque([*tokens, _END])
        self._depth = 0
        self.names: dict[str, None] = {}
        self.edges: list[tuple[str, str]] = []

    def read_file(self) -> None:
        self._skip("strict")
        if self._skip("graph"):
            raise InputError("the DOT graph is undirected; write digraph and ->")
        self._pass("digraph")
        self._read_titled_group()
        if self._left[0] is not _END:
            raise InputError(
                f"line {self._left[0].line} continues after the graph has ended; write one "
                "digraph per file"
            )

    def _skip(self, *symbols: str) -> bool:
        """Consume the next token if it is one of these."""
        is_one = self._left[0].symbol in symbols
        if is_one:
            self._left.popleft()
        return is_one

    def _pass(self, symbol: str) -> None:
        if not self._skip(symbol):
            raise self._wrong(symbol)

    def _take_name(self, expected: str) -> str:
        parts: list[str] = []
        while not parts or self._skip("+"):
            if self._left[0].kind not in {"plain", "quoted"}:
                raise self._wrong("a quoted text after +" if parts else expected)
            parts.append(self._left.popleft().text)
        return "".join(parts)

    def _wrong(self, expected: str) -> InputError:
        token = self._left[0]
        where = f"line {token.line}: {short(token.text)}" if token is not _END else token.text
        return InputError(f"not valid DOT: found {where} where {expected} is expected")

    def _read_titled_group(self) -> dict[str, None]:
        if self._left[0].symbol != "{":
            self._take_name("a name or {")
        return self._read_group()

    def _read_group(self) -> dict[str, None]:
        """Read ``{ … }``; returns the nodes that occur in it."""
        self._pass("{")
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise InputError(f"not valid DOT: more than {_MAX_DEPTH} groups are nested too deeply")
        found: dict[str, None] = {}
        while not self._skip("}"):
            if self._skip(";", ","):
                continue
            if not self._skip("graph", "node", "edge"):
                found |= self._read_statement()
            elif self._left[0].symbol == "[":
                self._read_attributes()
            else:
                raise self._wrong("[")
        self._depth -= 1
        return found

    def _read_statement(self) -> dict[str, None]:
        """Read nodes, groups and the arrows between them, or ``name = value``."""
        ends = self._read_end()
        if ends is None:
            return {}
        found = dict(ends)
        while self._left[0].kind == "arrow":
            arrow = self._left.popleft()
            if arrow.text == "--":
                raise InputError(f"line {arrow.line}: -- has no direction; write -> in a digraph")
            following = self._read_end()
            if following is None:
                raise self._wrong("a node")
            if len(self.edges) + len(ends) * len(following) > _MAX_EDGES:
                raise InputError(f"the DOT graph has more than {_MAX_EDGES:,} edges; give fewer")
            self.edges += [(a, b) for a in ends for b in following]
            found |= following
            ends = following
        self._read_attributes()
        return found

    def _read_end(self) -> dict[str, None] | None:
        """Read one end of an arrow; None for ``name = value``, which is not a node."""
        if self._skip("subgraph"):
            return self._read_titled_group()
        if self._left[0].symbol == "{":
            return self._read_group()
        name = self._take_name("a node or }")
        if self._skip("="):
            self._take_name("a value")
            return None
        # A port, as in a:n or a:port:n, is not part of the name.
        while self._skip(":"):
            self._take_name("a port")
        self.names.setdefault(name)
        return {name: None}

    def _read_attributes(self) -> None:
        while self._skip("["):
            while not self._skip("]"):
                if self._skip(";", ","):
                    continue
                line = self._left[0].line
                key = self._take_name("an attribute or ]")
                value = self._take_name("a value") if self._skip("=") else "true"
                if key == "dir" and value != "forward":
                    raise InputError(
                        f"line {line}: dir={value} changes the direction of an arrow; "
                        "write each edge as cause -> effect, without dir"
                    )
