"""Installing from source compiles the kernels, so that the first search does not have to.

Compiled code belongs to the processor, the Python and the numba that made it; any other compiles
when it is first used. ``HATCH_BUILD_NO_HOOKS=true`` builds a wheel without it, for every machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_KERNELS = Path("cyclearn", "_kernels")


class CompiledKernels(BuildHookInterface):
    """Compile in place for an editable installation, and into the wheel for any other."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        source = Path(self.root, "src")
        if version == "editable":
            self._compile(source)
            return
        self._copy = tempfile.mkdtemp()
        copied = Path(self._copy, "src")
        shutil.copytree(source, copied, ignore=shutil.ignore_patterns("__pycache__"))
        if self._compile(copied):
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
            for file in (copied / _KERNELS / "__pycache__").glob("*.nbc"):
                build_data["force_include"][str(file)] = str(_KERNELS / "__pycache__" / file.name)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            shutil.rmtree(self._copy)

    def _compile(self, source: Path) -> bool:
        variables = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
        # What is installed for the build alone is on this process's path only.
        path = os.pathsep.join([str(source), *filter(None, sys.path)])
        variables |= {"PYTHONPATH": path, "PYTHONSAFEPATH": "1"}
        command = [sys.executable, "-m", "cyclearn", "compile"]
        done = subprocess.run(command, env=variables, capture_output=True, text=True)
        if done.returncode:
            # It is an offer: without it, the first search compiles.
            self.app.display_warning(f"kernels were not compiled: {done.stderr.strip()[-300:]}")
        return done.returncode == 0
