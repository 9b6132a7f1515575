"""What all tests share: the profiles of hypothesis and the place of real data."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples every time, so that a red test is the change's fault. To hunt: pytest --hypothesis-profile=search
settings.register_profile("everyday", derandomize=True, deadline=None, database=None)
settings.register_profile("search", deadline=None, max_examples=5_000)
settings.load_profile("everyday")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real corpora and logs: $DRAGOMAN_DATA, else shared/data beside the repository."""
    root = Path(__file__).resolve().parent.parent
    directory = Path(os.environ.get("DRAGOMAN_DATA") or root.parent / "shared" / "data")
    if not directory.is_dir():
        pytest.skip(f"no real data: {directory} is not there; DRAGOMAN_DATA says where it is")
    return directory
