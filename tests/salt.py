"""A session full of secrets and private words, to look for in the bytes of whatever was made of it.

The secrets are made of random characters when the session is written; none stands in this repository.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

from rows import Script
from secret_examples import filled

# What was said beside the secrets and must be found again: without it, an empty store would pass every test.
KEPT = ("the lighthouse lamp turns too slowly", "lamp/rotation.py", "turn the lamp at nine degrees a second",
        "test_lamp_speed", "harbour-database")

_KEY_FILE = "-----BEGIN OPENSSH PRIVATE KEY-----\n{a70}\n{a70}\n{a34}==\n-----END OPENSSH PRIVATE KEY-----\n"
_ENV_FILE = ("DATABASE_URL=postgres://lamp:{a16}@harbour-database:5432/lamp\nSTRIPE_SECRET_KEY=sk_live_{a32}\n"
             "SENDGRID_API_KEY=SG.{a22}.{a43}\nexport SECRET_KEY_BASE={h64}\nDB_PASSWORD={w}\nREDIS_PASSWORD='{p}'\n"
             "AZURE=DefaultEndpointsProtocol=https;AccountName=lamp;AccountKey={a86}==;EndpointSuffix=core.windows.net\n")
_SETTINGS = {"registry": {"npm": "npm_{a36}", "pypi": "pypi-AgEIcHlwaS5vcmc{a80}"}, "hub": "hf_{a34}",
             "login": {"user": "ann", "password": "{a14}", "apiKey": "{h40}"},
             "session": "eyJhbGci{a20}.eyJzdWIi{a40}.{a43}"}


def salted_transcript(path_out: Path | str, seed: int = 20) -> list[str]:
    """Write a transcript (JSON lines, as the client writes them) with more than 40 secrets and private passages.

    They stand in prompts, assistant text, commands, output, file contents and names, a commit message, a failing
    test, a tool's nested arguments, a queued prompt, a subagent's rows, in JSON and in JSON within JSON. Returns the
    needles: each is a run of characters that no stored byte may hold. What must be held is in `KEPT`.
    """
    chance = random.Random(seed)
    needles: list[str] = []
    hidden = 0

    def salt(text: str) -> str:
        salted, put_in = filled(text, chance)
        needles.extend(needle for needle in put_in if len(needle) > 3)
        return salted

    def private() -> str:
        nonlocal hidden
        hidden += 1
        needles.append(f"smugglers cove number {hidden} of {seed}")
        return needles[-1]

    session = Script(cwd="/nowhere/lighthouse", name="salt")
    session.prompt(salt(f"{KEPT[0]}, please fix it <private>{private()}</private>. Clone it with ghp_{{a36}}\n"
                        f"<PRIVATE note=\"x\">\n{private()}\n<private>{private()}</private>\n{private()}\n</Private >\n"
                        "the password is {p} and AWS Secret Access Key [None]: {a40}"))
    session.says(salt("I'll clone it with the token github_pat_{a22}_{a59} and look at `lamp/rotation.py`."))
    session.calls_tool("Bash", description=salt("Clone with glpat-{a20}"),
                       command=salt("git clone https://ann:{a20}@git.example.org/lighthouse.git && "
                                    "curl -s -H 'Authorization: Bearer {a40}' -b 'sid={a26}' -u ann:{p} "
                                    "https://x.example.org && export PGPASSWORD={w} && "
                                    "mysql -u root -p{p} lamp && ./deploy --api-key {a32}"))
    output = salt("Cloning…\n\x1b[31mpassword\x1b[0m=\x1b[1m{p}\x1b[0m\nSet-Cookie: session={a40}; Path=/; HttpOnly\n"
                  f"AKIA{{u16}},{{a40}}\na log <private>{private()}</private>\n")
    session.answers(output, outcome={"stdout": output, "stderr": "", "interrupted": False})
    env_file = salt(_ENV_FILE)
    session.calls_tool("Write", file_path="/nowhere/lighthouse/.env", content=env_file)
    session.answers("File created successfully at: /nowhere/lighthouse/.env",
                    outcome={"type": "create", "filePath": "/nowhere/lighthouse/.env", "content": env_file,
                             "structuredPatch": [{"lines": ["+" + line for line in env_file.splitlines()]}]})
    key_file = salt(_KEY_FILE)
    session.reads("/nowhere/lighthouse/id_ed25519", "".join(
        f"{number:6d}→{line}\n" for number, line in enumerate(key_file.splitlines(), 1)))
    settings = salt(json.dumps(_SETTINGS))
    session.calls_tool("Bash", command=f"cat > settings.json <<'X'\n{settings}\nX")
    session.answers(json.dumps({"written": settings, "again": json.dumps({"body": settings})}))
    session.edits(salt("/nowhere/lighthouse/xoxb-{d12}-{d12}-{a24}/lamp/rotation.py"),
                  salt('SPEED = 3\nTOKEN = "{a32}"'), salt('SPEED = 9\nTOKEN = "{a32}"\nclient_secret: str = "{h40}"'))
    session.edits("/nowhere/lighthouse/lamp/rotation.py", "SPEED = 3", "SPEED = 9")
    session.calls_tool("mcp__vault__store", name="lamp", password=salt("{w}"),
                       fields=[{"api_key": salt("{a24}")}, {"note": f"<private>{private()}"}])
    session.answers(salt("stored as hvs.{a90}"))
    session.runs("pytest -q", salt("FAILED tests/test_lamp.py::test_lamp_speed - AssertionError: token='{a28}'\n"
                                   "E   HTTPError: 401 for url: https://api.telegram.org/bot{d10}:AA{a33}/getMe\n"
                                   "E   https://hooks.slack.com/services/T{u9}/B{u10}/{a24}\n1 failed in 0.3s"),
                 failed=True)
    session.says(salt("The call failed: `Authorization: Basic {a24}==`. I'll use AIza{a35} and dop_v1_{h64} instead."))
    session.calls_tool("Task", description="Look", subagent_type="general-purpose",
                       prompt=salt(f"Use sk-ant-api03-{{a93}}AA, sk-proj-{{a48}} <private>{private()}</private>"))
    session.row("user", {"role": "user", "content": salt("Sidechain: AGE-SECRET-KEY-1{u58}")}, isSidechain=True)
    session.row("assistant", {"role": "assistant", "content": [
        {"type": "text", "text": salt("shpat_{h32} opens the shop, lin_api_{a40} the tasks")}]}, isSidechain=True)
    session.answers(salt("The subagent says: GOCSPX-{a28}"))
    session.runs(salt("git commit -m 'fix: turn the lamp at nine degrees a second (dckr_pat_{a27})'"),
                 salt("[main 1a2b3c4] fix: turn the lamp at nine degrees a second (dckr_pat_{a27})"))
    session.queued(salt(f"also rotate NRAK-{{u27}} <private>{private()}</private>"))
    session.says(salt("The lamp turns at the right speed; `pytest` passes.\n\nNext steps:\n"
                      "- revoke tskey-auth-{a17}-{a32}\n- tell ann that her password is {p}"))
    session.prompt(salt(f"<private>{private()} ghp_{{a36}}\nand no end"))
    session.says("I can't see what you wrote there.")
    session.write(path_out)
    return needles
