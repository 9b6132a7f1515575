"""Clusters as people write them, and the catalogue behind."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.errors import UserError
from dragoman.core.run_records import HostRecord, PreflightRecord, TimedExchange
from dragoman.planner import hardware, machines, offers
from dragoman.planner.hardware import GPUS, PRIORS, find_gpu, prior
from dragoman.planner.machines import from_preflight, parse

PORT = 1448 / 1538


def test_the_example_of_the_readme_is_understood() -> None:
    found = parse("2 hosts x 2 V100, 1 Gb/s, $3.06/h")
    assert (found.num_hosts, found.ranks_per_host, found.num_ranks, found.device) == (2, 2, 4, "V100")
    assert found.link is not None
    assert found.link.bytes_per_s == pytest.approx(125e6 * PORT)
    assert found.price_per_hour == pytest.approx(6.12)
    assert str(found) == "2 hosts x 2 V100, 117.7 MB/s each way, $6.12/h in all"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4 A100", "1 host x 4 A100"),
        ("4 A100, 8 USD/hour", "1 host x 4 A100, $8.00/h in all"),
        ("A100", "1 host x 1 A100"),
        ("1 host x 4 A100 80GB", "1 host x 4 A100 80GB"),
        ("2 x p3.8xlarge", "2 hosts x 4 V100 SXM, 588.4 MB/s each way, $24.48/h in all"),
        ("p3.8xlarge", "1 host x 4 V100 SXM, $12.24/h in all"),
        ("2 hosts x 1 CPU, 100 Mb/s", "2 hosts x 1 CPU, 11.8 MB/s each way"),
        ("2 nodes × 2 V100s, $6/h in all, 240 MB/s", "2 hosts x 2 V100, 240.0 MB/s each way, $6.00/h in all"),
        (
            "2 machines with 2 RTX 3090, 10 Gbps, $0.5/h a GPU",
            "2 hosts x 2 RTX 3090, 1.2 GB/s each way, $2.00/h in all",
        ),
        ("2 hosts x 2 Tesla V100-PCIE-16GB, 1000 Mbit/s", "2 hosts x 2 V100, 117.7 MB/s each way"),
    ],
)
def test_machines_are_read(text: str, expected: str) -> None:
    assert str(parse(text)) == expected


EXAMPLE = "write it as '2 hosts x 2 V100, 1 Gb/s, $3.06/h'"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", f"cannot read '' as machines; {EXAMPLE}"),
        ("2", f"cannot read '2' as machines; {EXAMPLE}"),
        ("2 hosts x 2, 1 Gb/s", f"cannot read '2 hosts x 2' as machines; {EXAMPLE}"),
        ("2 hosts x 2 V100", f"2 hosts need a link between them; add one: {EXAMPLE}"),
        ("2 hosts x 2 V1000, 1 Gb/s", "the catalogue has no GPU 'V1000'; did you mean V100?"),
        ("2 hosts x 2 Abacuses, 1 Gb/s", "the catalogue has no GPU 'Abacuses'; known are P100, "),
        ("2 x p3.9xlarge", "the catalogue has no instance type 'p3.9xlarge'; did you mean p3.8xlarge?"),
        ("3 hosts x 1 p3.8xlarge", "p3.8xlarge says itself how many GPUs it has; write it as '3 x p3.8xlarge'"),
        ("2 hosts x 2 V100, 0 Gb/s", "a link of 0 Gb/s carries nothing; name its rate, such as 1 Gb/s"),
        ("2 hosts x 2 V100, 1 Gb", "Gb in '1 Gb' is no unit of a link; use Gb/s or Mb/s, or MB/s for a measured rate"),
        ("2 hosts x 2 V100, 1.2.3 Gb/s", f"'1.2.3' in '1.2.3 Gb/s' is no number; {EXAMPLE}"),
        ("2 hosts x 2 V100, -1 Gb/s", f"cannot read '-1 Gb/s' in the cluster; {EXAMPLE}"),
        ("2 hosts x 2 V100, 1 Gb/s, 2 Gb/s", f"the cluster names its link twice; {EXAMPLE}"),
        ("2 hosts x 2 V100, 1 Gb/s, $1/h, $2/h", f"the cluster names its price twice; {EXAMPLE}"),
        (
            "2 hosts x 2 V100, 1 Gb/s, .06/h",
            "the price '.06/h' has no $; put the cluster in single quotes: a shell swallows it in others",
        ),
        ("2 hosts x 2 V100, 1 Gb/s, cheap", f"cannot read 'cheap' in the cluster; {EXAMPLE}"),
        ("2 hosts x 0 V100, 1 Gb/s", "0 GPUs a host cannot be planned; name 1 to 64"),
        ("0 hosts x 2 V100, 1 Gb/s", "0 hosts cannot be planned; name 1 to 4,096"),
        ("0 x p3.8xlarge", "0 hosts cannot be planned; name 1 to 4,096"),
    ],
)
def test_what_is_not_understood_is_explained(text: str, problem: str) -> None:
    with pytest.raises(UserError) as error:
        parse(text)
    assert str(error.value).startswith(problem)


@given(
    st.text(max_size=40)
    | st.from_regex(r"[0-9]{0,3} ?(hosts?)? ?x? ?[0-9]{0,2} ?[A-Z0-9 ]{0,8}(, ?[0-9.]{0,4} ?[GMb/s]{0,4})?")
)
def test_no_text_does_worse_than_a_sentence(text: str) -> None:
    try:
        found = parse(text)
    except UserError as error:
        assert str(error)
    else:
        assert found.num_ranks >= 1


@given(st.floats(0.001, 1000))
def test_a_thousand_megabits_are_a_gigabit(rate: float) -> None:
    giga, mega = (
        parse(f"2 hosts x 1 T4, {number:.6f} {unit}") for number, unit in ((rate, "Gb/s"), (1000 * rate, "Mb/s"))
    )
    assert giga.link is not None and mega.link is not None
    assert giga.link.bytes_per_s == pytest.approx(mega.link.bytes_per_s, rel=1e-3)


# The catalogue


@pytest.mark.parametrize("name", list(GPUS))
def test_every_gpu_has_a_source_and_numbers_that_can_be(name: str) -> None:
    gpu = GPUS[name]
    assert any(character.isdigit() for character in gpu.source) and "NVIDIA" in gpu.source
    assert 5e12 < gpu.fp32 < 1e14 and gpu.fp32 < gpu.half < 1e15
    assert 8 * 2**30 < gpu.memory_bytes <= 80 * 2**30
    assert 3e11 <= gpu.memory_bytes_per_s < 4e12
    assert 50 < gpu.power_w <= 700
    assert find_gpu(name) is gpu


def test_aliases_and_offers_name_gpus_of_the_catalogue_and_sources_are_given() -> None:
    for alias, name in hardware.ALIASES.items():
        assert find_gpu(alias) is GPUS[name]
    for offer in offers.OFFERS.values():
        assert offer.gpu in GPUS and offer.source and offer.price_per_hour > 0
    for rate, source in offers.LINKS.values():
        assert rate > 0 and "802.3" in source


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("NVIDIA A100-SXM4-40GB", "A100 SXM"),
        ("Tesla P100-PCIE-16GB", "P100"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("NVIDIA H100 80GB HBM3", "H100 SXM"),
        ("t4", "T4"),
    ],
)
def test_gpus_are_found_by_the_names_that_drivers_give(written: str, name: str) -> None:
    assert find_gpu(written).name == name


def test_priors_lie_in_their_range_and_name_a_source() -> None:
    for expected in PRIORS.values():
        assert 0 < expected.low <= expected.share <= expected.high < 1
        assert expected.source


def test_priors_follow_precision_and_width() -> None:
    v100, p100 = GPUS["V100"], GPUS["P100"]
    assert prior(v100, "fp16", 1024).share == 0.33
    assert prior(v100, "fp16", 512).share == 0.20
    assert prior(v100, "fp32", 512).share == 0.42
    assert prior(p100, "fp16", 512).source.startswith("a guess of ours: 16 bits without tensor cores")


def test_bf16_where_there_is_none_is_refused() -> None:
    with pytest.raises(UserError, match=r"V100 has no bf16 arithmetic; set training\.precision = auto"):
        GPUS["V100"].peak("bf16")


# Machines that were measured


def host(name: str, gpu: str | None = "Tesla V100-PCIE-16GB", price: float | None = 3.0, ranks: int = 2) -> HostRecord:
    return HostRecord(name, "10.0.0.1", "eth0", 1000.0, ranks, 8, None, gpu, price)


def measured(*hosts: HostRecord, exchanges: bool = True) -> PreflightRecord:
    names = tuple(one.name for one in hosts)
    timed = tuple(TimedExchange(names, size, 0.001 + size / 1e8) for size in (10**5, 10**7)) if exchanges else ()
    return PreflightRecord(1, "2026-01-02T03:04:05Z", hosts, timed, 0.5)


def test_machines_are_taken_from_the_preflight() -> None:
    found = from_preflight(measured(host("a"), host("b")))
    assert str(found) == "2 hosts x 2 V100, 100.0 MB/s each way, $6.00/h in all"
    assert found.compute_step_s == 0.5
    assert found.link_source == "measured by the preflight of 2026-01-02T03:04:05Z"


def test_a_price_that_is_missing_leaves_the_whole_unknown() -> None:
    assert from_preflight(measured(host("a"), host("b", price=None))).price_per_hour is None


@pytest.mark.parametrize(
    ("record", "problem"),
    [
        (measured(), "the preflight found no hosts"),
        (measured(host("a"), host("b", ranks=1)), "the hosts differ in GPUs or processes"),
        (measured(host("a"), host("b"), exchanges=False), "the preflight timed no exchange between the hosts"),
        (measured(host("a", gpu="Voodoo 2")), "the catalogue has no GPU 'Voodoo 2'"),
    ],
)
def test_a_preflight_that_does_not_say_enough_is_refused(record: PreflightRecord, problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        from_preflight(record)


def test_packing_costs_a_cpu_something() -> None:
    assert machines.parse("2 hosts x 1 CPU, 1 Gb/s").wire.codecs == machines.CPU_CODECS
    assert machines.parse("2 hosts x 1 T4, 1 Gb/s").wire.codecs.eight_bits_s_per_byte == 0


def test_one_host_has_its_share_of_the_price_and_no_link() -> None:
    alone = machines.parse("4 hosts x 2 V100, 1 Gb/s, $3/h").on_one_host()
    assert str(alone) == "1 host x 2 V100, $3.00/h in all"
