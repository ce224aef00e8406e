"""Mintmark, an identity service in one process, for Python.

    from mintmark import Mintmark

    with Mintmark(store="shop.db") as m:
        pool = m.pool.create(name="shop", developer_provider="login.shop")
        minted = m.token.mint_for_developer(pool_id=pool.pool_id, logins={"login.shop": "alice"})

`AsyncMintmark` is the same for asyncio; `testing()` starts a fresh store in memory whose clock can be turned.
"""

from . import errors, types
from ._async import AsyncMintmark
from ._client import Mintmark
from ._testing import async_testing, testing
from .errors import *  # noqa: F403
from .generated.contract import __version__

__all__ = ["AsyncMintmark", "Mintmark", "__version__", "async_testing", "errors", "testing", "types"]
__all__ += errors.__all__
