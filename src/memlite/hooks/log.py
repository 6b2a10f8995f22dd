"""The log of what went wrong in hooks, which tell nobody else."""

from __future__ import annotations

import os

from memlite import paths
from memlite.clock import ms_to_iso, now_ms

LIMIT = 512 * 1024  # bytes; then the log becomes `memlite.log.1` and starts anew


def log(home: str, event: str, failure: BaseException) -> None:
    """Add one line about `failure` to the log, as far as that is possible; the log starts anew when it grows large."""
    try:
        frame = failure.__traceback__
        while frame is not None and frame.tb_next is not None:
            frame = frame.tb_next
        place = f" [{os.path.basename(frame.tb_frame.f_code.co_filename)}:{frame.tb_lineno}]" if frame else ""
        from memlite import privacy  # only here: most hooks have nothing to log

        text = privacy.clean(" ".join(f"hook {event}: {type(failure).__name__}: {failure}".split()))[:500]
        path = os.path.join(home, paths.LOG)
        paths.ensure_home(home)
        paths.create_private(path)
        if os.path.getsize(path) > LIMIT:
            os.replace(path, path + ".1")
            paths.create_private(path)
        with open(path, "a", encoding="utf-8", errors="replace") as file:
            file.write(f"{ms_to_iso(now_ms())} {text}{place}\n")
    except Exception:
        pass  # a full disk must not turn into a failed hook


