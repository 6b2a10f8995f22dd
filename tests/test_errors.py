"""errors: one tree, each leaf with a code, an exit code and an HTTP status."""

from __future__ import annotations

import pytest

from memlite import errors
from memlite.errors import MemliteError, UsageError

CLASSES = [getattr(errors, name) for name in errors.__all__]


def test_all_classes_are_exported_and_drawn_in_the_docstring() -> None:
    """What is defined is in __all__ and in the tree a reader sees."""
    defined = {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert defined == set(errors.__all__)
    assert all(name in (errors.__doc__ or "") for name in errors.__all__)


@pytest.mark.parametrize("error", CLASSES)
def test_class_is_in_the_tree_and_says_how_to_answer(error: type[MemliteError]) -> None:
    """A code of its own, an exit code that is an error and no signal, an HTTP error status."""
    assert issubclass(error, MemliteError)
    assert 1 <= error.exit_code < 64 and 400 <= error.http_status < 600
    assert sum(other.code == error.code for other in CLASSES) == 1


@pytest.mark.parametrize("error", CLASSES)
def test_exit_and_status_are_those_of_the_docstring(error: type[MemliteError]) -> None:
    """The drawn tree tells the truth."""
    line = next(line for line in (errors.__doc__ or "").splitlines() if f" {error.__name__} " in line)
    if error is not MemliteError:
        assert line.endswith(f"exit {error.exit_code}, HTTP {error.http_status}")


def test_message_hint_and_code_are_kept() -> None:
    """A code given replaces the class's for this one error."""
    failure = UsageError("what", "way out", code="missing_parameter")
    assert (str(failure), failure.message, failure.hint, failure.code) == ("what", "what", "way out",
                                                                            "missing_parameter")
    assert UsageError("x").code == "invalid_parameter"
