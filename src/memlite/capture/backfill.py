"""Many transcripts → the store: for `memlite import transcripts`, and in the background for a first run."""

from __future__ import annotations

import os
import stat

from memlite import jsoncodec, paths
from memlite.capture import transcript
from memlite.capture.ingest import QUIET, SETTLED, Result, ingest
from memlite.clock import now_ms
from memlite.errors import UsageError
from memlite.processes import Lock
from memlite.store import reindex
from memlite.store.database import Database, copy_in_memory, open_database
from memlite.wording import all_counted, counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LOCK = "import.lock"


class Report(Result):
    """What reading a set of transcripts came to."""

    __slots__ = ("files", "unreadable")

    def __init__(self) -> None:
        super().__init__()
        self.files = 0
        self.unreadable: list[tuple[str, str]] = []

    def add(self, other: Result) -> None:
        """Add the counts of `other` to these."""
        super().add(other)
        if isinstance(other, Report):
            self.files += other.files
            self.unreadable.extend(other.unreadable)

    def as_dict(self) -> dict[str, Any]:
        """The counts, JSON-ready: files read, records stored by kind, idle episodes, rows skipped by reason."""
        return {"files": self.files, "bytes": self.bytes, "observations": self.observations,
                "summaries": self.summaries, "prompts": self.prompts, "idle": self.idle,
                "skipped": self.skipped.as_dict(), "unreadable": [list(item) for item in self.unreadable]}

    def text(self, dry_run: bool) -> str:
        """The counts in words."""
        verb = "would store" if dry_run else "stored"
        stored = {"observation": self.observations, "summary": self.summaries, "prompt": self.prompts}
        lines = [f"{counted(self.files, 'transcript')} read ({self.bytes / 1e6:.1f} MB): {verb} {all_counted(stored)}; "
                 f"{counted(self.idle, 'idle step')} left out"]
        skipped = [f"{count} {name.replace('_', ' ')}" for name, count in self.skipped.as_dict().items() if count]
        if skipped:
            lines.append(f"rows skipped: {', '.join(skipped)}")
        return "\n".join(lines)


def transcript_files(path: str) -> list[tuple[str, int]]:
    """(path, size) of each transcript at or below `path`, oldest first. Raises UsageError when there is no such
    path."""
    if os.path.isfile(path):
        return [(os.path.abspath(path), os.path.getsize(path))]
    if not os.path.isdir(path):
        raise UsageError(f"there is no file or folder {path}", "name a transcript or a folder of transcripts")
    found: list[tuple[float, str, int]] = []
    for folder, folders, names in os.walk(os.path.abspath(path)):
        folders.sort()
        for name in names:
            if name.endswith(".jsonl") and not transcript.is_own_compaction(name):
                file = os.path.join(folder, name)
                try:
                    status = os.stat(file)
                except OSError:
                    continue  # gone since it was listed
                if stat.S_ISREG(status.st_mode):  # reading a pipe or a device never ends
                    found.append((status.st_mtime, file, status.st_size))
    return [(file, size) for _, file, size in sorted(found)]


def target(home: str, dry_run: bool) -> Database:
    """The store to read into: the real one, or a copy of it in memory for a dry run. Raises as open_database."""
    return copy_in_memory(home) if dry_run else open_database(home)


def run(database: Database, files: list[tuple[str, int]], progress: Callable[[int], None] | None = None,
        ends: str = SETTLED) -> Report:
    """Read the transcripts one after another; one that can't be read is reported and passed over."""
    report = Report()
    for file, _ in files:
        try:
            report.add(ingest(database, file, ends=ends, progress=progress))
            report.files += 1
        except (OSError, UnicodeEncodeError) as failure:  # the latter: a name that is no text
            report.unreadable.append((file, getattr(failure, "strerror", "") or str(failure)))
    return report


def in_background(home: str, ended: str = "") -> Report | None:
    """Read all of this user's transcripts at low priority, unless another process is doing so; then None.

    Those of sessions at work are left in the middle of their turn; the one at the path `ended` is known to end one.
    """
    paths.ensure_home(home)
    lock = Lock(os.path.join(home, LOCK))
    if not lock.take():
        return None
    try:
        if hasattr(os, "nice"):
            os.nice(10)
        try:
            files = transcript_files(os.path.join(paths.claude_config(), "projects"))
        except UsageError:
            files = []
        with open_database(home) as database:
            reindex.finish(database)
            report = run(database, [(ended, 0)] if ended else [])
            report.add(run(database, files, ends=QUIET))
            with database.transaction():
                database.execute("INSERT OR REPLACE INTO meta VALUES ('backfilled', ?)",
                                 (jsoncodec.dumps({"at": now_ms(), **report.as_dict()}),))
        return report
    finally:
        lock.release()
