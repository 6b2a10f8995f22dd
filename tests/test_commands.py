"""commands: what a shell line was for and how it ended, by plain rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlite.capture import commands
from memlite.capture.commands import BUILD, COMMIT, LINT, LOOK, OTHER, TEST


@pytest.mark.parametrize(("command", "purpose"), [
    ("pytest -q tests", TEST), ("cd app && npm test 2>&1 | tail -20", TEST), ("python -m pytest", TEST),
    ("go test ./...", TEST), ("mix test test/a_test.exs", TEST), ("cargo test --all", TEST), ("mise run test:ci", TEST),
    ("cat pytest.ini", LOOK), ("ruff check .", LINT), ("npx eslint src", LINT), ("make", BUILD), ("cargo build", BUILD),
    ("git commit -m x", COMMIT), ("git add -A && git commit -qm x", COMMIT), ("git -C /x commit", COMMIT),
    ("GIT_EDITOR=true git commit", COMMIT), ("git log --grep=commit", LOOK), ("git status && git diff", LOOK),
    ("ls -la | head", LOOK), ("grep -rn pattern src 2>/dev/null", LOOK), ("sed -i s/a/b/ f", OTHER),
    ("echo x > f", OTHER),
    ("rm -rf build", OTHER), ("git push", OTHER), ("./deploy.sh", OTHER), ("", OTHER), ("memlite query x", LOOK),
    ("memlite import transcripts", OTHER), ("cat <<EOF > f\npytest\nEOF", OTHER)])
def test_purpose_of_a_command(command: str, purpose: str) -> None:
    """By what is run, not by what is mentioned."""
    assert commands.purpose(command) == purpose


@pytest.mark.parametrize(("command", "gist"), [
    ("cd /x && npm run build 2>&1 | tail -5", "npm run build"), ("export A=1; make docs", "make docs"),
    ("ls | wc -l", "ls"),
    ("python3 - <<'EOF'\nprint(1)\nEOF", "python3 script"), ("python3 -c 'print(1)'", "python3 script"),
    ("python3 -c \"open('/a/b/shop.tsx').read()\"", "python3 script on shop.tsx"),
    ("python3 - <<'EOF'\np = 'src/cart.py'\nEOF", "python3 script on cart.py"),
    ("python3 tool.py", "python3 tool.py"), ("grep -n '^<<<<<<<' a.go", "grep -n '^<<<<<<<' a.go"), ("", "")])
def test_gist_is_the_command_the_line_was_typed_for(command: str, gist: str) -> None:
    """Without folder changes, filters and here-documents."""
    assert commands.gist(command) == gist


@pytest.mark.parametrize(("command", "shown"), [
    ("make  all \\\n  -j2 2>&1", "make all \\ -j2"), ('git commit -m "$(cat <<\'EOF\'\nfix: a\nEOF\n)"', "git commit"),
    ("cat > f <<EOF\nx\nEOF", "cat > f"), ("echo '<<'", "echo '<<'"), ("cat <<< text", "cat <<< text")])
def test_shown_line_has_no_document_and_no_noise(command: str, shown: str) -> None:
    """As a person would quote it."""
    assert commands.shown(command) == shown


@pytest.mark.parametrize(("command", "output", "found"), [
    ("git commit -m 'fix: a'", "[main 1a2b3c4] fix: a\n 1 file changed", ("fix: a", "1a2b3c4")),
    ("git commit", "[feature/x (root-commit) 1a2b3c4d] Begin", ("Begin", "1a2b3c4d")),
    ("git commit -qm \"feat: b\" && git push", "", ("", "")),
    ("git commit -q -m \"feat: b\" | tail", "", ("feat: b", "")),
    ('git commit -m "$(cat <<\'EOF\'\nfix: c\n\nbody\nEOF\n)"', "done", ("fix: c", "")),
    ("git commit --message=short -q", "", ("short", "")), ("git commit", "[not a commit] x", ("", ""))])
def test_commit_is_known_by_gits_answer_or_its_message(command: str, output: str, found: tuple[str, str]) -> None:
    """Subject and short hash."""
    assert commands.commit_subject(command, output) == found


@pytest.mark.parametrize(("command", "body"), [
    ('git commit -m "$(cat <<\'EOF\'\nfix: c\n\nBecause of d.\n- e\n\nCo-Authored-By: x\nEOF\n)" && git push\n',
     "Because of d.\n- e"),
    ("git commit -m 'fix: c\n\nBecause of d.'", "Because of d."), ("git commit -m 'fix: c'", ""), ("git commit", ""),
    ("cat > f <<EOF\nall of f\nand more\nEOF\ngit commit -m 'fix: c'", "")])
def test_body_of_a_commit_message_is_what_stands_below_its_subject(command: str, body: str) -> None:
    """Without trailers, and never another document of the command line."""
    assert commands.commit_body(command, "fix: c") == body


@pytest.mark.parametrize(("output", "outcome", "wrong"), [
    ("===== 2 failed, 9 passed in 3.10s =====", "2 failed, 9 passed", True), ("12 passed in 0.5s", "12 passed", False),
    ("Tests:  1 failed, 3 passed, 4 total", "1 failed, 3 passed, 4 total", True),
    ("Finished in 0.1s\n65 tests, 0 failures", "65 tests, 0 failures", False),
    ("3 tests, 2 failures", "3 tests, 2 failures", True),
    ("ok  \tpkg/a\t0.1s\nok  \tpkg/b\t0.2s", "all packages ok", False),
    ("ok  \ta\t0.1s\nFAIL\tpkg/b\t0.2s", "FAIL\tpkg/b\t0.2s", True),
    ("--- FAIL: TestX (0.00s)\nFAIL", "--- FAIL: TestX (0.00s)", True), ("=== RUN\nPASS", "PASS", False),
    ("12 passing (3s)\n1 failing", "1 failing", True), ("1329 pass\n 0 fail\nRan 1329 tests", "1329 tests", False),
    ("nothing to tell", "", False), ("", "", False)])
def test_outcome_is_the_runners_own_count(output: str, outcome: str, wrong: bool) -> None:
    """The last counting line, and whether it tells of failures."""
    assert commands.test_outcome(output) == outcome
    assert commands.went_wrong(outcome) is wrong


def test_error_lines_are_those_that_say_what_went_wrong() -> None:
    """Without the traceback's frame, counts of nothing, and repetition; bounded."""
    output = ("Traceback (most recent call last):\n  File \"a.py\"\nValueError: could not convert\n0 errors\n"
              "E       assert 1 == 2\nValueError: could not convert\nfatal: not a git repository\\nmore\n"
              "ok  pkg\nerror: last")
    assert commands.error_lines(output) == ["ValueError: could not convert", "E       assert 1 == 2",
                                            "fatal: not a git repository"]
    assert commands.error_lines(output, 1) == ["ValueError: could not convert"]
    assert len(commands.error_lines("error: " + "x" * 999)[0]) == 300
    assert commands.error_lines("--[no-]aggressive     be thorough\nall is well") == []


@pytest.mark.parametrize(("output", "code"),
                         [("Exit code 2\nmake: ***", 2), ("\nExit code 127", 127), ("exit code x", None),
                                              ("all well", None), ("", None)])
def test_exit_code_is_read_from_the_first_line(output: str, code: int | None) -> None:
    """As the client begins the output of a failed command."""
    assert commands.exit_code(output) == code


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_command_and_output_is_no_error(command: str, output: str) -> None:
    """Whatever was typed and printed."""
    assert commands.purpose(command) in (TEST, COMMIT, BUILD, LINT, OTHER, LOOK)
    commands.gist(command)
    commands.commit_subject(command, output)
    commands.error_lines(output)
    commands.went_wrong(commands.test_outcome(output))
    commands.exit_code(output)
    commands.recalls(command)


@pytest.mark.parametrize(("command", "printed"), [
    ("memlite query quay", True), ("cd x && memlite show 3 S5", True), ("memlite status", False),
    ("memlite save x", False),
    ('curl -s -G http://127.0.0.1:37777/api/search -d output=markdown --data-urlencode "query=a b"', True),
    ('curl -s "http://localhost:37778/api/timeline?anchor=3&output=markdown" | head', True),
    ("curl -s http://127.0.0.1:37777/api/v1/observation/3", True), ("wget -qO- [::1]:37777/api/decisions", True),
    ("curl -s http://127.0.0.1:37777/health", False), ("curl -s http://127.0.0.1:37777/api/memory/save -d x", False),
    ("curl -s http://localhost:3000/api/search?q=shop", False), ("curl https://example.org/api/search", False)])
def test_memories_that_a_command_prints_are_no_new_ones(command: str, printed: bool) -> None:
    """By memlite itself or by its worker; another program's answers are."""
    assert commands.recalls(command) is printed
