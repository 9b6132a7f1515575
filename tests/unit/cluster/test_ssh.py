"""SSH: what is typed for us, and what its complaints mean."""

import pytest

from dragoman.cluster.hosts import Host
from dragoman.cluster.ssh import by_hand, command, diagnosis

HOST = Host(name="right", address="10.0.0.2", user="me", port=2222, key="/keys/mine")


def test_nothing_is_asked_and_nothing_unknown_is_trusted() -> None:
    words = command(HOST, ["python", "-m", "x"])
    assert words[0] == "ssh"
    for option in ("BatchMode=yes", "StrictHostKeyChecking=yes", "ForwardAgent=no", "IdentitiesOnly=yes"):
        assert words[words.index(option) - 1] == "-o"
    assert words[words.index("-p") + 1] == "2222"
    assert words[words.index("-l") + 1] == "me"
    assert words[-3:] == ["--", "10.0.0.2", "python -m x"]


def test_the_users_own_choice_of_key_user_and_port_is_kept() -> None:
    words = command(Host(name="a", address="a"), ["x"])
    assert not {"-p", "-l", "-i", "-F"} & set(words)
    assert not any("UserKnownHostsFile" in word for word in words)


def test_words_reach_the_other_side_as_they_are() -> None:
    assert command(HOST, ["a b", "$(id)", ";x", "'"])[-1] == """'a b' '$(id)' ';x' ''"'"''"""


@pytest.mark.parametrize(
    ("code", "complaint", "problem", "fix"),
    [
        (
            255,
            "Host key verification failed.",
            "its SSH host key is not known",
            "ssh -p 2222 -i /keys/mine me@10.0.0.2",
        ),
        (255, "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.", "changed", "-R"),
        (255, "me@10.0.0.2: Permission denied (publickey).", "SSH does not let us in", "ssh-copy-id"),
        (255, "ssh: connect to host 10.0.0.2 port 22: Connection refused", "nothing answers", "see that it runs"),
        (255, "ssh: connect to host 10.0.0.2 port 22: Connection timed out", "it does not answer", "see that it runs"),
        (255, "ssh: Could not resolve hostname right: Name unknown", "its name is not known here", "works"),
        (127, "bash: dragoman/venv/bin/python: No such file", "there is no dragoman/venv/bin/python", "--install"),
        (1, "/x/python: No module named dragoman", "has no Dragoman", "--install"),
        (1, "ModuleNotFoundError: No module named 'dragoman.cluster'", "has no Dragoman", "--install"),
        (1, "Segmentation fault", "its agent did not start: Segmentation fault", "works"),
        (3, "", "its agent did not start: exit code 3", "works"),
    ],
)
def test_each_complaint_has_a_meaning_and_a_cure(code: int, complaint: str, problem: str, fix: str) -> None:
    found = diagnosis(HOST, code, complaint)
    assert problem in found.text
    assert fix in found.fix


def test_a_person_types_as_little_as_possible() -> None:
    assert by_hand(Host(name="a", address="gpu-1")) == "ssh gpu-1"
