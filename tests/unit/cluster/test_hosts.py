"""`hosts.toml`: strict, with the line and likely meaning of a mistake; nothing in it becomes an option of SSH."""

from pathlib import Path

import pytest

from dragoman.cluster.hosts import Host, is_this_machine, read_hosts
from dragoman.core.errors import UserError


def read(tmp_path: Path, text: str) -> tuple[Host, ...]:
    path = tmp_path / "hosts.toml"
    path.write_text(text)
    return read_hosts(str(path))


def refused(tmp_path: Path, text: str) -> str:
    with pytest.raises(UserError) as error:
        read(tmp_path, text)
    return str(error.value).removeprefix(f"{tmp_path}/")


def test_a_file_names_hosts_with_all_that_they_need(tmp_path: Path) -> None:
    hosts = read(tmp_path, '[[hosts]]\nname = "left"\naddress = "10.0.0.1"\nport = 2222\n[[hosts]]\nname = "right"\n')
    assert hosts[0] == Host(name="left", address="10.0.0.1", port=2222)
    assert (hosts[1].address, hosts[1].interpreter) == ("right", "dragoman/venv/bin/python")


def test_names_on_the_command_line_are_addresses_with_users() -> None:
    hosts = read_hosts("10.0.0.1,me@gpu-2")
    assert [(host.name, host.address, host.user) for host in hosts] == [
        ("10.0.0.1", "10.0.0.1", ""),
        ("gpu-2", "gpu-2", "me"),
    ]


def test_a_misspelt_key_has_its_line_and_what_was_meant(tmp_path: Path) -> None:
    text = '[[hosts]]\naddress = "10.0.0.1"\nproceses = 2\n'
    assert refused(tmp_path, text) == "hosts.toml:3: unknown key hosts[0].proceses; did you mean processes?"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('address = "-oProxyCommand=evil"', "address '-oProxyCommand=evil' must be letters"),
        ('address = "a b"', "address 'a b' must be letters"),
        ('address = "a;reboot"', "must be letters"),
        ('address = "10.0.0.1"\nuser = "-x"', "user '-x' must be letters"),
        ('address = "10.0.0.1"\nuser = "a$(id)"', "user 'a$(id)' must be letters"),
        ('address = "10.0.0.1"\nkey = "-F/tmp/evil"', "key '-F/tmp/evil' is no path"),
        ('address = "10.0.0.1"\npython = "a\\nb"', "is no path"),
        ('address = "10.0.0.1"\ndirectory = "~/x"', "a relative one begins in the home directory"),
        ('address = "10.0.0.1"\nprivate_address = "fe80::1"', "is not an IPv4 address such as 10.0.0.1"),
        ("price_per_hour = 1.0", "it has neither a name nor an address"),
    ],
)
def test_words_that_could_harm_are_refused(tmp_path: Path, line: str, problem: str) -> None:
    assert problem in refused(tmp_path, f"[[hosts]]\n{line}\n")


def test_two_hosts_of_one_name_are_refused(tmp_path: Path) -> None:
    text = '[[hosts]]\naddress = "10.0.0.1"\n' * 2
    assert refused(tmp_path, text) == "hosts.toml: 2 hosts have the name 10.0.0.1; give each its own"


def test_no_file_and_no_host_are_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no .*absent\.toml; write one \[\[hosts\]\]"):
        read_hosts(str(tmp_path / "absent.toml"))
    assert refused(tmp_path, "") == "hosts.toml names no host; add [[hosts]] with an address"
    with pytest.raises(UserError, match="neither a name nor an address"):
        read_hosts("a,,b")


def test_this_machine_is_known_by_its_addresses() -> None:
    assert is_this_machine(Host(name="a", address="127.0.0.1"))
    assert is_this_machine(Host(name="a", address="localhost"))
    assert not is_this_machine(Host(name="a", address="192.0.2.1"))
    assert not is_this_machine(Host(name="a", address="no-such-name.invalid"))


def test_a_port_on_loopback_leads_elsewhere() -> None:
    assert not is_this_machine(Host(name="a", address="127.0.0.1", port=2222))
