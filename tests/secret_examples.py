"""The examples of the rule table with random characters put in: the fake secrets exist only while a test runs.

Nothing that a secret scanner would report stands in a file of this repository, and no test leans on one lucky value.
"""

from __future__ import annotations

import random
import re
import string

_SMALL, _CAPITAL, _DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
_CLASSES = {
    "a": _SMALL + _CAPITAL + _DIGITS,   # letters of both sizes and digits
    "h": "0123456789abcdef",
    "u": _CAPITAL + "234567",
    "l": _SMALL + _DIGITS,
    "d": _DIGITS,
}
_HOLE = re.compile(r"\{([ahuld])(\d+)\}|\{([pw])\}")


def filled(example: str, chance: random.Random) -> tuple[str, list[str]]:
    """`example` with its holes filled, and what was filled in.

    `{a36}` is 36 characters of class a, and so on; `{p}` a password as people choose it, `{w}` one that is a plain
    word. Every filling of four characters and more holds at least one digit if its class has any, as real ones do.
    """
    needles: list[str] = []

    def fill(hole: re.Match[str]) -> str:
        if hole[3] == "w":
            needle = "".join(chance.choice("bcdfglmnprstvz" if i % 2 else "aeiou") for i in range(9))
        elif hole[3] == "p":
            needle = ("".join(chance.choice(_SMALL) for _ in range(6)) + chance.choice(_CAPITAL)
                      + "".join(chance.choice(_DIGITS) for _ in range(3)))
        else:
            needle = random_run(hole[1], int(hole[2]), chance)
        needles.append(needle)
        return needle

    return _HOLE.sub(fill, example), needles


def random_run(kind: str, length: int, chance: random.Random) -> str:
    """`length` characters of the class `kind`, with a letter and a digit in it where the class has them."""
    while True:
        run = "".join(chance.choice(_CLASSES[kind]) for _ in range(length))
        mixed = any(c.isdigit() for c in run[1:-1]) and any(c.isalpha() for c in run)
        if mixed or kind == "d" or length < 6:
            return run
