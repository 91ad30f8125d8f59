"""Compilation by two processes: when it is done, and that both halves are what searches call."""

import os
import sys
from pathlib import Path

import pytest
from numba.core import compiler
from numba.core.typed_passes import type_inference_stage

from cyclearn._kernels import annealing, component_fit, first_use, neighbourhood, proposals


@pytest.fixture
def compiled_at(tmp_path, monkeypatch):
    """A folder for compiled code that says when its index was written; None for no index."""

    def place(seconds_after_source):
        source = Path(component_fit.__file__).stat().st_mtime
        if seconds_after_source is not None:
            index = tmp_path / "component_fit.fit_component-1.py3.nbi"
            index.touch()
            os.utime(index, (source + seconds_after_source,) * 2)
        stats = component_fit.fit_component.stats._replace(cache_path=str(tmp_path))
        monkeypatch.setattr(type(component_fit.fit_component), "stats", property(lambda _: stats))

    return place


@pytest.mark.parametrize(("age", "expected"), [(None, True), (-10, True), (10, False)])
def test_first_use_is_when_no_compiled_code_is_as_new_as_its_source(compiled_at, age, expected):
    compiled_at(age)
    assert first_use._is_first_use() is expected


def test_no_second_process_for_a_machine_that_has_the_kernels_or_an_application(
    compiled_at, monkeypatch
):
    def refuse(*_, **__):
        raise AssertionError("started a process")

    monkeypatch.setattr(first_use.subprocess, "Popen", refuse)
    compiled_at(None)
    with monkeypatch.context() as patch:
        patch.setattr(sys, "frozen", True, raising=False)
        first_use.compile_for_search()
    compiled_at(10)
    first_use.compile_for_search()


def test_a_second_process_compiles_the_moves(compiled_at, monkeypatch):
    compiled_at(None)
    started = []
    popen = first_use.subprocess.Popen

    def start(command, **options):
        started.append(popen(command, **options))
        return started[-1]

    monkeypatch.setattr(first_use.subprocess, "Popen", start)
    first_use.compile_for_search()
    assert [process.returncode for process in started] == [0]


def _inferred(caller, *arguments):
    """Infer the types in a kernel afresh, which asks for versions of all that it calls."""
    context = caller.targetdescr
    types = tuple(caller.typeof_pyval(argument) for argument in arguments)
    ir = compiler.run_frontend(caller.py_func)
    type_inference_stage(context.typing_context, context.target_context, ir, types, None)


def test_the_second_half_is_compiled_for_the_types_that_searches_use():
    first_use._compile_moves()
    halves = [
        neighbourhood._list_edges,
        neighbourhood._list_virtual_edges,
        neighbourhood.state_of,
        proposals.propose,
        annealing._touched,
        annealing._is_allowed,
        annealing._node_value,
    ]
    before = [set(function.overloads) for function in halves]
    graph = first_use._small_graph()
    allowed = graph.A.copy()
    no_keys, hit = graph.table_keys[:0].copy(), graph.counter.copy()
    rules = neighbourhood.Rules(allowed, allowed, no_keys, 1.0, 2, 2, 2, hit)
    _inferred(neighbourhood.best_neighbour, graph, rules, 2, False)
    limits, temperatures = (2, 2, 2, 2), (1.0, 1.0)
    _inferred(annealing.anneal, graph, hit, allowed, allowed, limits, 1.0, temperatures, 1, 1)
    assert [set(function.overloads) for function in halves] == before
