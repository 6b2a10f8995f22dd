"""A Python that seems to have chromadb, and runs `fake_helper.py` whatever it is told to run."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from memlite import settings
from memlite.chroma import engine as engine_module
from memlite.chroma.engine import Engine
from memlite.errors import SemanticUnavailable
from memlite.store.find import Filter

engine_module._LOOK_SECONDS = 0.05     # a second is too long for many tests

HERE = Path(__file__).resolve().parent
PACKAGES = ("chromadb", "onnxruntime", "tokenizers", "numpy")


class FakeChroma:
    """A virtual environment under `folder`, with a model beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "bin" / "python"
        self.python.parent.mkdir(parents=True)
        shutil.copy(HERE / "fake_helper.py", folder)
        self.python.write_text(f"#!/bin/sh\nexec '{sys.executable}' '{folder}/fake_helper.py' '{folder}'\n")
        self.python.chmod(0o755)
        (folder / "pyvenv.cfg").write_text("")
        for name in PACKAGES:
            (folder / "lib" / "python3.11" / "site-packages" / name).mkdir(parents=True)
        self.model = folder / "model"
        self.model.mkdir()
        for name in ("model.onnx", "tokenizer.json"):
            (self.model / name).write_text("a model")
        self.behave("well")

    def behave(self, how: str) -> None:
        """From now on, in the manner of `fake_helper`."""
        part = self.folder / "behaviour.part"
        part.write_text(how)
        part.replace(self.folder / "behaviour")

    @property
    def environment(self) -> dict[str, str]:
        """What makes memlite use it."""
        return {"MEMLITE_CHROMA": "1", "MEMLITE_CHROMA_PYTHON": str(self.python),
                "MEMLITE_CHROMA_MODEL": str(self.model), "MEMLITE_CHROMA_DAYS": "0"}

    def log(self) -> list[str]:
        """The operations so far."""
        path = self.folder / "log"
        return path.read_text().splitlines() if path.exists() else []

    def engine(self, home: str, **options: float) -> Engine:
        """An engine over it, not started."""
        chosen = {**settings.load(home), "chroma": True, "chroma_python": str(self.python),
                  "chroma_model": str(self.model), "chroma_days": 0}
        return Engine(home, chosen, **options)


def until(happens: Callable[[], object], what: str = "") -> None:
    """Wait for it, as long as a slow machine may need."""
    deadline = time.monotonic() + 20
    while not happens():
        if time.monotonic() > deadline:
            raise AssertionError(f"it does not happen: {what}")
        time.sleep(0.01)


def filled(engine: Engine) -> Engine:
    """`engine`, started and asked for, once it holds every record."""
    engine.start()
    try:
        engine.nearest("wake", Filter(), [], 1)
    except SemanticUnavailable:
        pass
    until(lambda: engine.state == "ready" and not engine.waiting and engine.count, f"{engine.status()}")
    return engine
