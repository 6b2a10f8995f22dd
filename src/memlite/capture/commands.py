"""What a shell command was for and how it ended, read from its text and output by plain rules.

No regular expressions: `re` alone would add milliseconds to every hook.
"""

from __future__ import annotations

TEST, COMMIT, BUILD, LINT, OTHER, LOOK = "test", "commit", "build", "lint", "other", "look"

_TEST_WORDS = ("pytest", "tox", "unittest", "jest", "vitest", "mocha", "rspec", "phpunit", "ctest", "go test",
               "cargo test", "cargo nextest", "mix test", "npm test", "npm run test", "yarn test", "pnpm test",
               "bun test", "make test", "make check", "mvn test", "gradle test", "gradlew test", "dotnet test",
               "swift test", "deno test", "run test", "playwright test", "rake test", "bin/test")
_LINT_WORDS = ("ruff", "flake8", "pylint", "mypy", "pyright", "eslint", "prettier", "golangci-lint", "clippy",
               "shellcheck", "credo", "dialyzer", "rubocop", "tsc --noemit", "go vet", "run lint", "black --check")
_BUILD_WORDS = ("make", "cargo build", "go build", "npm run build", "yarn build", "pnpm build", "mix compile", "tsc",
                "cmake", "mvn package", "gradle build", "docker build", "pyinstaller", "pip install", "npm install",
                "npm ci", "bundle install", "mix deps.get")
# Commands that only look: an episode of nothing else leaves no memory.
_LOOKING = frozenset(("ls", "cat", "head", "tail", "pwd", "find", "grep", "rg", "wc", "which", "echo", "tree", "file",
                      "stat", "sed", "awk", "sort", "cut", "env", "true", "cd", "sleep", "jq", "less", "du", "df"))
_LOOKING_GIT = frozenset(("status", "log", "diff", "show", "branch", "remote", "rev-parse", "blame", "ls-files",
                          "describe", "stash", "fetch"))
_INTERPRETERS = frozenset(("python", "python3", "node", "ruby", "perl", "bash", "sh", "zsh"))
_SETTING = frozenset(("cd", "export", "set", "source", ".", "sleep", "mkdir", "pushd", "popd"))
_RECALLING = frozenset(("query", "show", "recent", "timeline", "contextualize", "decisions", "changes", "how-it-works"))

# Where the worker answers by default and, that port being taken, next to it; and its routes that print memories.
_WORKERS = ("127.0.0.1:377", "localhost:377", "[::1]:377")
_PRINTING = ("/search", "/timeline", "/decisions", "/changes", "/how-it-works", "/contextualize", "/observation",
             "/session/", "/summaries", "/prompt", "/context/")

_TRAILERS = ("co-authored-by:", "signed-off-by:", "generated with", "\U0001f916 generated with")

_ERROR_MARKS = ("error:", "error[", "error ", "exception", "traceback", "fatal:", "panic:", "failed", "failure",
                "cannot ", "can't ", "could not ", "not found", "no such file", "permission denied", "undefined",
                "unexpected", "segmentation fault", "assertion")
_NOT_ERRORS = ("0 errors", "no errors", "0 failed", "0 failures", "error handling", "errors: 0", "failed: 0",
               "0 error", "fail 0", "failures: 0")


def purpose(command: str) -> str:
    """TEST, COMMIT, BUILD, LINT, LOOK or OTHER: what the shell `command` line is for."""
    parts = simple_commands(command)
    lowered = " ; ".join(parts).lower()
    if any(_runs(part, "git", "commit") for part in parts):
        return COMMIT
    if _mentions(lowered, _TEST_WORDS):
        return TEST
    if _mentions(lowered, _LINT_WORDS):
        return LINT
    if _mentions(lowered, _BUILD_WORDS):
        return BUILD
    return LOOK if parts and all(_only_looks(part) for part in parts) else OTHER


def recalls(command: str) -> bool:
    """Whether the line prints memories: they are stored already and must not come back as new ones."""
    if any(_runs(part, "memlite", verb) for part in simple_commands(command) for verb in _RECALLING):
        return True
    return any(worker in command for worker in _WORKERS) and any(
        f"/api{version}{route}" in command for route in _PRINTING for version in ("", "/v1"))


def shown(command: str) -> str:
    """The line as a person would quote it: on one line, without a here-document and the ways to hide output."""
    line, document = _document(command)
    line = " ".join(line.split())
    for noise in (" 2>&1", " 2>/dev/null", " >/dev/null"):
        line = line.replace(noise, "")
    if document:
        line = line.rstrip("-~ ").removesuffix("cat").rstrip("\"'$( ").removesuffix(" -m")
    return line


def _document(command: str) -> tuple[str, str]:
    """(the line without its here-document, the document); a `<<` of another kind, as in `grep '^<<<<<<<'`, begins
    none."""
    at = command.find("<<")
    while at >= 0:
        word = command[at + 2:at + 12].lstrip("-~ ").lstrip("'\"\\")[:1]
        if (word.isalpha() or word == "_") and command[at - 1:at] != "<":
            first, _, document = command[at + 2:].partition("\n")
            end, _, behind = first.lstrip("-~ ").partition(" ")
            lines = document.splitlines()
            ends = [line.strip() for line in lines]
            mark = end.strip("'\"\\")
            document = "\n".join(lines[:ends.index(mark)]) if mark in ends else document
            return f"{command[:at].rstrip()} {behind}".rstrip(), document
        at = command.find("<<", at + 1)
    return command, ""


def gist(command: str) -> str:
    """The one command of the line that it was typed for, without the folder changes and filters around it."""
    parts = [part for part in simple_commands(shown(command)) if part.partition(" ")[0] not in _SETTING]
    part = next((part for part in parts if not _only_looks(part)), parts[0] if parts else shown(command))
    words = part.split()
    if words and words[0].rpartition("/")[2] in _INTERPRETERS and (len(words) == 1 or words[1] in ("-c", "-e", "-")):
        file = _file_named_in(command)
        return f"{words[0]} script" + (f" on {file}" if file else "")
    return part


def _file_named_in(script: str) -> str:
    """The name of the first file with a folder that a script quotes; "" when it quotes none."""
    for piece in script.replace('"', "'").split("'")[1:]:
        name = piece.rpartition("/")[2]
        if "/" in piece and "." in name[1:] and len(piece) < 300 and not any(c in piece for c in " \n,:(){}"):
            return name
    return ""


def simple_commands(command: str) -> list[str]:
    """The commands of a line such as `cd x && make | tail`, without here-documents: `cd x`, `make`, `tail`."""
    line = _document(command)[0]
    for joint in ("&&", "||", ";", "|", "\n"):
        line = line.replace(joint, "\x00")
    return [part.strip() for part in line.split("\x00") if part.strip()]


def _runs(part: str, program: str, verb: str) -> bool:
    words = part.split()
    while words and ("=" in words[0] or words[0] in ("sudo", "time", "env", "command")):
        words = words[1:]
    if not words or words[0].rpartition("/")[2] != program:
        return False
    rest = words[1:]
    while rest[:1] == ["-C"] or rest[:1] == ["-c"]:
        rest = rest[2:]
    return rest[:1] == [verb]


def _mentions(line: str, phrases: tuple[str, ...]) -> bool:
    for phrase in phrases:
        at = line.find(phrase)
        while at >= 0:
            before, after = line[at - 1:at], line[at + len(phrase):at + len(phrase) + 1]
            if (not before or before in " /\t('\"") and (not after or after in " :\t)'\";"):
                return True
            at = line.find(phrase, at + 1)
    return False


def _only_looks(part: str) -> bool:
    words = part.split()
    while words and "=" in words[0]:
        words = words[1:]
    if not words:
        return True
    program = words[0].rpartition("/")[2]
    if program == "git":
        return bool(words[1:]) and words[1] in _LOOKING_GIT
    if program == "memlite":
        return bool(words[1:]) and words[1] in _RECALLING
    writes = ">" in part.replace("2>&1", "").replace("2>/dev/null", "").replace(">/dev/null", "") or "-i" in words
    return program in _LOOKING and not writes


def commit_subject(command: str, output: str) -> tuple[str, str]:
    """(subject, short hash) of the commit a command made; ("", "") when it made none.

    git answers `[branch 1a2b3c4] Subject`; the message on the command line is only believed with such an answer
    missing because output was hidden (-q, | tail).
    """
    for line in output.splitlines():
        line = line.strip()
        if line.startswith("[") and "] " in line:
            head, _, subject = line[1:].partition("] ")
            sha = head.split()[-1] if head.split() else ""
            if len(sha) >= 7 and all(c in "0123456789abcdef" for c in sha):
                return subject.strip(), sha
    return next((line.strip() for line in _message(command).splitlines() if line.strip()), ""), ""


def commit_body(command: str, subject: str) -> str:
    """What the message of the commit with that `subject` says below it, without trailers; "" where the command line
    does not hold that message."""
    lines = _message(command).strip().splitlines()
    if not lines or lines[0].strip() != subject:
        return ""
    return "\n".join(line for line in lines[1:] if not line.strip().lower().startswith(_TRAILERS)).strip()


def _message(command: str) -> str:
    document = _document(command)[1]
    if document:  # -m "$(cat <<'EOF' … EOF)"
        return document
    for flag in ("-m ", "-am ", "--message ", "--message="):
        before, found, rest = command.partition(flag)
        if found:
            rest = rest.lstrip()
            quote = rest[:1]
            return rest[1:].partition(quote)[0] if quote in ("'", '"') else rest.split(" -")[0]
    return ""


def exit_code(output: str) -> int | None:
    """The code of `Exit code N`, with which the client begins the output of a failed command; None without it."""
    first = output.lstrip()[:40].splitlines()[0] if output.strip() else ""
    number = first.lower().partition("exit code ")[2].split()
    return int(number[0]) if number and number[0].isdigit() else None


def error_lines(output: str, most: int = 3) -> list[str]:
    """Up to `most` lines of `output` that say what went wrong, each at most 300 characters."""
    found: list[str] = []
    for raw in output.splitlines()[:4000]:
        line = raw.partition("\\n")[0].strip()  # some tools print escaped line feeds
        lowered = line[:400].lower()
        if not line or not (any(mark in lowered for mark in _ERROR_MARKS) or line.startswith("E  ")):  # pytest's
            continue
        if any(mark in lowered for mark in _NOT_ERRORS) or lowered.startswith(("exit code", "--- pass", "ok ")):
            continue
        if lowered.startswith("traceback"):  # its last line names the error
            continue
        if line[:300] not in found:
            found.append(line[:300])
        if len(found) == most:
            break
    return found


def test_outcome(output: str) -> str:
    """What a test run reported, as its own counting line: `3 failed, 12 passed`; "" when none can be told."""
    verdict = ""
    lines = output.splitlines()
    for raw in lines[-400:]:
        line = raw.strip().strip("=").strip()
        lowered = line.lower()
        if len(line) > 200:
            continue
        counts = _counts(lowered)
        if counts:
            verdict = counts
        elif lowered.startswith(("--- fail", "fail\t", "fail ")) and "fail" not in verdict:
            verdict = line[:120]
    if not verdict and lines:
        tail = [line for line in lines if line.strip()][-60:]
        if any(line.startswith("ok  ") for line in tail) and not any(line.startswith("FAIL") for line in tail):
            return "all packages ok"
        if any(line.startswith("FAIL") for line in tail):
            return "FAIL"
        if any(line.strip() == "PASS" for line in tail):
            return "PASS"
    return verdict


_COUNTED = ("passed", "failed", "failures", "failure", "skipped", "errors", "error", "tests", "test", "passing",
            "failing", "examples", "pending", "ignored", "excluded", "invalid", "todo", "total")


def _counts(line: str) -> str:
    """`line`'s "N word" pairs of a test summary joined with commas: `===== 2 failed, 9 passed in 3s =====`."""
    words = line.replace(",", " ").replace(";", " ").replace(".", " ").replace("|", " ").split()
    pairs = [f"{number} {word}" for number, word in zip(words, words[1:], strict=False)
             if number.isdigit() and word in _COUNTED]
    telling = any(pair.split()[1] in ("passed", "failed", "failures", "passing", "failing", "examples", "tests")
                  for pair in pairs)
    return ", ".join(pairs) if telling else ""


def went_wrong(outcome: str) -> bool:
    """Whether a `test_outcome` tells of failures."""
    words = outcome.lower().replace(",", " ").split()
    if words[:1] in (["fail"], ["---"]) or outcome.startswith("FAIL"):
        return True
    return any(number.isdigit() and int(number) > 0 and word in ("failed", "failures", "failure", "failing", "errors",
                                                                 "error", "invalid")
               for number, word in zip(words, words[1:], strict=False))
