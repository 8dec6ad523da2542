"""One flat namespace: what is public, that it is importable, and that importing it loads no extra."""

from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys

import pytest

import jettison

NAMED_IN_THE_DESIGN = {
    "Budget", "Policy", "Session", "fit", "fit_request",
    "JettisonError", "InvalidInput", "CannotFit", "BudgetUnreachable", "StagesRequired", "StateBroken",
    "ContextInsufficient", "CompressionFailed", "ArchiveError", "VaultError", "ConfigError",
    "Report",
}  # fmt: skip
# Only these may need something that the core does not install.
OPTIONAL = ("jettison.cli", "jettison.integrations", "jettison.replay.logistic", "jettison.report")


def as_isort_does(name: str) -> tuple[int, str]:
    """The order that ruff's RUF022 writes: constants, classes, the rest."""
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2, name)


def modules() -> list[str]:
    found = [info.name for info in pkgutil.walk_packages(jettison.__path__, "jettison.")]
    return sorted(name for name in found if not name.rsplit(".", 1)[-1].startswith("__"))


def test_public_names_are_those_of_the_design() -> None:
    assert set(jettison.__all__) >= NAMED_IN_THE_DESIGN, NAMED_IN_THE_DESIGN - set(jettison.__all__)


def test_the_namespace_holds_its_public_names_and_modules_only() -> None:
    public = {name for name in vars(jettison) if not name.startswith("_")}
    submodules = {name.split(".")[1] for name in modules()}
    assert public - set(jettison.__all__) - submodules - {"annotations"} == set()
    assert all(hasattr(jettison, name) for name in jettison.__all__)


@pytest.mark.parametrize("name", ["jettison", *modules()])
def test_every_module_lists_its_public_names(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        if name.startswith(OPTIONAL) and "jettison[" in str(error):
            pytest.skip(f"the extra is not installed: {error}")
        raise
    if name.rsplit(".", 1)[-1].startswith("_") and not hasattr(module, "__all__"):
        return
    if not hasattr(module, "__all__"):
        assert hasattr(module, "__path__"), f"{name} has no __all__"
        assert not [key for key in vars(module) if not key.startswith("_") and f"{name}.{key}" not in sys.modules], name
        return
    assert len(module.__all__) == len(set(module.__all__)), "named twice"
    orders = [sorted(module.__all__, key=key) for key in (str, str.lower, as_isort_does)]
    assert list(module.__all__) in orders, f"{name}.__all__ is not sorted"
    missing = [public for public in module.__all__ if not hasattr(module, public)]
    assert not missing, missing


def test_import_loads_no_extra_and_no_vocabulary() -> None:
    code = (
        "import json, sys, time; start = time.perf_counter(); import jettison; took = time.perf_counter() - start; "
        "print(json.dumps({'took': took, 'loaded': sorted({name.split('.')[0] for name in sys.modules})}))"
    )
    answer = json.loads(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
    print(f"import jettison took {1000 * answer['took']:.0f} ms (the promise is 100; measured in bench, not here)")
    forbidden = {
        "bpe_openai",
        "rich",
        "typer",
        "click",
        "openai",
        "anthropic",
        "numpy",
        "pydantic",
        "httpx",
        "requests",
    }
    assert forbidden.isdisjoint(answer["loaded"])


def test_typing_is_shipped() -> None:
    from importlib.resources import files

    assert files("jettison").joinpath("py.typed").is_file()
    assert files("jettison").joinpath("models.json").is_file()
