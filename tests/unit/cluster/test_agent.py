"""An agent and the main machine's end of the talk, without SSH: what is asked is done, what is not fit is refused."""

import asyncio
import gc
import os
import time
import warnings
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from dragoman.cluster import link as links
from dragoman.cluster import transfer
from dragoman.cluster.agent_files import Announced
from dragoman.cluster.agent_ranks import remember, started_at
from dragoman.cluster.hosts import Host
from dragoman.cluster.link import HostLostError, Link, UnreachableError, connect
from dragoman.cluster.messages import GREETING, Message
from dragoman.core.errors import UserError
from dragoman.core.files import sha256_of

HERE = Host(name="here", address="127.0.0.1")


@pytest.fixture
def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Link], Awaitable[None]]], None]:
    """Runs a conversation with an agent of this machine, whose files lie in tmp_path/cache/cluster."""
    monkeypatch.setenv("DRAGOMAN_CACHE", str(tmp_path / "cache"))

    def run(conversation: Callable[[Link], Awaitable[None]]) -> None:
        async def whole() -> None:
            link = await connect(HERE)
            try:
                await conversation(link)
            finally:
                await link.close()

        asyncio.run(whole())

    return run


Talk = Callable[[Callable[[Link], Awaitable[None]]], None]


def test_an_agent_says_what_its_machine_is(talk: Talk, tmp_path: Path) -> None:
    async def conversation(link: Link) -> None:
        assert link.is_local
        assert link.machine.directory == str(tmp_path / "cache/cluster")
        assert (await link.ask("routes", peers=["127.0.0.1"]))["routes"] == {"127.0.0.1": "127.0.0.1"}

    talk(conversation)


def test_a_directory_goes_there_and_comes_back(talk: Talk, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a").write_bytes(os.urandom(300_000))
    (source / "b").write_bytes(b"")

    async def conversation(link: Link) -> None:
        parcel = transfer.parcel("corpora/x", source, ["a", "b"])
        assert not await transfer.is_there(link, parcel)
        sent = list[int]()
        await transfer.send(link, parcel, sent.append)
        assert sum(sent) == parcel.num_bytes == 300_000
        assert await transfer.is_there(link, parcel)
        described = (await link.ask("describe", path="corpora/x"))["files"]
        files = [Announced(*entry) for entry in described]
        await transfer.fetch(link, "corpora/x", tmp_path / "back", files)
        assert sha256_of(tmp_path / "back/a") == sha256_of(source / "a")
        wrong = [Announced(file.name, file.num_bytes, "0" * 64) for file in files]
        with pytest.raises(UserError, match="did not arrive as it was sent"):
            await transfer.fetch(link, "corpora/x", tmp_path / "wrong", wrong)
        assert not (tmp_path / "wrong").exists()

    talk(conversation)


def test_older_copies_give_way(talk: Talk, tmp_path: Path) -> None:
    async def conversation(link: Link) -> None:
        for step in (2, 4, 10):
            await transfer.send(link, transfer.Parcel(f"runs/x/checkpoints/step_{step:07}", (), lambda name: tmp_path))
        await link.ask("prune", path="runs/x/checkpoints", keep=2)

    talk(conversation)
    kept = sorted(path.name for path in (tmp_path / "cache/cluster/runs/x/checkpoints").iterdir())
    assert kept == ["step_0000004", "step_0000010"]


def test_bytes_that_changed_on_the_way_are_refused_and_nothing_is_left(talk: Talk, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 300_000)

    async def conversation(link: Link) -> None:
        parcel = transfer.Parcel("corpora/x", (Announced("a", 300_000, "0" * 64),), lambda name: tmp_path / name)
        with pytest.raises(UserError, match="here: a did not arrive as it was sent"):
            await transfer.send(link, parcel)
        assert (await link.ask("has", path="corpora/x"))["files"] == {}

    talk(conversation)
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    ("kind", "fields", "reason"),
    [
        ("has", {"path": "../../etc"}, "is no path inside"),
        ("put", {"path": "/etc/x", "files": []}, "is no path inside"),
        ("put", {"path": "x", "files": [["../y", 0, ""]]}, "is no path inside"),
        (
            "start",
            {"module": "os", "arguments": [], "ranks": [], "directory": "/tmp", "attempt": "a"},
            "does not run os",
        ),
        ("nonsense", {}, "unknown request nonsense"),
        ("knock", {"address": "127.0.0.1"}, "has no port"),
        ("listen", {"address": "192.0.2.1", "port": 0, "password": ""}, "cannot be used"),
    ],
)
def test_what_is_not_fit_is_refused_and_the_talk_goes_on(
    talk: Talk, kind: str, fields: dict[str, object], reason: str
) -> None:
    async def conversation(link: Link) -> None:
        with pytest.raises(UserError, match=reason):
            await link.ask(kind, **fields)  # type: ignore[arg-type]
        await link.ask("machine")

    talk(conversation)


def test_a_door_opens_to_the_password_alone(talk: Talk) -> None:
    async def conversation(link: Link) -> None:
        port = (await link.ask("listen", address="127.0.0.1", port=0, password="s" * 32))["port"]
        good = await link.ask("knock", address="127.0.0.1", port=port, password="s" * 32)
        wrong = await link.ask("knock", address="127.0.0.1", port=port, password="x" * 32)
        await link.ask("close")
        closed = await link.ask("knock", address="127.0.0.1", port=port, password="s" * 32)
        assert good["problem"] is None
        assert wrong["problem"] == "somebody else answers"
        assert "refused" in closed["problem"]

    talk(conversation)


def test_an_agent_that_dies_is_noticed_by_all_who_wait(talk: Talk) -> None:
    async def conversation(link: Link) -> None:
        heard = list[Message]()
        link.heard = lambda _link, message: heard.append(message)
        port = (await link.ask("listen", address="127.0.0.1", port=0, password="s" * 32))["port"]
        asking = asyncio.create_task(link.ask("knock", address="127.0.0.1", port=port, password="half"))
        await asyncio.sleep(0.1)
        link._process.kill()
        with pytest.raises(HostLostError, match="here has gone"):
            await asking
        assert heard[-1].kind == "gone"
        with pytest.raises(HostLostError):
            await link.ask("machine")

    talk(conversation)


FAKE = "#!/bin/sh\n{}\n"


@pytest.fixture
def reached_by(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], str]:
    """Why a host cannot be reached when `ssh` is this script. No process, task or pipe of the try may be left."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(links, "CONNECT_S", 1.0)

    def reach(script: str) -> str:
        (tmp_path / "ssh").write_text(FAKE.format(script))
        (tmp_path / "ssh").chmod(0o755)
        with warnings.catch_warnings(), pytest.raises(UnreachableError) as found:
            warnings.simplefilter("error")
            asyncio.run(connect(Host(name="far", address="192.0.2.1")))
        gc.collect()  # pytest makes an error that nobody could raise, as that of a loop which is closed, a warning
        return str(found.value)

    return reach


@pytest.mark.filterwarnings("error")
def test_a_host_that_does_not_come_up_says_why(reached_by: Callable[[str], str]) -> None:
    said = reached_by("echo 'banner of the day'; echo 'Host key verification failed.' >&2; exit 255")
    assert said.startswith("far: its SSH host key is not known")


@pytest.mark.filterwarnings("error")
def test_a_host_that_hangs_is_given_up(reached_by: Callable[[str], str]) -> None:
    start = time.monotonic()
    assert reached_by("exec sleep 60").startswith("far: it does not answer")
    assert time.monotonic() - start < 30


@pytest.mark.filterwarnings("error")
def test_an_agent_that_speaks_of_itself_in_other_words_is_another_dragoman(reached_by: Callable[[str], str]) -> None:
    hello = '{"kind": "hello", "machine": {"hostname": "far"}}'
    said = reached_by(f"echo '{GREETING.decode().strip()}'; echo '{hello}'; exec sleep 60")
    assert said == "far: its Dragoman is another than this one; run `dragoman check` with --install"


def test_processes_are_told_apart_by_when_they_began(tmp_path: Path) -> None:
    own = started_at(os.getpid())
    assert own is not None and own > 0
    assert started_at(2**22 + 1) is None
    remember(tmp_path, [2**22 + 1])
    assert (tmp_path / "processes.json").read_text() == f"[[{os.getpid()}, {own}]]"
