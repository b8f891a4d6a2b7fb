"""The tests themselves: none of them reaches another machine."""

import socket

import pytest


def test_a_connection_to_another_machine_fails_and_one_to_this_machine_works() -> None:
    """Also where the caller takes an OSError for an answer."""
    with socket.socket() as outside, pytest.raises(AssertionError, match=r"may not connect to 192\.0\.2\.1"):
        outside.connect(("192.0.2.1", 443))
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
