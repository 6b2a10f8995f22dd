"""Numbers in sentences."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """`count` with the noun (English, in the singular, regular) in the right number: `1 summary`, `2 summaries`."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun.removesuffix('y')}ies" if noun.endswith("ry") else f"{count} {noun}s"


def all_counted(counts: dict[str, int]) -> str:
    """Several of them, with commas: `1 observation, 0 summaries`. A noun may be in the plural already."""
    return ", ".join(counted(count, noun.removesuffix("s")) for noun, count in counts.items())
