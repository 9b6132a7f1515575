"""A server under load and under nonsense: many clients at once, and requests that its description allows or not."""

import asyncio
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import httpx
import pytest

from benchmarks.serving import Load, loaded
from dragoman.serve.limits import Limits
from dragoman.serve.metrics import resident_bytes
from dragoman.serve.models import Models
from tests.serving.fakes import FakeEngine, served

CHECKS = (
    "not_a_server_error",
    "response_schema_conformance",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
)


@pytest.mark.slow
def test_two_hundred_clients_get_answers_or_are_told_to_come_back() -> None:
    engine = FakeEngine(seconds=0.01)
    with served(Models([engine]), limits=Limits(requests=150), threads=2) as url:
        asyncio.run(loaded(Load(url, clients=200, seconds=5, source="en", target="de")))
        before = resident_bytes()
        outcome = asyncio.run(loaded(Load(url, clients=200, seconds=15, source="en", target="de")))
        after = resident_bytes()
        assert set(outcome.statuses) <= {200, 429}, Counter(outcome.statuses)
        assert outcome.statuses[200] > 500 and outcome.statuses[429] > 0
        assert after - before < 60e6, f"memory grew by {(after - before) / 1e6:.0f} MB"
        assert max(map(len, engine.batches)) > 20  # sentences of many clients together
        start = time.monotonic()
        assert httpx.get(f"{url}/health").json() == {"status": "ok"}
        assert time.monotonic() - start < 1


@pytest.mark.slow
def test_no_request_that_the_description_allows_or_forbids_breaks_the_server(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("schemathesis")
    if not program.exists():
        pytest.skip("schemathesis is not installed; pip install schemathesis")
    with served(threads=2) as url:
        command = [str(program), "run", f"{url}/openapi.json", "--mode", "all", "--seed", "1", "--max-examples", "60"]
        command += ["--checks", ",".join(CHECKS), "--phases", "coverage,fuzzing", "--suppress-health-check", "all"]
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=240)
        assert result.returncode == 0, result.stdout
        assert int(re.findall(r"(\d+) passed", result.stdout)[-1]) > 300
        counted = httpx.get(f"{url}/metrics").text
    assert 'route="/translate",status="200"' in counted and 'route="/translate",status="400"' in counted
    assert 'status="500"' not in counted and 'status="504"' not in counted
