"""Which link has become slow, and how fast it was and is."""

import json
import os
import socket
from pathlib import Path

from dragoman.cluster.flows import ATTRIBUTE, COUNTERS, FOUND, _connection, flows, socket_inodes
from dragoman.cluster.link_rates import Flow, LinkNews, Rates
from dragoman.cluster.pace import Pace
from tests.unit.cluster.test_seats import seat

SEATS = [seat("left", "10.0.0.1", 1), seat("right", "10.0.0.2", 1), seat("third", "10.0.0.3", 1)]
ADDRESS = {one.host: one.address for one in SEATS}
RING = (("third", "right"), ("right", "left"), ("left", "third"))


def told(rates: Rates | LinkNews, speeds: dict[tuple[str, str], list[float]]) -> None:
    """A beat every two seconds in which each direction was busy for one, at these MB/s."""
    for (source, target), each in speeds.items():
        total = 0.0
        for beat, speed in enumerate([0.0, *each]):
            total += speed * 1e6
            rates.take(source, {ADDRESS[target]: [total, float(beat)]}, now=2.0 * beat)


def test_the_slow_direction_of_a_pair_is_named_with_its_rates() -> None:
    rates = Rates(SEATS[:2])
    told(rates, {("left", "right"): [6.0] * 5 + [0.6] * 3, ("right", "left"): [6.0] * 8})
    (found,) = rates.slowed(began=10.0, known=10.0)
    assert (found.flow, found.before, found.after) == (Flow("left", "right"), 6e6, 0.6e6)
    assert rates.named([found]) == "the link from left (eth0) to right (eth0), 600.0 kB/s instead of 6.0 MB/s,"


def test_the_host_that_all_slow_directions_share_is_the_one() -> None:
    rates = Rates(SEATS)
    told(rates, {pair: [8.0] * 5 + ([0.8] * 3 if "third" in pair else [7.9] * 3) for pair in RING})
    slowed = rates.slowed(began=10.0, known=10.0)
    assert {one.flow for one in slowed} == {Flow("third", "right"), Flow("left", "third")}
    assert rates.named(slowed) == "the link of third (eth0), 800.0 kB/s instead of 8.0 MB/s,"


def test_what_is_not_known_is_not_guessed() -> None:
    rates = Rates(SEATS[:2])
    assert rates.slowed(began=10.0, known=10.0) == []
    assert rates.named([]) == "a link between left and right"
    told(rates, {("left", "right"): [6.0] * 5})
    assert rates.slowed(began=10.0, known=10.0) == [], "nothing came since"


def test_a_new_connection_an_idle_moment_and_ranks_of_the_same_host_make_no_rate() -> None:
    rates = Rates(SEATS[:2])
    for beat, (num_bytes, busy_s) in enumerate([(5e6, 1.0), (1e6, 2.0), (1e6, 2.01)]):
        rates.take("left", {"10.0.0.2": [num_bytes, busy_s], "10.0.0.1": [num_bytes * 9, busy_s * 9]}, now=2.0 * beat)
    assert rates._samples == {}


def test_the_event_waits_for_rates_from_after_the_turn(tmp_path: Path) -> None:
    steps = tmp_path / "rank00.jsonl"
    steps.write_text("")
    news = LinkNews(Pace.from_end_of(steps, 0), SEATS[:2])

    def write(seconds: float, times: int) -> None:
        with steps.open("a") as file:
            file.write(f"{json.dumps({'step': 1, 'exchange_s': seconds})}\n" * times)

    told(news, {("left", "right"): [6.0] * 10 + [0.6] * 5})
    write(0.1, 30)
    assert news.sentences(now=20.0) == []
    write(0.2, 5)
    write(1.0, 10)
    assert news.sentences(now=22.0) == []
    assert news.sentences(now=29.0) == [
        "the link from left (eth0) to right (eth0), 600.0 kB/s instead of 6.0 MB/s, has become slow: exchanging "
        "gradients takes 1.00 s, 10 times the 0.10 s of before; training goes on"
    ]
    assert news.sentences(now=40.0) == [], "once is enough"
    write(0.1, 12)
    assert news.sentences(now=41.0) == ["gradients cross as fast as before: 0.10 s an exchange"]


def test_a_link_that_is_back_before_it_was_named_is_told_all_the_same(tmp_path: Path) -> None:
    steps = tmp_path / "rank00.jsonl"
    lines = [json.dumps({"step": 1, "exchange_s": seconds}) for seconds in [0.1] * 30 + [1.0] * 10 + [0.1] * 12]
    pace = Pace.from_end_of(steps, 0)
    steps.write_text("\n".join(lines) + "\n")
    first, second = LinkNews(pace, SEATS[:2]).sentences(now=1.0)
    assert first.startswith("a link between left and right has become slow: ") and second.startswith("gradients cross")


def test_time_in_which_the_peer_had_no_room_does_not_count() -> None:
    """As the kernel answers: address and inode, an attribute of another kind, then the counters."""
    counters = COUNTERS.pack(1_000_000, 5_000_000, 3_000_000)
    other = ATTRIBUTE.pack(7, 9) + bytes(4)
    found = FOUND.pack(socket.inet_aton("10.0.0.2"), 77) + other
    answer = found + ATTRIBUTE.pack(4 + len(counters), 2) + counters
    assert list(_connection(answer)) == [("10.0.0.2", 77, 1_000_000, 2.0)]
    older = found + ATTRIBUTE.pack(4 + 104, 2) + counters[:104]
    assert list(_connection(older)) == [], "a kernel that counts less says nothing"


def test_the_kernel_counts_what_a_process_sent_to_whom() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        there, _ = server.accept()
        with there:
            client.sendall(bytes(100_000))
            left = 100_000
            while left:
                left -= len(there.recv(left))
            found = flows([os.getpid()])["127.0.0.1"]
            assert 100_000 <= found[0] <= 100_002
            assert 0 <= found[1] < 10, "which a fast loopback may take no tick of the clock for"
            assert client.fileno() >= 0 and os.fstat(client.fileno()).st_ino in socket_inodes(os.getpid())
            assert flows([]) == {} and socket_inodes(2**22 + 1) == set()
