"""Is all well, and if not, what helps. Looking changes nothing; `repair` acts, and only where no memory can be lost."""

from __future__ import annotations

import os
import shutil
import sys

from memlite import build_info, clock, jsoncodec, paths, processes, settings, worker_file
from memlite.capture import backfill
from memlite.capture.ingest import QUIET_SECONDS
from memlite.errors import MemliteError, StoreBusy, StoreDamaged, StoreNewer, UsageError
from memlite.model import Record
from memlite.store import index, records, reindex, salvage, schema, transcripts
from memlite.store.database import open_database
from memlite.wording import all_counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OK, WARN, FAIL = "ok", "warn", "fail"
_SPACE_LOW, _SPACE_OUT = 50_000_000, 1_000_000  # bytes; a write needs some for the log beside the database
_ERRORS_SHOWN, _ERRORS_DAYS = 5, 7


class Finding(Record):
    """One thing that was looked at: its `name`, `state` (ok, warn, fail), what was found, and the way out if any."""

    __slots__ = ("name", "state", "text", "hint")
    name: str
    state: str
    text: str
    hint: str


def examine(home: str) -> list[Finding]:
    """Everything that can be told of the data directory, the program and the client. Reads only; raises nothing of
    what it looks for."""
    found = [_home(home), *_database(home), _settings(home), _log(home)]
    if os.path.isdir(home):
        found += [_worker(home), *_meaning(home)]
    found += [_client(), *_transcripts(home), *_plugin()]
    return found


def repair(home: str) -> list[str]:
    """Mend what can be mended without losing a memory. Returns what was done, in words. Raises MemliteError."""
    done: list[str] = []
    if os.path.isdir(home):
        done += _tighten(home)
    if _is_damaged(home):
        target = salvage.move_aside(home, clock.ms_to_iso(clock.now_ms())[:19].replace("-", "").replace(":", ""))
        done.append(f"moved the damaged store to {target}")
    for damaged in salvage.unsaved(home):
        counts = salvage.save(home, damaged)
        saved = ", ".join(f"{count} {table}" for table, count in counts.items() if count) or "nothing"
        done.append(f"saved from {os.path.basename(damaged)}: {saved}; what was lost comes back from the transcripts "
                    "that are still there, with `memlite import transcripts`")
    path = os.path.join(home, paths.DATABASE)
    if os.path.exists(path) and (salvage.problems(home) or _behind_its_version(home)):
        with open_database(home) as database:
            reindex.rebuild(database)
        done.append("made the search index anew")
    told = worker_file.read(home)
    if told is not None and not _worker_lives(home):
        worker_file.remove(home, told["nonce"])
        done.append("removed what a worker that is gone had left")
    return done


def _worker_lives(home: str) -> bool:
    """Whether some process holds the worker's lock."""
    lock = processes.Lock(os.path.join(home, worker_file.LOCK))
    try:
        return not lock.take()
    except OSError:
        return False
    finally:
        lock.release()


def _is_damaged(home: str) -> bool:
    """Whether the database itself, not only its search index, is unsound. Raises StoreBusy and StoreNewer."""
    path = os.path.join(home, paths.DATABASE)
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return False
    try:
        problems = salvage.problems(home)
        _version(path)
    except StoreDamaged:
        return True
    return any(not problem.startswith("full-text index") for problem in problems)


def _behind_its_version(home: str) -> bool:
    path = os.path.join(home, paths.DATABASE)
    with salvage.look_at(path) as database:
        return not index.is_current(database)


def _version(path: str) -> int:
    with salvage.look_at(path) as database:
        version = int(database.rows("PRAGMA user_version")[0][0])
    if version > schema.VERSION:
        raise StoreNewer(f"{path} was written by a newer memlite (schema {version}, this one knows {schema.VERSION})",
                         "update the memlite plugin; nothing was changed")
    return version


def _tighten(home: str) -> list[str]:
    before = os.stat(home).st_mode & 0o777
    paths.ensure_home(home)
    done = [] if before == os.stat(home).st_mode & 0o777 else [f"made {home} private"]
    for name in _open_files(home):
        os.chmod(os.path.join(home, name), 0o600)
        done.append(f"made {name} private")
    return done


def _open_files(home: str) -> list[str]:
    """The files in the data directory that others may read."""
    if os.name == "nt":
        return []
    return sorted(entry.name for entry in os.scandir(home)
                  if entry.is_file(follow_symlinks=False) and entry.stat().st_mode & 0o077)


def _home(home: str) -> Finding:
    name = "data directory"
    if not os.path.lexists(home):
        parent = os.path.dirname(home)
        while not os.path.exists(parent):
            parent = os.path.dirname(parent)
        if not os.path.isdir(parent) or not os.access(parent, os.W_OK):
            return Finding(name=name, state=FAIL, text=f"{home} does not exist and {parent} can't be written",
                           hint="set MEMLITE_HOME to a directory of your own")
        return Finding(name=name, state=OK, text=f"{home} does not exist yet; the first hook or import makes it")
    if not os.path.isdir(home):
        return Finding(name=name, state=FAIL, text=f"{home} is no directory",
                       hint="move it away or set MEMLITE_HOME to a directory")
    status = os.stat(home)
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        return Finding(name=name, state=FAIL, text=f"{home} belongs to user {status.st_uid}, not to you",
                       hint="set MEMLITE_HOME to a directory of your own")
    if not os.access(home, os.W_OK):
        return Finding(name=name, state=FAIL, text=f"{home} can't be written: it or its disk is read-only",
                       hint="make it writable or set MEMLITE_HOME to a directory that is")
    free = shutil.disk_usage(home).free
    if free < _SPACE_LOW:
        out = free < _SPACE_OUT
        return Finding(name=name, state=FAIL if out else WARN, hint="free some space; nothing stored so far is lost",
                       text=f"the disk of {home} is {'full' if out else 'nearly full'}: {free / 1e6:.1f} MB are free")
    loose = _open_files(home)
    if os.name != "nt" and (status.st_mode & 0o077 or loose):
        return Finding(name=name, state=WARN, text=f"others can read {', '.join(loose) or home}",
                       hint="`memlite doctor --fix` makes it private")
    return Finding(name=name, state=OK, text=f"{home}, private, {free / 1e9:.1f} GB free")


def _database(home: str) -> list[Finding]:
    name, path = "database", os.path.join(home, paths.DATABASE)
    found: list[Finding] = []
    try:
        if not os.path.exists(path) or os.path.getsize(path) == 0:
            found.append(Finding(name=name, state=OK, text="nothing is stored yet"))
        else:
            found.append(_stored(home, path))
    except StoreBusy as failure:
        found.append(Finding(name=name, state=WARN, text=failure.message, hint=failure.hint))
    except MemliteError as failure:
        found.append(Finding(name=name, state=FAIL, text=failure.message, hint=failure.hint))
    except OSError as failure:
        found.append(Finding(name=name, state=FAIL, text=f"{path} can't be read: {failure.strerror}",
                             hint="make the file readable for its owner"))
    kept = salvage.aside(home)
    if kept:
        found.append(_kept_aside(home, kept))
    return found


def _stored(home: str, path: str) -> Finding:
    name = "database"
    version = _version(path)
    problems = salvage.problems(home)
    if problems:
        return Finding(name=name, state=FAIL, text=f"{path} is damaged: {'; '.join(problems)}",
                       hint="`memlite doctor --fix` moves a damaged file aside and saves what can be read of it")
    with salvage.look_at(path) as database:
        if version < schema.VERSION or not index.is_current(database):
            return Finding(name=name, state=WARN, text=f"{path} is of an older version",
                           hint="the next hook or query brings it up to date, after a backup")
        counts = all_counted(records.counts(database))
        waiting = reindex.waiting(database)
    if waiting:
        return Finding(name=name, state=WARN, text=f"about {waiting} memories are not in the search index yet",
                       hint="hooks and queries bring it on; `memlite reindex` does it at once")
    if not os.access(path, os.W_OK):
        return Finding(name=name, state=FAIL, text=f"{path} can't be written", hint="make the file writable")
    return Finding(name=name, state=OK, text=f"{path}, sound, {os.path.getsize(path) / 1e6:.1f} MB: {counts}")


def _kept_aside(home: str, kept: list[str]) -> Finding:
    try:
        waiting = salvage.unsaved(home)
    except MemliteError:
        waiting = kept
    if waiting:
        return Finding(name="damaged files", state=WARN, hint="`memlite doctor --fix` saves it",
                       text=f"what can be read of {', '.join(map(os.path.basename, waiting))} is not saved yet")
    return Finding(name="damaged files", state=OK, hint="delete them once you miss nothing",
                   text=f"saved and kept: {', '.join(os.path.join(home, name) for name in kept)}")


def _meaning(home: str) -> list[Finding]:
    """The search by meaning: that it is not here is no fault."""
    from memlite.chroma import report
    from memlite.serve import lifecycle

    try:
        told = report.of(home, lifecycle.look(home), count=False)
    except MemliteError:
        return []   # a store or settings that can't be read are findings of their own
    failed = told["state"] == "failed"
    return [Finding(name="by meaning", state=WARN if failed else OK, text=report.line(told),
                    hint="words find everything meanwhile; `memlite reindex --chroma` fills the index anew" if failed
                    else "")]


def _settings(home: str) -> Finding:
    try:
        chosen = settings.load(home)
    except UsageError as failure:
        return Finding(name="settings", state=FAIL, text=failure.message, hint=failure.hint)
    changed = [f"{name} = {jsoncodec.dumps(value)}" for name, value in chosen.items()
               if value != settings.SETTINGS[name][0]]
    return Finding(name="settings", state=OK, text=", ".join(changed) or "all as delivered")


def _log(home: str) -> Finding:
    """The hooks' errors of the last days: hooks are silent, so this is where they are seen."""
    name, path = "hooks", os.path.join(home, paths.LOG)
    since = clock.now_ms() - _ERRORS_DAYS * 86_400_000
    lines: list[str] = []
    for part in (f"{path}.1", path):
        try:
            with open(part, encoding="utf-8", errors="replace") as file:
                lines += [line.strip() for line in file if (clock.iso_to_ms(line.partition(" ")[0]) or 0) >= since]
        except OSError:
            continue
    if not lines:
        return Finding(name=name, state=OK, text=f"no errors in the last {_ERRORS_DAYS} days")
    shown = "\n".join(lines[-_ERRORS_SHOWN:])
    return Finding(name=name, state=WARN,
                   text=f"{len(lines)} errors in the last {_ERRORS_DAYS} days, the latest:\n{shown}",
                   hint=f"the causes are named above or in {path}")


def _worker(home: str) -> Finding:
    from memlite.serve import lifecycle

    told = worker_file.read(home)
    worker = lifecycle.look(home)
    if worker is not None:
        if worker["version"] != build_info.version():
            return Finding(name="worker", state=WARN, text=f"{worker['url']} runs version {worker['version']}, this is "
                           f"{build_info.version()}", hint="`memlite restart` replaces it")
        return Finding(name="worker", state=OK, text=f"answers at {worker['url']}")
    if told is None:
        return Finding(name="worker", state=OK, text="not running; nothing but the web page needs it")
    if not _worker_lives(home):
        return Finding(name="worker", state=WARN, text=f"process {told['pid']} is gone and has left {worker_file.FILE}",
                       hint="harmless; `memlite doctor --fix` removes it")
    return Finding(name="worker", state=WARN, text=f"process {told['pid']} runs but does not answer",
                   hint="`memlite restart` replaces it")


def _client() -> Finding:
    try:
        config = paths.claude_config()
    except MemliteError as failure:
        return Finding(name="Claude Code", state=WARN, text=failure.message, hint=failure.hint)
    if os.path.isdir(config):
        return Finding(name="Claude Code", state=OK, text=f"its configuration is {config}")
    return Finding(name="Claude Code", state=WARN, text=f"there is no {config}",
                   hint="start Claude Code once, or set CLAUDE_CONFIG_DIR to where it keeps its configuration")


def _transcripts(home: str) -> list[Finding]:
    """How many transcripts hold more than is stored. Those being written to right now are left to their hooks."""
    path = os.path.join(home, paths.DATABASE)
    try:
        projects = os.path.join(paths.claude_config(), "projects")
        files = backfill.transcript_files(projects) if os.path.isdir(projects) else []
        known: dict[str, int] = {}
        if os.path.exists(path) and os.path.getsize(path):
            with salvage.look_at(path) as database:
                known = transcripts.sizes(database)
    except MemliteError:
        return []  # told above
    now = clock.now_ms() / 1000
    behind = [file for file, size in files if known.get(file) != size and _age(file, now) > QUIET_SECONDS]
    if behind:
        return [Finding(name="transcripts", state=WARN, text=f"{len(behind)} of {len(files)} are not read to their end",
                        hint="the next session reads them in the background, `memlite import transcripts` at once")]
    return [Finding(name="transcripts", state=OK, text=f"{len(files)}, all read")]


def _age(path: str, now: float) -> float:
    try:
        return now - os.stat(path).st_mtime
    except OSError:
        return 0.0


def _plugin() -> list[Finding]:
    """The plugin folder this executable runs from: complete, executable, and as it was built."""
    if not getattr(sys, "frozen", False):
        return [Finding(name="program", state=OK, text=f"{build_info.described()}, run from its source")]
    binary = os.path.realpath(sys.executable)
    found = [_program(binary)]
    folder = os.path.dirname(os.path.dirname(binary))
    if os.path.exists(os.path.join(folder, ".claude-plugin", "plugin.json")):
        found.append(_plugin_folder(folder))
    return found


def _program(binary: str) -> Finding:
    described = f"{build_info.described()}, {binary}"
    if not os.access(binary, os.X_OK):
        return Finding(name="program", state=FAIL, text=f"{binary} is not executable", hint=f"chmod +x '{binary}'")
    try:
        with open(f"{os.path.splitext(binary)[0]}.sha256", encoding="ascii") as file:
            expected = file.read().split()[0]
    except (OSError, ValueError, IndexError):
        return Finding(name="program", state=OK, text=f"{described} (no checksum beside it)")
    if _sha256(binary) != expected:
        return Finding(name="program", state=FAIL, text=f"{binary} is not the file its checksum was made of",
                       hint="install the plugin anew")
    return Finding(name="program", state=OK, text=f"{described}, as it was built")


def _sha256(path: str) -> str:
    import hashlib

    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return digest.hexdigest()


def _plugin_folder(folder: str) -> Finding:
    for parts in ((".claude-plugin", "plugin.json"), ("hooks", "hooks.json")):
        path = os.path.join(folder, *parts)
        try:
            with open(path, encoding="utf-8") as file:
                value: Any = jsoncodec.loads(file.read())
        except (OSError, ValueError) as failure:
            return Finding(name="plugin", state=FAIL, text=f"{path} can't be read: {failure}",
                           hint="install the plugin anew")
        if not isinstance(value, dict):
            return Finding(name="plugin", state=FAIL, text=f"{path} is no JSON object", hint="install the plugin anew")
    return Finding(name="plugin", state=OK, text=f"{folder}, complete")


__all__ = ["FAIL", "OK", "WARN", "Finding", "examine", "repair"]
