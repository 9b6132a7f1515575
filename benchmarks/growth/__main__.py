"""What grows with what: `python -m benchmarks.growth`, half an hour on a quiet machine, or some parts of it by name.

Writes benchmarks/growth/results.json, the tables of docs/GROWTH.md and its charts.
"""

import argparse
import json
from datetime import UTC, datetime

from benchmarks.ground import ROOT
from benchmarks.growth import page, preparation, reports, resuming, steps

RESULTS = ROOT / "benchmarks" / "growth" / "results.json"
PARTS = ("steps", "resuming", "preparation", "reports")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=[], metavar=f"{{{','.join(PARTS)}}}")
    parser.add_argument("--rounds", type=int, default=3, help="of steps and preparation")
    parser.add_argument("--only-draw", action="store_true", help="the page and its charts from the last results")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    found = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    for part in [] if options.only_draw else options.parts or PARTS:
        rows = {
            "steps": lambda: steps.measured(options.rounds),
            "resuming": resuming.measured,
            "preparation": lambda: preparation.measured(options.rounds),
            "reports": reports.measured,
        }[part]()
        command = f"python -m benchmarks.growth {part} --rounds {options.rounds}"
        found[part] = {"command": command, "measured_at": datetime.now(UTC).date().isoformat(), "rows": rows}
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    page.publish(found)


if __name__ == "__main__":
    main()
