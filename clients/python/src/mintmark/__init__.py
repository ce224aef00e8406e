"""The Python client of Mintmark, an identity service in one process.

    from mintmark import Mintmark

    with Mintmark(store="shop.db") as m:
        pool = m.pool.create(name="shop", developer_provider="login.shop")
        minted = m.token.mint_for_developer(pool_id=pool.pool_id, logins={"login.shop": "alice"})

`AsyncMintmark` is the client for asyncio. `testing()` starts a new testing store in memory with a virtual clock.
"""

# `as` marks a name as public for type checkers.
from . import errors as errors, types as types
from ._async import AsyncMintmark as AsyncMintmark
from ._client import Mintmark as Mintmark
from ._provider import AsyncCredentialsProvider as AsyncCredentialsProvider, CredentialsProvider as CredentialsProvider
from ._testing import async_testing as async_testing, testing as testing
from .errors import *  # noqa: F403
from .generated.contract import __version__ as __version__
