"""The Python client of Mintmark, an identity service in one process.

    from mintmark import Mintmark

    with Mintmark(store="shop.db") as m:
        pool = m.pool.create(name="shop", developer_provider="login.shop")
        minted = m.token.mint_for_developer(pool_id=pool.pool_id, logins={"login.shop": "alice"})

`AsyncMintmark` is the client for asyncio. `mintmark.testing` has clients with an empty testing store in memory.
"""

from typing import TYPE_CHECKING, Any

# `as` marks a name as public for type checkers.
from . import errors as errors, types as types
from ._client import Mintmark as Mintmark
from ._hooks import HookAnswer as HookAnswer, HookRefused as HookRefused, HookRequest as HookRequest
from ._provider import CredentialsProvider as CredentialsProvider
from .errors import *  # noqa: F403
from .errors import (
    APIError as APIError,
    BinaryNotFoundError as BinaryNotFoundError,
    BinaryTooOldError as BinaryTooOldError,
    CallTimeoutError as CallTimeoutError,
    ClientClosedError as ClientClosedError,
    MintmarkError as MintmarkError,
    ProcessEndedError as ProcessEndedError,
    ProtocolError as ProtocolError,
)
from .generated.contract import __version__ as __version__
from .generated.options import Options as Options

if TYPE_CHECKING:
    from ._async import AsyncMintmark as AsyncMintmark
    from ._async_provider import AsyncCredentialsProvider as AsyncCredentialsProvider


def __getattr__(name: str) -> Any:
    """Imports the clients for asyncio at their first use, because importing asyncio takes longer than all other imports."""
    if name == "AsyncMintmark":
        from ._async import AsyncMintmark

        return AsyncMintmark
    if name == "AsyncCredentialsProvider":
        from ._async_provider import AsyncCredentialsProvider

        return AsyncCredentialsProvider
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
