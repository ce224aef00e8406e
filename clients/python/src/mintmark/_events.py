"""Iterates over the events of the store, across restarts of the process."""

import queue
from typing import TYPE_CHECKING, Any, AsyncIterator, Dict, Iterator, Optional, Sequence

from ._errors import MintmarkError
from ._typed import params_of
from .generated.types import SecurityEvent

if TYPE_CHECKING:
    from ._async import AsyncMintmark
    from ._client import Mintmark

EVENT = "events/occurred"
# How often an iterator looks whether its process has been replaced, in seconds.
LOOK = 0.5


def request(types: Optional[Sequence[str]], after: Optional[str]) -> Dict[str, Any]:
    """Returns the parameters of a subscription."""
    return {name: value for name, value in (("types", None if types is None else [*types]), ("after", after)) if value is not None}


def is_later(params: Any, after: str) -> bool:
    """Returns whether an event has not been returned yet. A new subscription repeats events that are still in the queue."""
    return int(params["cursor"]) > int(after)


def follow(client: "Mintmark", types: Optional[Sequence[str]], after: Optional[str]) -> Iterator[SecurityEvent]:
    arrived: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
    listeners, put = client._notify.listeners, arrived.put
    listeners.append(put)
    process = None
    try:
        while True:
            if process is None or process is not client._process or process.ended is not None:
                cursor = client.call("events.subscribe", request(types, after)).cursor
                after = cursor if after is None else after
                process = client._process
            try:
                params = arrived.get(timeout=LOOK)
            except queue.Empty:
                continue
            if is_later(params, after or "0"):
                after = params["cursor"]
                yield params_of(EVENT, params)
    finally:
        listeners.remove(put)
        try:
            if process is not None and process is client._process and process.ended is None:
                client.call("events.unsubscribe")
        except MintmarkError:
            pass  # The subscription has ended with the process.


async def follow_async(
    client: "AsyncMintmark", types: Optional[Sequence[str]], after: Optional[str]
) -> AsyncIterator[SecurityEvent]:
    import asyncio  # Programs with threads do not load it.

    arrived: "asyncio.Queue[Any]" = asyncio.Queue()
    listeners, put = client._event_listeners, arrived.put_nowait
    listeners.append(put)
    process = None
    try:
        while True:
            if process is None or process is not client._process or await process.ended() is not None:
                cursor = (await client.call("events.subscribe", request(types, after))).cursor
                after = cursor if after is None else after
                process = client._process
            try:
                params = await asyncio.wait_for(arrived.get(), LOOK)
            except asyncio.TimeoutError:
                continue
            if is_later(params, after or "0"):
                after = params["cursor"]
                yield params_of(EVENT, params)
    finally:
        listeners.remove(put)
        try:
            if process is not None and process is client._process and await process.ended() is None:
                await client.call("events.unsubscribe")
        except MintmarkError:
            pass  # The subscription has ended with the process.
