"""jsoncodec: JSON by the C accelerators alone, held against the json package."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlite import jsoncodec

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4), max_leaves=20)


@given(VALUES)
def test_written_and_read_is_the_same(value: object) -> None:
    """loads(dumps(x)) is x, and json reads what we write."""
    text = jsoncodec.dumps(value)
    assert jsoncodec.loads(text) == value
    assert json.loads(text) == value


@given(VALUES, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_whatever_json_writes_is_read_alike(value: object, ascii_only: bool, indent: int | str | None) -> None:
    """Escapes, white space and line feeds make no difference."""
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert jsoncodec.loads(f" \n{text}\r\n\t") == value


@given(VALUES)
def test_sorted_text_is_what_json_writes(value: object) -> None:
    """With sort_keys equal values give equal bytes, on one line."""
    text = jsoncodec.dumps(value, sort_keys=True)
    assert text == json.dumps(value, ensure_ascii=False, sort_keys=True)
    assert "\n" not in text


@given(st.text() | st.text(alphabet='{}[]",:0123456789.eE+-truefalsn \\u', max_size=40))
def test_what_json_refuses_is_refused(text: str) -> None:
    """Both accept and both refuse, and the refusal is a ValueError."""
    try:
        expected = json.loads(text, strict=False, parse_constant=lambda name: None)
    except ValueError:
        with pytest.raises(ValueError):
            jsoncodec.loads(text)
    else:
        assert jsoncodec.loads(text) == expected


def test_deep_nesting_is_a_value_error() -> None:
    """Neither a crash nor a RecursionError."""
    with pytest.raises(ValueError, match="nested"):
        jsoncodec.loads("[" * 200_000)
    assert jsoncodec.loads("[" * 50 + "]" * 50)


def test_nan_and_infinity_are_read_as_none_and_never_written() -> None:
    """What is not JSON does not pass as a number."""
    assert jsoncodec.loads("[NaN, Infinity, -Infinity, 1]") == [None, None, None, 1]
    for value in (math.nan, math.inf):
        with pytest.raises(ValueError):
            jsoncodec.dumps(value)
    with pytest.raises(TypeError):
        jsoncodec.dumps({1, 2})


def test_refusal_names_the_position() -> None:
    """A person finds the place."""
    with pytest.raises(ValueError, match="character 5"):
        jsoncodec.loads('{"a":}')
    with pytest.raises(ValueError, match="character 3"):
        jsoncodec.loads("{} {}")


def test_refusal_is_a_value_error_where_json_was_never_imported() -> None:
    """As in a hook: the accelerator then has no error class of its own to raise."""
    code = ("import sys\n"
            "from memlite import jsoncodec\n"
            "for text in ('{', '{\"a\" 1}', '{\"a\": }', '[1,', '\"open', '\"\\\\x\"', '{1: 2}', 'nul', '', '[1 2]'):\n"
            "    try: jsoncodec.loads(text)\n"
            "    except ValueError: print(end='.')\n"
            "print('json' in sys.modules or jsoncodec.loads('[1]'))\n")
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.stdout in ("..........[1]\n", "..........True\n"), done.stderr


def test_without_the_accelerators_the_json_package_does_the_same() -> None:
    """An interpreter that lacks _json reads and writes the same."""
    code = ("import sys; sys.modules['_json'] = None\n"
            "from memlite import jsoncodec\n"
            "assert 'json' in sys.modules and jsoncodec.make_scanner is None\n"
            "assert jsoncodec.loads(' [NaN, \"a\\nb\"] ') == [None, 'a\\nb']\n"
            "assert jsoncodec.dumps({'b': 'ü', 'a': 1}, sort_keys=True) == '{\"a\": 1, \"b\": \"ü\"}'\n"
            "try: jsoncodec.loads('{')\n"
            "except ValueError: print('refused')\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "refused\n", done.stderr
