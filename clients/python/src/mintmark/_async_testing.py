"""The client for asyncio with a testing store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._async import AsyncMintmark
from ._settings import ClientOptions, Path
from .generated.testing.test import AsyncTestMethods

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncTestingMintmark(AsyncMintmark):
    """A client for asyncio with a testing store, in memory by default: `await m.test.clock(advance_seconds=3600)`."""

    # pytest must not collect this class.
    __test__ = False

    def __init__(self, store: Path | None = None, app: str | None = None, **options: Unpack[ClientOptions]) -> None:
        """The arguments are those of `AsyncMintmark`. The store is in memory by default, and calls have a time limit of 60 seconds."""
        options["testing"] = True
        options.setdefault("timeout", 60)
        super().__init__(":memory:" if store is None and app is None else store, app, **options)
        self.test: AsyncTestMethods = AsyncTestMethods(self._call)
        """The methods `test.*`."""
