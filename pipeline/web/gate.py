"""Access control of a review: this machine, this page, this tab.

A page of another site can make a browser send requests here. It can neither read an answer nor set our
headers, and it cannot pretend to be another origin; any other host name that
points at this address is refused.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

TOKEN_BYTES = 32
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Sent with every answer; there is none of CORS among them on purpose."""
ELSEWHERE = "This review is open in another tab. Reload this one to go on here."


class DeniedError(Exception):
    """A request that is not answered.

    Attributes:
        status: The status to answer with.
        moved: Whether the page lost its place to another tab.
    """

    def __init__(self, status: int, message: str, *, moved: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.moved = moved


def _secret() -> str:
    return secrets.token_urlsafe(TOKEN_BYTES)


@dataclass(slots=True)
class Gate:
    """The secrets of one review, and whose turn it is."""

    port: int  # where the review listens
    # In the address that the terminal prints; without it nothing can be changed, nor read.
    token: str = field(default_factory=_secret)
    csrf: str = field(default_factory=_secret)  # in the page that was given out for the token
    seat: str = ""  # the tab that was opened last

    def check_host(self, headers: Mapping[str, str]) -> None:
        """Refuse names that are not ours.

        Raises:
            DeniedError: If the request was sent to another name.
        """
        if headers.get("host", "") not in self._hosts:
            raise DeniedError(421, "This address is not served here.")

    def admits(self, token: str | None) -> bool:
        """Whether a page may be given out whole; False for none of it but the numbers.

        Raises:
            DeniedError: If a token is given, and it is wrong.
        """
        if not token:
            return False
        if not _equal(token, self.token):
            raise DeniedError(403, "This link is not the one that the terminal printed.")
        return True

    def take_seat(self) -> str:
        """Make the page that is given out now the one that may write."""
        self.seat = _secret()
        return self.seat

    def check_write(self, headers: Mapping[str, str]) -> None:
        """Refuse whatever this page, in the tab opened last, did not send.

        Raises:
            DeniedError: With the first thing that is wrong.
        """
        if headers.get("origin", "") not in {f"http://{host}" for host in self._hosts}:
            raise DeniedError(403, "This request comes from another page.")
        if headers.get("content-type", "").split(";")[0].strip() != "application/json":
            raise DeniedError(415, "This request is no JSON.")
        if not _equal(headers.get("x-dream-token", ""), self.token):
            raise DeniedError(
                403, "Read-only: this page was opened without the token that the terminal printed."
            )
        if not _equal(headers.get("x-csrf-token", ""), self.csrf):
            raise DeniedError(
                403, "This page is of an earlier review; open the link that the terminal printed."
            )
        if not _equal(headers.get("x-dream-seat", ""), self.seat):
            raise DeniedError(409, ELSEWHERE, moved=True)

    @property
    def address(self) -> str:
        """What a person opens."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    @property
    def _hosts(self) -> frozenset[str]:
        return frozenset({f"127.0.0.1:{self.port}", f"localhost:{self.port}"})


def _equal(given: str, held: str) -> bool:
    """Compare in constant time."""
    return bool(held) and hmac.compare_digest(given.encode(), held.encode())
