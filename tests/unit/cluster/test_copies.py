"""Spare copies of checkpoints: the newest goes out once, older ones give way."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dragoman.cluster import copies, transfer
from dragoman.cluster.agent_files import Announced
from dragoman.cluster.crew import Outfit
from dragoman.cluster.home import Home
from dragoman.cluster.link import Link
from dragoman.cluster.messages import Message
from dragoman.cluster.transfer import Parcel
from dragoman.core.config import Config
from dragoman.core.errors import UserError
from tests.unit.cluster.fake_links import FakeLink


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Host and place of each parcel."""
    found = list[tuple[str, str]]()

    async def send(link: Link, wanted: Parcel) -> None:
        found.append((link.host.name, wanted.path.split("/", 2)[2]))

    monkeypatch.setattr(transfer, "send", send)
    return found


def home_with(directory: Path, *steps: int) -> Home:
    for step in steps:
        place = directory / "checkpoints" / f"step_{step:07}"
        place.mkdir(parents=True)
        for name in copies.FILES:
            (place / name).write_text(name)
    return Home(directory)


def spread(directory: Path, home: Home, *links: FakeLink) -> None:
    outfit = Outfit(Config(), directory)
    asyncio.run(copies.spread([link.as_link for link in links], outfit, home))


def test_the_newest_goes_to_every_other_host_and_older_ones_give_way(
    tmp_path: Path, sent: list[tuple[str, str]]
) -> None:
    here, right, third = FakeLink("here", is_local=True), FakeLink("right"), FakeLink("third")
    spread(tmp_path, home_with(tmp_path, 2, 4), here, right, third)
    assert sorted(sent) == [("right", "checkpoints/step_0000004"), ("third", "checkpoints/step_0000004")]
    assert here.asked == []
    for link in (right, third):
        kind, fields = link.asked[-1]
        assert (kind, fields["keep"]) == ("prune", copies.KEPT_COPIES)


def test_the_newest_comes_home_also_where_an_older_one_is_dropped_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched = list[str]()

    async def fetch(_link: Link, path: str, _directory: Path, _files: Sequence[Announced]) -> None:
        if not path.endswith("step_0000012"):
            raise UserError("there is no such directory")
        fetched.append(path)

    class Far(FakeLink):
        async def ask(self, kind: str, *, timeout_s: float = 30.0, **fields: Any) -> Message:
            if kind == "has":
                return Message("reply", {"files": {f"step_{step:07}/SHA256SUMS": 10 for step in (8, 10, 12)}})
            return Message("reply", {"files": [[name, 1, ""] for name in copies.FILES]})

    monkeypatch.setattr(transfer, "fetch", fetch)
    with pytest.raises(UserError):
        asyncio.run(copies.bring_home(Far("right").as_link, Outfit(Config(), tmp_path), home_with(tmp_path, 8)))
    assert [path.rpartition("/")[2] for path in fetched] == ["step_0000012"]


def test_what_is_there_is_not_sent_again(tmp_path: Path, sent: list[tuple[str, str]]) -> None:
    right = FakeLink("right")
    right.files = {"step_0000004/SHA256SUMS": 10}
    spread(tmp_path, home_with(tmp_path, 4), right)
    assert sent == [] and right.requests == ["has"]
    spread(tmp_path, home_with(tmp_path / "empty"), right)
    assert sent == []
