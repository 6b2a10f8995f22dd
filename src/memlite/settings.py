"""What a person may set: in `settings.json` of the data directory, or for one process in the environment.

The environment wins over the file, the file over the default.
"""

from __future__ import annotations

import os

from memlite import jsoncodec, paths
from memlite.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# name → (default, meaning). The environment variable is MEMLITE_ and the name in upper case.
SETTINGS: dict[str, tuple[bool | int | str, str]] = {
    "capture": (True, "remember what is done; off for one session: MEMLITE_CAPTURE=0 claude"),
    "inject": (True, "give a new session the project's recent memories"),
    "recall": (True, "give Claude up to three memories that clearly fit a prompt"),
    "backfill": (True, "read earlier sessions' transcripts in the background"),
    "worker": (True, "start the worker, if none runs, with each new session"),
    "port": (37777, "where the worker listens on 127.0.0.1"),
    "idle_minutes": (30, "a worker started on demand ends when nobody has used it for so long; 0: never"),
    "require_token": (False, "reading over HTTP needs the token too, not only writing"),
    "chroma": (True, "search by meaning too, where a Chroma is found (`memlite chroma status`)"),
    "chroma_days": (90, "how many days back is searched by meaning when no dates are given; 0: all"),
    "chroma_python": ("", "the Python that has chromadb; by default it is looked for"),
    "chroma_model": ("", "a folder with model.onnx and tokenizer.json; by default it is looked for"),
    "chroma_url": ("", "a Chroma server that holds the vectors, such as http://chroma.example:8000"),
    "chroma_token": ("", "what the Chroma server wants to see"),
    "chroma_tenant": ("", "the tenant on the Chroma server"),
    "chroma_database": ("", "the database on the Chroma server"),
}
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def load(home: str) -> dict[str, Any]:
    """Every setting's value in force. Raises UsageError naming the file or variable that holds nonsense."""
    values = {name: default for name, (default, _) in SETTINGS.items()}
    path = os.path.join(home, paths.SETTINGS)
    try:
        with open(path, encoding="utf-8") as file:
            given = jsoncodec.loads(file.read().removeprefix("\ufeff"))  # which editors on Windows write
        if not isinstance(given, dict):
            raise ValueError("not a JSON object")
    except (FileNotFoundError, NotADirectoryError):  # the latter: `paths.ensure_home` tells it better
        given = {}
    except PermissionError as failure:
        raise paths.unreadable(home, failure) from None
    except (OSError, ValueError) as failure:
        raise UsageError(f"{path} can't be read as settings: {failure}",
                         "mend or delete it; it holds one JSON object") from None
    for name, value in given.items():
        if name not in SETTINGS:
            raise UsageError(f"{path}: unknown setting {name!r}", f"known: {', '.join(SETTINGS)}")
        values[name] = _typed(name, value, path)
    for name in SETTINGS:
        variable = f"MEMLITE_{name.upper()}"
        if os.environ.get(variable):
            values[name] = _typed(name, os.environ[variable], variable)
    return values


def _typed(name: str, value: Any, source: str) -> bool | int | str:
    default = SETTINGS[name][0]
    if isinstance(default, str):
        if isinstance(value, str):
            return value.strip()
        raise UsageError(f"{source}: {name} must be a text, not {value!r}")
    text = str(value).strip().lower()
    if isinstance(default, bool):
        if text in _TRUE or text in _FALSE:
            return text in _TRUE
        raise UsageError(f"{source}: {name} must be true or false, not {value!r}")
    if text.isascii() and text.isdigit() and int(text) < 65536:
        return int(text)
    raise UsageError(f"{source}: {name} must be a whole number below 65536, not {value!r}")


def keep(home: str, name: str, value: bool | int | str | None) -> None:
    """Write one setting into the file, or with None take it out. Raises UsageError as `load`, OSError."""
    load(home)   # what can't be read is not written over
    path = os.path.join(home, paths.SETTINGS)
    given: dict[str, Any] = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            given = jsoncodec.loads(file.read().removeprefix("\ufeff"))
    given.pop(name, None)
    if value is not None:
        given[name] = value
    part = f"{path}.part"
    paths.create_private(part)
    with open(part, "w", encoding="utf-8") as file:
        file.write(jsoncodec.dumps(given) + "\n")
    os.replace(part, path)
