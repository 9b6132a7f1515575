"""Every sentence of the preflight, from what machines say of themselves."""

from dragoman.cluster import findings
from dragoman.cluster.findings import Line
from dragoman.cluster.hosts import Host
from dragoman.cluster.machine import Interface
from dragoman.cluster.measure import Measured, rate_bytes_per_s, sizes_up_to
from dragoman.core.run_records import TimedExchange
from tests.unit.cluster.test_seats import ETH, LO, PUBLIC, machine


def said(lines: list[Line]) -> list[str]:
    return [str(line) for line in lines]


def test_a_line_reads_as_a_sentence() -> None:
    assert str(Line("disk", True, "enough")) == "✓ disk      enough"
    assert str(Line("disk", False, "full", "make room", "left")) == "✗ disk      left: full; make room"


def test_equal_versions_are_named_once() -> None:
    own = machine()
    assert said(findings.versions({"left": own, "right": machine()}, own)) == [
        "✓ versions  dragoman 1, torch 2.13.0+cpu, Python 3.11 everywhere"
    ]


def test_each_difference_is_named() -> None:
    other = machine(dragoman="2", python="3.12.1", torch=None)
    assert said(findings.versions({"right": other}, machine())) == [
        "✗ versions  right: has dragoman 2 (here 1), torch missing (here 2.13.0), Python 3.12 (here 3.11); "
        "run `dragoman check` with --install"
    ]
    assert "dragoman's own code x (here s)" in said(findings.versions({"right": machine(source="x")}, machine()))[0]


def test_another_build_of_the_same_torch_is_the_same() -> None:
    assert findings.all_good(findings.versions({"gpu": machine(torch="2.13.0+cu126")}, machine()))


def test_hosts_with_and_without_gpus_do_not_mix() -> None:
    assert said(findings.gpus({"a": machine(), "b": machine()})) == ["✓ gpu       none: training on CPUs"]
    assert said(findings.gpus({"a": machine(num_gpus=2), "b": machine(num_gpus=2)})) == ["✓ gpu       4 in all"]
    assert said(findings.gpus({"a": machine(num_gpus=2), "b": machine()})) == [
        "✗ gpu       b have no GPU, the others have; leave out the one or the other kind"
    ]


def test_clocks_may_differ_by_a_breath() -> None:
    assert said(findings.clocks({"a": 0.02, "b": -1.3})) == ["✓ clock     all within 1.3 s"]
    assert said(findings.clocks({"a": 61.0})) == [
        "✗ clock     a: its clock is 1 min 1 s ahead; set it, such as with `timedatectl set-ntp true`"
    ]
    assert "a: its clock is 1 min 1 s behind" in said(findings.clocks({"a": -61.0}))[0]


def test_room_that_is_unknown_is_not_called_enough() -> None:
    assert said(findings.room("disk", {"a": None}, {"a": 5}, "fix")) == ["✓ disk      unknown"]
    assert said(findings.room("disk", {"a": 10**9, "b": 10**6}, {"a": 10**7, "b": 10**7}, "make room")) == [
        "✗ disk      b: 1.0 MB free, 10.0 MB needed; make room"
    ]


def test_a_public_address_is_refused_unless_allowed() -> None:
    hosts, machines, known = [Host(name="a")], {"a": machine(LO, PUBLIC)}, {"a": PUBLIC.address}
    lines, found = findings.addresses(hosts, machines, known, may_be_public=False)
    assert "93.184.216.34 is a public address: anybody could speak to the ranks" in str(lines[0])
    assert found == {}
    lines, found = findings.addresses(hosts, machines, known, may_be_public=True)
    assert (said(lines), found) == (["✓ address   a 93.184.216.34 (eth1)"], {"a": PUBLIC})


def test_a_way_that_leaves_through_another_interface_is_told() -> None:
    found = {"a": ETH, "b": Interface("eth0", "10.0.0.2", None)}
    good = {"a": {"10.0.0.2": "10.0.0.1"}, "b": {"10.0.0.1": "10.0.0.2"}}
    assert findings.all_good(findings.routes(found, good))
    lines = said(findings.routes(found, {"a": {"10.0.0.2": "172.17.0.1"}, "b": {"10.0.0.1": None}}))
    assert "a: its way to b (10.0.0.2) leaves from 172.17.0.1, not from 10.0.0.1" in lines[0]
    assert "b: its way to a (10.0.0.1) has no route" in lines[1]


def test_closed_and_too_open_doors_are_told() -> None:
    lines = said(findings.doors([("a", "b", "no answer")], [("a", "93.184.216.34")]))
    assert lines[0].startswith("✗ ports     b does not let a in (no answer); open TCP ports")
    assert (
        lines[1] == "✗ ports     a: its ports are open at the public address 93.184.216.34; close them in the firewall"
    )
    assert findings.all_good(findings.doors([], []))


def measured(**others: object) -> Measured:
    exchanges = (TimedExchange(("a", "b"), 4096, 0.0005), TimedExchange(("a", "b"), 100_000_000, 4.0))
    values: dict[str, object] = {
        "is_sum_right": True, "exchanges": exchanges, "compute_step_s": 0.5, "last_backward_s": 0.25,
        "stolen_s_per_byte": None, "gpus": {}, "problems": {},
    }  # fmt: skip
    return Measured(**{**values, **others})  # type: ignore[arg-type]


def test_speed_stands_beside_the_claim() -> None:
    assert said(findings.wire(measured(), {"a": 10_000.0, "b": None})) == [
        "✓ exchange  a sum over all ranks is right",
        "✓ exchange  a–b: 200 Mb/s (the interface claims 10,000), 100.0 MB in 4.00 s, 4.1 kB in 0.5 ms",
        "✓ step      0.500 s of computing on the slowest rank",
    ]


def test_a_wrong_sum_and_a_failed_rank_are_told() -> None:
    assert said(findings.wire(measured(is_sum_right=False), {}))[0].startswith("✗ exchange  a sum over all ranks came")
    assert "b: Segmentation fault" in said(findings.wire(measured(problems={"b": "Segmentation fault"}), {}))[0]


def test_sizes_go_from_tiny_to_the_gradient() -> None:
    assert sizes_up_to(5_000_000) == [4096, 262_144, 1_048_576, 4_194_304, 5_000_000]
    assert sizes_up_to(1000) == [4096, 262_144]
    assert sizes_up_to(None)[-1] == 16_777_216


def test_the_rate_is_that_of_one_interface() -> None:
    assert rate_bytes_per_s(TimedExchange(("a", "b"), 100, 1.0)) == 100
    assert rate_bytes_per_s(TimedExchange(("a", "b", "c", "d"), 100, 1.0)) == 150
