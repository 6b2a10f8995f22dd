"""What is marked private, and what looks like a key, never reaches the disk by way of memlite."""

from __future__ import annotations

import pytest
from claude_client import Workplace, new_session
from fake_anthropic import FakeAnthropic, call, say

# In two halves, so that no scanner takes this file for a leak.
GITHUB_TOKEN = "ghp_" + "x7Kq2mVb9Rt4Wc8Zn3Lp6Hd1Sf5Gj0YaEuIo"
AWS_KEY = "AKIA" + "Q7VXM2KHT5RW9ZNB"
SECRET = "the cellar door is behind the third barrel"
NEEDLES = (SECRET, "third barrel", GITHUB_TOKEN, AWS_KEY)
ASKED = "Label the cheese wheels in the cellar"
PROMPT = f"{ASKED} <private>{SECRET}</private> with {GITHUB_TOKEN} please"
CONTROL = "forty-cheese-wheels"


@pytest.fixture(scope="module")
def spoken(workplace: Workplace, api: FakeAnthropic) -> bytes:
    """The bytes of the transcripts of a session in which all needles were said."""
    project = workplace.project("cellar")
    (project / "count.sh").write_text(f"echo {CONTROL}; echo aws_access_key_id = {AWS_KEY}\n")
    api.script(ASKED, say("I'll look up the count.", call("Bash", command="sh count.sh")), "Labelled forty.")
    session = new_session()
    turn = workplace.say(PROMPT, project, session=session)
    assert (turn.returncode, turn.answer) == (0, "Labelled forty.")
    workplace.say("/compact", project, resume=session)
    workplace.settle()
    return b"".join(path.read_bytes() for path in workplace.transcripts(session))


def test_no_private_word_and_no_key_is_in_any_file(workplace: Workplace, spoken: bytes) -> None:
    """Every file of the data directory, byte by byte: the needles are only in the transcript."""
    files = {path: path.read_bytes() for path in workplace.data.rglob("*") if path.is_file()}
    for needle in NEEDLES:
        assert needle.encode() in spoken
        assert [path for path, data in files.items() if needle.encode() in data] == []
    for control in (ASKED, CONTROL):
        assert [path for path, data in files.items() if control.encode() in data]


def test_the_place_of_a_key_is_marked(workplace: Workplace, spoken: bytes) -> None:
    """The stored text says that something was taken out, and of what kind."""
    found = str(workplace.search("cheese wheels", project=workplace.project("cellar")))
    assert "[redacted:" in found


def test_the_next_session_is_told_none_of_it(workplace: Workplace, api: FakeAnthropic, spoken: bytes) -> None:
    """The memory block of a later session names the work and holds no needle."""
    api.script("What is in the cellar", "Cheese.")
    turn = workplace.say("What is in the cellar", workplace.project("cellar"), session=new_session())
    assert "heese wheels" in turn.requests[0].text
    assert [needle for needle in NEEDLES if needle in turn.requests[0].text] == []
