"""The documentation and a set of golden answers, as on a processor of another family."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
DOCUMENTS = f"{TESTS / 'test_docs.py'}::test_blocks_run"
GOLDEN = f"{TESTS / 'learning/test_same_answer.py'}::test_golden_answers"
# Kernels of another family for the linear algebra of numpy and scipy.
OTHER_FAMILY = {"x86_64": "Prescott", "AMD64": "Prescott", "aarch64": "ARMV8", "arm64": "ARMV8"}
IS_INSIDE = "CYCLEARN_TESTS_ELSEWHERE" in os.environ


@pytest.mark.skipif(IS_INSIDE, reason="runs the others")
def test_another_processor_and_another_blas(cache):
    family = OTHER_FAMILY.get(platform.machine())
    if family is None:
        pytest.skip(f"no other family is known for {platform.machine()}")
    elsewhere = {
        "OPENBLAS_CORETYPE": family,
        "NUMBA_CPU_NAME": "generic",
        # Kept between runs: compiling takes longer than all that is compared.
        "NUMBA_CACHE_DIR": str(cache.mkdir("generic_kernels")),
        "CYCLEARN_TESTS_ELSEWHERE": "yes",
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    run = subprocess.run(
        [*command, DOCUMENTS, GOLDEN],
        env=os.environ | elsewhere,
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout[-5_000:] + run.stderr[-1_000:]
