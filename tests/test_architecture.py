"""The architecture: which package may import which, and what importing costs."""

import ast
import subprocess
import sys
from pathlib import Path

import cyclearn

ROOT = Path(cyclearn.__file__).parent
# A package imports only from packages above it in this list.
PACKAGES = [
    "foundation",
    "_kernels",
    "graphs",
    "classes",
    "data",
    "models",
    "identifiability",
    "search",
    "posterior",
    "results",
    "learning",
    "evaluation",
    "metrics",
    "simulate",
    "experiments",
    "drawing",
    "report",
    "app",
    "cli",
]


# Methods that reach upwards for the user's convenience; they import when called.
CONVENIENCES = {"plot", "report", "export", "is_reducible", "reduced", "dimension"}


def imported_packages(path):
    tree = ast.parse(path.read_text())
    reaching = [
        function
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and function.name in CONVENIENCES
    ]
    excused = {node for function in reaching for node in ast.walk(function)}
    for node in ast.walk(tree):
        if node in excused:
            continue
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the package"
            modules = [node.module or ""]
            if node.module == "cyclearn":
                modules = [f"cyclearn.{alias.name}" for alias in node.names]
        for module in modules:
            if module.startswith("cyclearn.") and module != "cyclearn.__version__":
                yield module.split(".")[1]


def test_packages_import_only_from_packages_above():
    sources = [path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.stem in PACKAGES]
    assert len(sources) > 10
    for path in sources:
        package = path.relative_to(ROOT).parts[0].removesuffix(".py")
        assert package in PACKAGES, f"{package} has no place in the list of packages"
        for other in imported_packages(path):
            assert PACKAGES.index(other) <= PACKAGES.index(package), f"{path} imports from {other}"


def test_conveniences_are_thin():
    for path in ROOT.rglob("*.py"):
        if path.relative_to(ROOT).parts[0] not in {"classes", "drawing", "report", "app", "cli"}:
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef) and node.name in CONVENIENCES:
                    assert len(node.body) <= 3, f"{path}: {node.name} does more than call"


def test_only_the_command_line_prints():
    for path in ROOT.rglob("*.py"):
        if "cli" not in path.parts:
            calls = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)]
            assert not any(getattr(call.func, "id", "") == "print" for call in calls), path


def test_importing_loads_nothing_heavy():
    code = (
        "import sys, cyclearn; print([m for m in ('numpy', 'numba', 'pandas') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


def test_every_public_name_resolves():
    for name in cyclearn.__all__:
        assert getattr(cyclearn, name) is not None
    assert set(dir(cyclearn)) == set(cyclearn.__all__)


def test_the_stub_names_what_the_package_has():
    stub = ast.parse((ROOT / "__init__.pyi").read_text())
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    named = {each.asname for node in imports for each in node.names}
    assert named | {"__version__"} == set(cyclearn.__all__)
