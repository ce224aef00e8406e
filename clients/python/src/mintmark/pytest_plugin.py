"""pytest fixtures: a Mintmark client for one test, its clock, its outbox and its identity provider. They are available after installation, without an import.

    def test_sign_up(mintmark, mintmark_clock, mintmark_outbox):
        step = mintmark.sign_up.start(username="alice@example.com")
        mintmark.sign_up.submit_code(continuation_token=step.continuation_token, code=mintmark_outbox.code("alice@example.com"))
        mintmark_clock.advance(hours=1)

    def test_orders(mintmark_idp):
        service = Service(mintmark_idp.issuer, mintmark_idp.jwks_url, mintmark_idp.audience)
        assert service.get(mintmark_idp.token()).status == 200
        assert service.get(mintmark_idp.expired()).status == 401

Settings in pytest.ini or [tool.pytest.ini_options]: `mintmark_scope = module` (or `class`, `package`, `session`) lets tests share one
process, whose store is reset before each test. `mintmark_binary` names the program.
"""

import datetime
import os
from types import TracebackType
from typing import Any, Iterator, NoReturn, Optional, Sequence, Union

import pytest

from ._errors import ClientClosedError, ProcessEndedError
from .generated.testing.types import SentMessage
from .testing import IdentityProvider, TestingMintmark

SCOPES = ("function", "class", "module", "package", "session")


class Clock:
    """The virtual clock of a testing store. Times are `datetime`s with a time zone, or seconds since 1970."""

    def __init__(self, client: TestingMintmark) -> None:
        self._client = client

    def now(self) -> datetime.datetime:
        """Returns the current time."""
        return self._client.test.clock().now

    def freeze(self, at: Union[int, datetime.datetime, None] = None) -> datetime.datetime:
        """Stops the clock, at the given time or the current one."""
        return self._client.test.clock(freeze=True, set_at=at).now

    def run(self) -> datetime.datetime:
        """Lets the clock run again."""
        return self._client.test.clock(freeze=False).now

    def set(self, at: Union[int, datetime.datetime]) -> datetime.datetime:
        """Sets the clock."""
        return self._client.test.clock(set_at=at).now

    def advance(self, by: Union[float, datetime.timedelta] = 0, **more: float) -> datetime.datetime:
        """Advances the clock by seconds, by a `datetime.timedelta`, or by its keyword arguments: `advance(hours=1)`."""
        time = (by if isinstance(by, datetime.timedelta) else datetime.timedelta(seconds=by)) + datetime.timedelta(**more)
        return self._client.test.clock(advance_seconds=int(time.total_seconds())).now


class Outbox:
    """The emails and text messages that a testing store has captured."""

    def __init__(self, client: TestingMintmark) -> None:
        self._client = client

    def messages(self, to: Optional[str] = None) -> Sequence[SentMessage]:
        """Returns all messages, or those to one address or phone number."""
        return self._client.test.outbox(to=to).messages

    def last(self, to: Optional[str] = None) -> SentMessage:
        """Returns the last message. The test fails if there is none."""
        found = self.messages(to)
        if not found:
            self._missing("message", to)
        return found[-1]

    def code(self, to: Optional[str] = None) -> str:
        """Returns the code of the last message that contains a code. The test fails if there is none."""
        found = [each.code for each in self.messages(to) if each.code]
        if not found:
            self._missing("code", to)
        return found[-1]

    def _missing(self, what: str, to: Optional[str]) -> NoReturn:
        others = list(dict.fromkeys(each.to for each in self.messages()))
        sent = f"messages were sent to {', '.join(others)}" if others else "no messages were sent"
        pytest.fail(f"no {what} was sent{'' if to is None else ' to ' + to}; {sent}", pytrace=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("mintmark_scope", f"which tests share a Mintmark process: {', '.join(SCOPES)}", default="function")
    parser.addini("mintmark_binary", "the program; without it MINTMARK_BINARY, the program in the wheel, or mintmark on the PATH", default="")


def pytest_configure(config: pytest.Config) -> None:
    named = config.getini("mintmark_scope")
    if named not in SCOPES:
        raise pytest.UsageError(f"mintmark_scope is one of {', '.join(SCOPES)}, not {named}")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]") -> None:
    """Ends the traceback of a failed call at the line in the test, unless full tracebacks are requested."""
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
        self.client: TestingMintmark = TestingMintmark(binary=binary)

    def make_new(self) -> None:
        """Resets the store, or starts a new process if a previous test has ended it."""
        try:
            self.client.test.reset()
        except (ProcessEndedError, ClientClosedError):
            self.close()
            self.client = TestingMintmark(binary=self._binary)

    def close(self) -> None:
        # The store is discarded, so calls that are still waiting, such as for an email, are not awaited.
        self.client.close(grace=1)


@pytest.fixture(scope=scope)
def mintmark_process(request: pytest.FixtureRequest) -> Iterator[Shared]:
    """The process that the tests of one `mintmark_scope` share."""
    shared = Shared(request.config.getini("mintmark_binary") or None)
    yield shared
    shared.close()


@pytest.fixture
def mintmark(request: pytest.FixtureRequest, mintmark_process: Shared) -> TestingMintmark:
    """A client of Mintmark with an empty testing store in memory."""
    if request.config.getini("mintmark_scope") != "function":
        mintmark_process.make_new()
    return mintmark_process.client


@pytest.fixture
def mintmark_clock(mintmark: TestingMintmark) -> Clock:
    """The virtual clock of the test's store."""
    return Clock(mintmark)


@pytest.fixture
def mintmark_outbox(mintmark: TestingMintmark) -> Outbox:
    """The messages that the test's store has captured."""
    return Outbox(mintmark)


@pytest.fixture
def mintmark_idp(mintmark: TestingMintmark) -> IdentityProvider:
    """An OpenID Connect provider on 127.0.0.1 with the accounts of the test's store. A service under test can trust it."""
    return IdentityProvider(mintmark)
