"""A wheel contains compiled code, so that the first search does not have to compile.

The code is for any processor of the platform, and for the Python and the numba that made it.
``HATCH_BUILD_NO_HOOKS=true`` builds a wheel without it, for every platform; an editable
installation compiles when it is first used. ``CYCLEARN_COMPILED`` names a folder that keeps the
code for the next build.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledKernels(BuildHookInterface):
    """Compile into a folder, and from there into the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self._own = tempfile.TemporaryDirectory()
        folder = Path(os.environ.get("CYCLEARN_COMPILED", self._own.name))
        if self._compile(folder):
            numba = distribution("numba")
            build_data["pure_python"] = False
            build_data |= _tag(numba.read_text("WHEEL") or "")
            build_data["dependencies"].append(f"numba=={numba.version}")
            place = f"cyclearn/_kernels/numba-{numba.version}"
            for file in folder.glob("_kernels-*/*.nbc"):
                build_data["force_include"][str(file)] = f"{place}/{file.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._own.cleanup()

    def _compile(self, folder: Path) -> bool:
        variables = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
        variables |= {"NUMBA_CPU_NAME": "generic", "NUMBA_CACHE_DIR": str(folder)}
        # What is installed for the build alone is on this process's path only.
        path = os.pathsep.join([str(Path(self.root, "src")), *filter(None, sys.path)])
        variables |= {"PYTHONPATH": path, "PYTHONSAFEPATH": "1"}
        command = [sys.executable, "-m", "cyclearn", "compile"]
        done = subprocess.run(command, env=variables, capture_output=True, text=True)
        if done.returncode:
            # It is an offer: without it, the first search compiles.
            self.app.display_warning(f"kernels were not compiled: {done.stderr.strip()[-300:]}")
        return done.returncode == 0


def _tag(wheel: str) -> dict[str, Any]:
    """As numba's own wheel, where it was installed from one: the code runs where that does."""
    tags = [line.removeprefix("Tag: ") for line in wheel.splitlines() if line.startswith("Tag: ")]
    if not tags:
        return {"infer_tag": True}
    platforms = ".".join(tag.rpartition("-")[2] for tag in tags)
    return {"tag": f"{tags[0].rpartition('-')[0]}-{platforms}"}
