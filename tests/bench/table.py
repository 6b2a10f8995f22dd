"""Tables of plain text, as all benchmarks print them."""

from __future__ import annotations

from collections.abc import Sequence


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print `rows` under `columns`; the first column to the left, the others to the right."""
    widths = [max(len(row[number]) for row in [columns, *rows]) for number in range(len(columns))]
    print(title)
    for row in [columns, *rows]:
        cells = [cell.ljust(width) if number == 0 else cell.rjust(width)
                 for number, (cell, width) in enumerate(zip(row, widths, strict=True))]
        print("  ".join(cells).rstrip())


def share(value: float) -> str:
    """A recall or the like, between 0 and 1."""
    return f"{value:.3f}"


def percentile(values: Sequence[float], part: float) -> float:
    """The value below which `part` (0–1) of `values` lie, by the nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]
