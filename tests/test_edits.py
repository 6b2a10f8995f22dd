"""edits: what an edit was about, by the names it defines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlite.capture import edits


@pytest.mark.parametrize(("line", "name"), [
    ("def parse(text):", "parse"), ("    async def run(self) -> None:", "run"), ("class Price(Decimal):", "Price"),
    ("func (s *Store) Open(path string) error {", "Open"), ("func TestOpen(t *testing.T) {", "TestOpen"),
    ("export default function App() {", "App"), ("export const useCart = () => {", "useCart"),
    ("pub fn load<T>() {", "load"),
    ("pub(crate) struct Row {", "Row"), ("type Hook interface {", "Hook"), ("interface Props {", "Props"),
    ("defmodule Shop.Cart do", "Shop.Cart"), ("  def close(socket) do", "close"),
    ("class Cart extends Base {", "Cart"), ("public static final int LIMIT = 3;", ""),
    ("  const x = 1", ""), ("return 1", ""), ("definition = 3", ""), ("", ""), ("class", ""), ("# def not(this)", "")])
def test_definition_is_known_by_its_first_word(line: str, name: str) -> None:
    """In the usual languages, after modifiers; local variables and other lines define nothing."""
    assert edits.defined(line) == ([f"`{name}`"] if name else [])


@pytest.mark.parametrize(("given_edits", "deed"), [
    ([("/a/cart.py", "x = 1", "x = 1\n\ndef total(cart):\n    pass")], "Add `total` to cart.py"),
    ([("/a/cart.py", "def total(cart):\n    pass", "def total(cart):\n    return 1")], "Edit `total` in cart.py"),
    ([("/a/cart.py", "a = 1", "a = 2")], "Edit cart.py"), ([("/a/cart.py", "", "def total(): ...")], "Create cart.py"),
    ([("/a/README.md", "# Shop", "# Shop\n## Known limits\ntext")], "Add “Known limits” to README.md"),
    ([("/a/b.py", "1", "2"), ("/a/c.py", "1", "def fresh(): ..."), ("/a/d.py", "1", "2")],
     "Add `fresh` to c.py and edit 2 more files"),
    ([("/a/b.py", "1", "2"), ("/a/b.py", "3", "4"), ("C:\\x\\c.py", "1", "2")], "Edit b.py, c.py"),
    ([(f"/a/{n}.py", "1", "2") for n in range(5)], "Edit 0.py, 1.py, 2.py and 2 more"), ([], "")])
def test_deed_names_what_was_added_before_what_was_changed(given_edits: list[tuple[str, str, str]], deed: str) -> None:
    """One line for all edits of an episode."""
    assert edits.deed(given_edits) == deed


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=60), st.text(max_size=60)), max_size=4))
def test_any_edit_has_a_deed(given_edits: list[tuple[str, str, str]]) -> None:
    """Whatever was written."""
    assert bool(edits.deed(given_edits)) == bool(given_edits)
