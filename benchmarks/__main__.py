"""All benchmarks, one after the other: `make bench`, or some of them: `python -m benchmarks prepare decoding`."""

import subprocess
import sys

BENCHMARKS = ("prepare", "training", "decoding", "telemetry")


def main() -> None:
    """Run each benchmark in a process of its own, so that none inherits the other's threads and memory."""
    chosen = sys.argv[1:] or BENCHMARKS
    for name in chosen:
        if name not in BENCHMARKS:
            raise SystemExit(f"{name} is not a benchmark; there are {', '.join(BENCHMARKS)}")
        print(f"\n## {name}\n", flush=True)
        subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=True)


if __name__ == "__main__":
    main()
