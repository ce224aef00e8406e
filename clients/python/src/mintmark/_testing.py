"""One line to a store for a test."""

from typing import Any, Callable, Optional, Sequence

from ._async import AsyncMintmark
from ._client import Mintmark
from ._settings import Path
from ._stderr import Destination


def testing(
    *, clock: Optional[int] = None, binary: Optional[Path] = None, timeout: Optional[float] = 60,
    stderr: Destination = "inherit", arguments: Sequence[str] = (),
    on_notification: Optional[Callable[[str, Any], Any]] = None,
) -> Mintmark:
    """A client of a new process with an empty testing store in memory: `with mintmark.testing() as m:`.

    Args:
        clock: Where its clock stands, in seconds since 1970; without it, at the real time.
        binary, timeout, stderr, arguments, on_notification: As in `Mintmark`.
    """
    return Mintmark(
        store=":memory:", testing=True, clock=clock, binary=binary, timeout=timeout, stderr=stderr, arguments=arguments,
        on_notification=on_notification,
    )


def async_testing(
    *, clock: Optional[int] = None, binary: Optional[Path] = None, timeout: Optional[float] = 60,
    stderr: Destination = "inherit", arguments: Sequence[str] = (),
    on_notification: Optional[Callable[[str, Any], Any]] = None,
) -> AsyncMintmark:
    """The same for asyncio: `async with mintmark.async_testing() as m:`."""
    return AsyncMintmark(
        store=":memory:", testing=True, clock=clock, binary=binary, timeout=timeout, stderr=stderr, arguments=arguments,
        on_notification=on_notification,
    )
