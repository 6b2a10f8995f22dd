"""Speaks the Chroma helper's protocol without Chroma: vectors are sets of words, and faults come on demand.

    python fake_helper.py FOLDER

FOLDER/behaviour holds one word: `well`, `raise`, `hang` (until the word changes), `die` (in the middle of a query),
`dimension` (every query fails, as with vectors of another length), `empty` (knows nothing), `locked` (does not open),
`mute` (starts and never says a word), `garbage` (answers what is no JSON), `busy` (takes in nothing until the word
changes). The index lies in the folder it is told to use, so that it outlives the process. FOLDER/log gets a line for
each operation.
"""

from __future__ import annotations

import fcntl
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[1])
MEANINGS = {"vessel": "boat", "seaworthy": "hull", "amounts": "prices", "vessels": "boat"}


def behaviour() -> str:
    return (FOLDER / "behaviour").read_text(encoding="utf-8").strip()


def log(line: str) -> None:
    with open(FOLDER / "log", "a", encoding="utf-8") as file:
        file.write(line + "\n")


def words(text: str) -> set[str]:
    return {MEANINGS.get(word, word) for word in "".join(c if c.isalnum() else " " for c in text.lower()).split()}


class Refused(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Index:
    def __init__(self, told: dict[str, Any]) -> None:
        folder = Path(told["path"])
        self.lock = open(folder / "lock", "w")  # noqa: SIM115
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Refused("locked", "another process has the index open") from None
        if behaviour() == "locked":
            raise Refused("locked", "another process has the index open")
        self.file = folder / f"{told['collection']}.json"
        if self.file.exists():
            self.kept = json.loads(self.file.read_text(encoding="utf-8"))
        else:
            self.clear()

    def clear(self) -> None:
        self.kept = {"id": os.urandom(4).hex(), "items": {}}
        self.save()

    def save(self) -> None:
        part = self.file.with_suffix(".part")
        part.write_text(json.dumps(self.kept), encoding="utf-8")
        os.replace(part, self.file)

    def opened(self) -> dict[str, Any]:
        return {"collection": self.kept["id"], "count": len(self.kept["items"]), "pid": os.getpid(), "rss": 1}

    def near(self, request: dict[str, Any]) -> dict[str, float]:
        how = behaviour()
        if how == "raise":
            raise RuntimeError("no such table: embeddings")
        if how == "dimension":
            raise Refused("dimension", "Embedding dimension 384 does not match collection dimensionality 768")
        if how == "die":
            os._exit(9)
        while behaviour() == "hang":
            time.sleep(0.02)
        asked = words(request["text"])
        only, found = request.get("only"), {}
        items = {} if how == "empty" else self.kept["items"]
        for ident, (said, fields) in items.items():
            if only is not None and ident not in only:
                continue
            if all(holds(condition, fields) for condition in request["where"]):
                found[ident] = len(asked & words(said)) / (len(asked) or 1)
        best = dict(sorted(found.items(), key=lambda item: -item[1])[:request["most"]])
        best.update({ident: len(asked & words(items[ident][0])) / (len(asked) or 1)
                     for ident in request["also"] if ident in items})
        return best


def holds(condition: dict[str, Any], fields: dict[str, Any]) -> bool:
    """Chroma's conditions, as far as they are used."""
    (name, wanted), = condition.items()
    if name == "$or":
        assert len(wanted) > 1, "Chroma wants two at least"
        return any(holds(part, fields) for part in wanted)
    if not isinstance(wanted, dict):
        return fields.get(name) == wanted
    (op, value), = wanted.items()
    assert op != "$in" or value, "Chroma wants one at least"
    have = fields.get(name)
    return {"$in": lambda: have in value, "$gte": lambda: have >= value, "$lt": lambda: have < value}[op]()


def main() -> None:
    if behaviour() == "mute":
        time.sleep(600)
    lines = iter(sys.stdin)
    request = json.loads(next(lines))
    log(f"open {os.getpid()}")
    try:
        index = Index(request)
    except Refused as failure:
        answer({"id": request["id"], "error": str(failure), "code": failure.code})
        return
    answer({"id": request["id"], **index.opened()})
    for line in lines:
        # Each in a thread of its own: a query that hangs must not keep the end of the input from being seen.
        threading.Thread(target=perform, args=(index, json.loads(line)), daemon=True).start()
    os._exit(0)


LOCK = threading.Lock()


def perform(index: Index, request: dict[str, Any]) -> None:
    try:
        found: dict[str, Any] = {}
        if request["op"] == "near":
            log("near")
            found = {"near": index.near(request)}
        while request["op"] == "put" and behaviour() == "busy":
            time.sleep(0.02)
        with LOCK:
            if request["op"] == "put":
                log(f"put {len(request['put'])} drop {len(request['drop'])}")
                for ident, texts, fields in request["put"]:
                    index.kept["items"][ident] = ["\n".join(texts), fields]
                for ident in request["drop"]:
                    index.kept["items"].pop(ident, None)
                index.save()
            elif request["op"] == "clear":
                index.clear()
                found = index.opened()
            elif request["op"] == "state":
                found = {"count": len(index.kept["items"]), "rss": 1}
        answer({"id": request["id"], **found})
    except Exception as failure:
        answer({"id": request["id"], "error": f"{type(failure).__name__}: {failure}",
                "code": getattr(failure, "code", "failed")})


def answer(told: dict[str, Any]) -> None:
    text = "this is no JSON" if behaviour() == "garbage" and "near" in told else json.dumps(told)
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
