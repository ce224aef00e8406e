"""Fixtures for pytest: a Mintmark of the test's own, its clock and its outbox. Installed with the package; nothing is to be imported.

    def test_sign_up(mintmark, mintmark_clock, mintmark_outbox):
        step = mintmark.sign_up.start(username="alice@example.com")
        mintmark.sign_up.submit_code(continuation_token=step.continuation_token, code=mintmark_outbox.code("alice@example.com"))
        mintmark_clock.advance(hours=1)

The settings of pytest.ini, or of [tool.pytest.ini_options]: `mintmark_scope = module` (or `class`, `package`, `session`) lets the tests there share
one process, which is as new before each test; `mintmark_binary` names the program.
"""

import datetime
import os
from types import TracebackType
from typing import Any, Iterator, List, NoReturn, Optional, Union

import pytest

from ._client import Mintmark
from ._errors import ClientClosed, ConnectionLost
from ._testing import testing
from .generated.types import SentMessage

SCOPES = ("function", "class", "module", "package", "session")


class Clock:
    """The clock of a testing store. Times are seconds since 1970, or `datetime`s with a time zone."""

    def __init__(self, client: Mintmark) -> None:
        self._client = client

    def now(self) -> int:
        """What it shows."""
        return self._client.test.clock().now

    def freeze(self, at: Union[int, datetime.datetime, None] = None) -> int:
        """Stops it, at a time or where it is."""
        return self._client.test.clock(freeze=True, set_at=None if at is None else seconds(at)).now

    def run(self) -> int:
        """Lets it run on."""
        return self._client.test.clock(freeze=False).now

    def set(self, at: Union[int, datetime.datetime]) -> int:
        """Sets it."""
        return self._client.test.clock(set_at=seconds(at)).now

    def advance(self, by: Union[float, datetime.timedelta] = 0, **more: float) -> int:
        """Moves it on, by seconds, by a `datetime.timedelta` or by what that takes: `advance(hours=1)`."""
        time = (by if isinstance(by, datetime.timedelta) else datetime.timedelta(seconds=by)) + datetime.timedelta(**more)
        return self._client.test.clock(advance_seconds=int(time.total_seconds())).now


class Outbox:
    """The mails and text messages that a testing store would have sent."""

    def __init__(self, client: Mintmark) -> None:
        self._client = client

    def messages(self, to: Optional[str] = None) -> List[SentMessage]:
        """All of them, or those to one address or number."""
        return self._client.test.outbox(to=to).messages

    def last(self, to: Optional[str] = None) -> SentMessage:
        """The last one; a test that finds none fails."""
        found = self.messages(to)
        if not found:
            self._missing("message", to)
        return found[-1]

    def code(self, to: Optional[str] = None) -> str:
        """The code in the last one that has a code."""
        found = [each.code for each in self.messages(to) if each.code]
        if not found:
            self._missing("code", to)
        return found[-1]

    def _missing(self, what: str, to: Optional[str]) -> NoReturn:
        others = list(dict.fromkeys(each.to for each in self.messages()))
        sent = f"messages were sent to {', '.join(others)}" if others else "no messages were sent"
        pytest.fail(f"no {what} was sent{'' if to is None else ' to ' + to}; {sent}", pytrace=False)


def seconds(at: Union[int, datetime.datetime]) -> int:
    if isinstance(at, int):
        return at
    if at.tzinfo is None:
        raise ValueError("name the time zone of a datetime, such as datetime.timezone.utc")
    return int(at.timestamp())


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("mintmark_scope", f"which tests share a Mintmark process: {', '.join(SCOPES)}", default="function")
    parser.addini("mintmark_binary", "the program; without it MINTMARK_BINARY, else mintmark on the PATH", default="")


def pytest_configure(config: pytest.Config) -> None:
    named = config.getini("mintmark_scope")
    if named not in SCOPES:
        raise pytest.UsageError(f"mintmark_scope is one of {', '.join(SCOPES)}, not {named}")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]") -> None:
    """The traceback of a call that failed ends where the test made it, unless everything is wanted."""
    if call.excinfo is None or item.config.getoption("fulltrace", False) or item.config.getoption("usepdb", False):
        return
    own = os.path.dirname(__file__) + os.sep
    last: Optional[TracebackType] = None
    each: Optional[TracebackType] = call.excinfo.tb
    while each is not None:
        if not each.tb_frame.f_code.co_filename.startswith(own):
            last = each
        each = each.tb_next
    if last is not None:
        last.tb_next = None


def scope(fixture_name: str, config: pytest.Config) -> Any:
    return config.getini("mintmark_scope")


class Shared:
    """The process that the tests of one `mintmark_scope` share."""

    def __init__(self, binary: Optional[str]) -> None:
        self._binary = binary
        self.client = testing(binary=binary)

    def make_new(self) -> None:
        """Also where a test before has ended the process."""
        try:
            self.client.test.reset()
        except (ConnectionLost, ClientClosed):
            self.close()
            self.client = testing(binary=self._binary)

    def close(self) -> None:
        # Nothing is kept: what is still asked of it, such as a wait for a mail, is not waited for.
        self.client.close(grace=1)


@pytest.fixture(scope=scope)
def mintmark_process(request: pytest.FixtureRequest) -> Iterator[Shared]:
    """The process that the tests of one `mintmark_scope` share."""
    shared = Shared(request.config.getini("mintmark_binary") or None)
    yield shared
    shared.close()


@pytest.fixture
def mintmark(request: pytest.FixtureRequest, mintmark_process: Shared) -> Mintmark:
    """A client of a fresh Mintmark: an empty testing store in memory."""
    if request.config.getini("mintmark_scope") != "function":
        mintmark_process.make_new()
    return mintmark_process.client


@pytest.fixture
def mintmark_clock(mintmark: Mintmark) -> Clock:
    """The clock of the test's Mintmark."""
    return Clock(mintmark)


@pytest.fixture
def mintmark_outbox(mintmark: Mintmark) -> Outbox:
    """The messages that the test's Mintmark would have sent."""
    return Outbox(mintmark)
