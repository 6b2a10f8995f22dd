"""Lets schemathesis ask a worker whatever the API's own description allows, and more.

    python tests/fuzz_api.py [OPTION OF `schemathesis run` …]

A fault of the worker, an answer that is not as /api/openapi.json says, a mistake that is accepted or a valid request
that is refused ends it with 1. The requests are the same each time (--seed for others).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from shop_store import fill
from worker_process import WorkerProcess

CONFIGURATION = Path(__file__).parent / "schemathesis.toml"
EXAMPLES = 40    # of each operation; the whole run takes about a minute


def main() -> int:
    """Run it over the small store. Returns the exit code."""
    program = shutil.which("schemathesis", path=os.pathsep.join([str(Path(sys.executable).parent), os.defpath]))
    if program is None:
        raise SystemExit("schemathesis is not installed beside this Python: tox -e fuzz")
    with tempfile.TemporaryDirectory() as folder:
        home = f"{folder}/home"
        fill(home)
        with WorkerProcess(home) as worker:
            token = Path(home, "token").read_text().strip()
            done = subprocess.run(
                [program, "--config-file", str(CONFIGURATION), "run", f"{worker.url}/api/openapi.json",
                 "--header", f"Authorization: Bearer {token}", "--max-examples", str(EXAMPLES), "--seed", "1",
                 "--continue-on-failure", "--generation-database", "none", "--suppress-health-check", "all",
                 *sys.argv[1:]], cwd=folder, check=False)
            # Whatever was asked, it must still be there and well.
            healthy = worker.get("/health")["store"] == "ok"
    return done.returncode or (0 if healthy else 1)


if __name__ == "__main__":
    sys.exit(main())
