"""`python -m bench [ROW …]`: measure, show the table; with no row named, write it to RESULTS.md."""

import sys
import traceback

from bench import results, table


def main(names: list[str]) -> int:
    rows = table.chosen(names)
    if not rows:
        print(f"no row is called {' '.join(names)}; there are: {' '.join(row.name for row in table.ROWS)}")
        return 2
    lines = []
    for row in rows:
        print(f"{row.name} …", file=sys.stderr, flush=True)
        try:
            lines.append(table.cells(row, row.measure()))
        except Exception as error:  # the others can still be measured
            traceback.print_exc()
            lines.append(table.failed(row, error))
    shown = table.markdown(lines)
    print(shown)
    if not names:
        results.write(shown)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
