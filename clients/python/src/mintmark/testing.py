"""Clients with a testing store, which has a virtual clock and captures messages. They have the methods `test.*` and their types.

    from mintmark.testing import TestingMintmark

    with TestingMintmark() as m:
        m.test.clock(advance_seconds=3600)

`IdentityProvider(m)` is an OpenID Connect provider for tests of a service. `AsyncTestingMintmark` and
`AsyncIdentityProvider` are the same for asyncio.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._client import Mintmark
from ._identity_provider import AsyncIdentityProvider as AsyncIdentityProvider
from ._identity_provider import IdentityProvider as IdentityProvider
from ._settings import ClientOptions, Path
from .generated.testing.test import TestMethods
from .generated.testing.types import *  # noqa: F403

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._async_testing import AsyncTestingMintmark as AsyncTestingMintmark


class TestingMintmark(Mintmark):
    """A client with a testing store, in memory by default: `m.test.clock(advance_seconds=3600)`."""

    # pytest must not collect this class.
    __test__ = False

    def __init__(self, store: Path | None = None, app: str | None = None, **options: Unpack[ClientOptions]) -> None:
        """The arguments are those of `Mintmark`. The store is in memory by default, and calls have a time limit of 60 seconds."""
        options["testing"] = True
        options.setdefault("timeout", 60)
        super().__init__(":memory:" if store is None and app is None else store, app, **options)
        self.test: TestMethods = TestMethods(self._call)
        """The methods `test.*`."""


def __getattr__(name: str) -> Any:
    """Imports the client for asyncio at its first use."""
    if name == "AsyncTestingMintmark":
        from ._async_testing import AsyncTestingMintmark

        return AsyncTestingMintmark
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
