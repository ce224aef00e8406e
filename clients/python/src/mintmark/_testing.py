"""Functions that start a process with a testing store."""

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
    """Starts a process with an empty testing store in memory and returns its client: `with mintmark.testing() as m:`.

    Args:
        clock: The virtual clock, in seconds since 1970-01-01 UTC. Defaults to the real time.
        binary, timeout, stderr, arguments, on_notification: The arguments of `Mintmark`.
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
    """Returns a client for asyncio with a testing store: `async with mintmark.async_testing() as m:`."""
    return AsyncMintmark(
        store=":memory:", testing=True, clock=clock, binary=binary, timeout=timeout, stderr=stderr, arguments=arguments,
        on_notification=on_notification,
    )
