"""writing: `memlite save` and `memlite forget`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from memlite.cli.main import cli
from memlite.model import Prompt, Summary
from shop_store import BEGIN, BOAT, observed, store


@pytest.fixture(autouse=True)
def in_a_folder(home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run in a folder of their own, on a store of their own."""
    monkeypatch.setenv("MEMLITE_HOME", home)
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)


def run(*arguments: str, given: str = "") -> Result:
    """What the command line answers."""
    return CliRunner().invoke(cli, list(arguments), input=given)


def test_saved_text_is_found_in_this_folders_project() -> None:
    """With the type, title and project it was given."""
    done = run("save", "prices", "stay", "strings", "--type", "decision", "--concept", "gotcha", "--json")
    assert json.loads(done.output) == {"success": True, "id": 1, "title": "prices stay strings", "project": "shop",
                                       "duplicate": False, "message": "the memory is saved as observation #1"}
    [item] = json.loads(run("query", "strings", "--json").output)["results"]
    assert (item["id"], item["type"], item["project"]) == ("1", "decision", "shop")


def test_standard_input_is_saved_with_its_first_line_as_title() -> None:
    """`memlite save - < notes.txt`."""
    assert run("save", "-", given="First line\nand more\n").output == "saved as #1: First line\n"


def test_saving_twice_stores_once() -> None:
    """And says so."""
    run("save", "the same")
    assert run("save", "the same").output == "saved before as #1: the same\n"


def test_nothing_to_store_is_an_error_with_a_reason() -> None:
    """A text that is private as a whole."""
    done = run("save", "<private>all of it</private>")
    assert done.exit_code == 2 and "nothing in the text" in done.output


def test_forgotten_memory_is_gone_and_stays_gone(home: str) -> None:
    """From the search and from the bytes of every file; its sibling stays; the same is not stored again."""
    run("save", "zebra crossing")
    run("save", "zebra stripes")
    done = run("forget", "1", "--yes", "--json")
    assert json.loads(done.output) == {"success": True, "forgotten": ["1"], "erased": True}
    assert [item["id"] for item in json.loads(run("query", "zebra", "--json").output)["results"]] == ["2"]
    stored = b"".join(path.read_bytes() for path in Path(home).rglob("*") if path.is_file())
    assert b"crossing" not in stored and b"stripes" in stored
    again = run("save", "zebra crossing")
    assert again.exit_code == 1 and "forgotten" in again.output


def test_forgetting_asks_first() -> None:
    """No answer but yes forgets anything."""
    run("save", "keep me")
    assert run("forget", "1", given="n\n").exit_code == 1
    assert "keep me" in run("show", "1").output
    assert run("forget", "1", given="y\n").exit_code == 0
    assert run("show", "1").exit_code == 1


def test_unknown_and_malformed_ids_forget_nothing() -> None:
    """Not even the others that were named."""
    run("save", "keep me")
    assert run("forget", "1", "99", "--yes").exit_code == 1
    assert run("forget", "x1", "--yes").exit_code == 2
    assert run("show", "1").exit_code == 0


def test_forgetting_names_what_is_left_of_the_turn(home: str) -> None:
    """A prompt's words stand in the summary of its turn as well; --turn takes all of it, and no other turn."""
    for number, minute in ((1, 0), (2, 10)):
        store(home, Prompt(text=f"Ask {number}", created_at_epoch=BEGIN + minute, prompt_number=number))
        store(home, observed(f"Work {number}", minute + 1, prompt_number=number))
        store(home, Summary(request=f"Ask {number}", created_at_epoch=BEGIN + minute, prompt_number=number))
    store(home, Prompt(text="Ask 1 elsewhere", created_at_epoch=BEGIN, prompt_number=1), BOAT)
    done = run("forget", "P1", "--yes")
    assert done.stdout == "forgotten: P1\n" and "there still are 1 S1;" in done.stderr
    done = run("forget", "S1", "--turn", "--yes", "--json")
    assert json.loads(done.stdout)["forgotten"] == ["S1", "1"] and done.stderr == ""
    for kept in ("P2", "2", "S2", "P3"):
        assert run("show", kept).exit_code == 0
    assert run("forget", "P3", "--yes").stderr == ""


def test_forgetting_names_older_copies_of_the_store(home: str) -> None:
    """They were made before an upgrade or a repair and still hold the words; only their owner may delete them."""
    run("save", "zebra crossing")
    copy = Path(home, "memlite.db.schema1-5.bak")
    copy.write_bytes(b"zebra crossing")
    assert str(copy) in run("forget", "1", "--yes").stderr
    assert copy.exists()
