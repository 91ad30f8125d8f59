"""Coverage-guided fuzzing of every reader: whatever the bytes, a value or an InputError.

    pip install atheris
    python benchmarks/fuzz_readers.py dot --seconds 600

Any other exception, an input that takes more than ten seconds, or a process of more than 2 GB ends
the run with an error and leaves the input in the folder of the corpus. libFuzzer, which Atheris
drives, keeps every input that reaches code no other has reached, and changes these further.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import atheris

# A result is fitted again when it is read, and instrumented code cannot be compiled.
os.environ["NUMBA_DISABLE_JIT"] = "1"
# Names are loaded when they are first used; used here, they are instrumented.
with atheris.instrument_imports(include=["cyclearn"]):
    import cyclearn.data.moments
    import cyclearn.experiments.result_tables
    import cyclearn.graphs.dot_format
    import cyclearn.graphs.formats
    from cyclearn import InputError, Knowledge, LearnResult, LinearGaussianModel, learn, read_graph
    from cyclearn.experiments import ResultsFile
    from cyclearn.graphs.formats import parse_graph

atheris.enabled_hooks.add("RegEx")
FOLDER = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
Reader = Callable[[bytes], object]


def _as_text(read: Callable[[str], object]) -> Reader:
    return lambda content: read(content.decode("utf-8", "surrogateescape"))


def _as_file(name: str, read: Callable[[Path], object]) -> Reader:
    path = FOLDER / name

    def run(content: bytes) -> object:
        path.write_bytes(content)
        return read(path)

    return run


def _measures(content: bytes) -> object:
    """A results file with the bytes as a line, and another whose measures they are."""
    path = FOLDER / "results.jsonl"
    path.unlink(missing_ok=True)
    ResultsFile(path).open({"study": "paper"})
    with path.open("ab") as file:
        file.write(content + b"\n")
        start = b'{"setting": "p=5, n=9", "instance": 0, "seconds": 1, "outputs": [{"number": 0, '
        file.write(start + b'"method": "tabu", "seconds": 1, "measures": ' + content + b"}]}\n")
    return cyclearn.experiments.result_tables.result_table([ResultsFile(path)])


def _results() -> list[str]:
    """Saved results of every kind: one table, groups, interventions; with resamples."""
    model = LinearGaussianModel([[0, 0.8, 0], [0, 0, 0.5], [0, 0, 0]], [1, 1, 1], ["a", "b", "c"])
    tables = [model.sample(60, random_state=n) for n in (1, 2)]
    found = [
        learn(tables[0], bootstrap=2, method="hill-climbing"),
        learn({"x": tables[0], "y": tables[1]}, method="hill-climbing"),
        learn(tables, interventions=[[], ["b"]], method="hill-climbing"),
    ]
    return [each.to_json(timings=True) for each in found]


READERS: dict[str, tuple[Reader, list[str] | Callable[[], list[str]]]] = {
    "graph-json": (
        _as_file("graph", read_graph),
        ['{"nodes": ["a", "b"], "edges": [["a", "b"]]}', '{"graph": {"nodes": [1], "edges": []}}'],
    ),
    "dot": (
        _as_file("graph", read_graph),
        [
            'strict digraph "g" { node [shape=box]; a -> {b; "c\\"d":n}; subgraph s { b -> a } }',
            "// one\n/* two */ digraph { a -> <b> [label=<<i>x</i>>, dir=forward]; x = y + z }",
        ],
    ),
    "tetrad": (
        _as_file("graph", read_graph),
        ["Graph Nodes:\nblood flow;b\n\nGraph Edges:\n1. blood flow --> b pd nl\n2. b <-- b c\n"],
    ),
    "edge-list": (_as_file("graph", read_graph), ["a -> b # why\nb --> c->d\n\n# x\ne\n"]),
    "knowledge": (
        _as_file("knowledge.json", Knowledge.read),
        ['{"required": [["a", "b"]], "forbidden": [["b", "c"]], "tiers": [["a"], ["b"]]}'],
    ),
    "model": (
        _as_text(LinearGaussianModel.from_json),
        ['{"nodes": ["a", "b"], "edges": [["a", "b", 0.5]], "noise_variances": [1, 2.5]}'],
    ),
    "table": (
        _as_file("table.csv", cyclearn.data.moments.read_moments),
        ["a,b,c\n1,2,3\n2,1,5\n0,4,1\n3,3,2\n", '"a b","µ"\n1e5,-2\n.5,nan\n'],
    ),
    "measures": (
        _measures,
        [
            '{"shd": 1, "class_distance": 2, "success": 0.5}\x00p=5, n=100\x00tabu',
            '{"equivalent": true, "success": null}\x00p=5\x00l1',
        ],
    ),
    "result": (_as_text(LearnResult.from_json), _results),
    "graph": (_as_text(parse_graph), ["a -> b", "digraph {a -> b}"]),
}


# What stands where something else is expected.
_ODD: list[object] = [None, True, 5, -1, 0.5, 1e308, "", "a", [], {}, [[]], ["a"], [["a", "b"]]]
_ODD += [{"a": 1}, "\ud800", "\x1b[31m", 10**400, [None], [[1, 2, 3]], "1e5"]
_TOKENS = ("digraph {", "->", "-->", "<--", "/*", "*/", "//", "[dir=", "subgraph", "strict")
_TOKENS += ("Graph Nodes:", "Graph Edges:", "nodes", "edges", "null", "NaN", "Infinity", "1e999")
_TOKENS += ("required", "forbidden", "tiers", "exogenous", "{" * 50, "[" * 50, " " * 200, "\ufeff")


def _changed_json(content: bytes, max_size: int, seed: int) -> bytes:
    """JSON with one value changed, which bytes changed at random seldom are."""
    rng = random.Random(seed)
    text, *rest = content.split(b"\x00")
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        record = None
    if record is None or rng.random() < 0.3:
        return bytes(atheris.Mutate(content, max_size))
    places: list[tuple[object, object]] = []
    stack = [record]
    while stack:
        value = stack.pop()
        if not isinstance(value, (dict, list)):
            continue
        for key, part in list(value.items() if isinstance(value, dict) else enumerate(value)):
            places.append((value, key))
            stack += [part] if isinstance(part, (dict, list)) else []
    for _ in range(rng.randint(1, 3)):
        if places:
            value, key = rng.choice(places)
            with contextlib.suppress(LookupError):
                value[key] = rng.choice([*_ODD, [value[key]] * 2])  # type: ignore[index]
    with contextlib.suppress(ValueError, RecursionError):
        content = b"\x00".join([json.dumps(record).encode(), *rest])
    return content[:max_size]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("reader", choices=READERS)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, help="Folder that keeps inputs between runs.")
    parser.add_argument("--start", type=Path, nargs="*", default=[], help="Files to begin with.")
    options = parser.parse_args()
    read, given = READERS[options.reader]
    texts = given() if callable(given) else given
    corpus = options.corpus or FOLDER / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, text in enumerate(texts):
        (corpus / f"start{number}").write_text(text, encoding="utf-8")
    for path in options.start:
        (corpus / path.name).write_bytes(path.read_bytes())

    def one(content: bytes) -> None:
        with contextlib.suppress(InputError), contextlib.redirect_stdout(io.StringIO()):
            read(content)

    warnings.simplefilter("ignore")
    words = FOLDER / "words"
    escaped = ("".join(f"\\x{byte:02x}" for byte in token.encode()) for token in _TOKENS)
    words.write_text("".join(f'"{token}"\n' for token in escaped))
    is_json = texts[0].startswith("{")
    atheris.Setup(
        [
            sys.argv[0],
            str(corpus),
            f"-max_total_time={options.seconds}",
            f"-seed={options.seed}",
            f"-artifact_prefix={corpus}/failed-",
            "-max_len=20000",
            "-timeout=10",
            "-rss_limit_mb=2000",
            "-print_final_stats=1",
            f"-dict={words}",
        ],
        one,
        **({"custom_mutator": _changed_json} if is_json else {}),
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
