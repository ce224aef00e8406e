"""The provider of temporary credentials for asyncio."""

import asyncio
import inspect
from typing import Any, Awaitable, Callable, Dict, Mapping, Optional, Union

from ._async import AsyncMintmark
from ._provider import Given, Opening, callback, closed_before, ready, taken
from .generated.errors import ProviderNotOpenError
from .generated.types import (
    CredentialsProviderAnswerReady, CredentialsProviderAnswerTokenRequired, read_credentials_provider_answer)

AsyncOnTokenRequired = Callable[[Dict[str, str], Optional[str]], Union[Given, Awaitable[Given]]]


class AsyncCredentialsProvider(Opening):
    """The credentials provider for asyncio. `on_token_required` is a coroutine function or a function."""

    def __init__(self, client: AsyncMintmark, pool_id: str, on_token_required: AsyncOnTokenRequired, **options: Any) -> None:
        """`options` are the arguments of `Opening`."""
        super().__init__(pool_id, **options)
        self._client = client
        self._on_token_required = callback(on_token_required)
        self._opening, self._asking = asyncio.Lock(), asyncio.Lock()

    async def get(self, refresh: bool = False) -> CredentialsProviderAnswerReady:
        """Returns valid credentials, with `identity_id` and `role_arn`. `refresh` renews them even if they are still valid."""
        return await self._ready("credentialsProvider.get", {"refresh": True} if refresh else {})

    async def identity_id(self) -> str:
        """Returns the ID of the identity."""
        return (await self._ready("credentialsProvider.identityId", {})).identity_id

    async def set_logins(self, logins: Mapping[str, str]) -> None:
        """Replaces the user's logins. The identity ID is kept, unless the logins are already linked to another identity."""
        self._params["logins"] = dict(logins)
        await self._call("credentialsProvider.setLogins", {"logins": dict(logins)})

    async def clear_credentials(self) -> None:
        """Discards the credentials and keeps the identity."""
        await self._call("credentialsProvider.clearCredentials", {})

    async def clear_keychain(self) -> None:
        """Discards the credentials, the identity and the logins. Call this when the user signs out or another user signs in."""
        self._params["logins"] = None
        await self._call("credentialsProvider.clearKeychain", {})

    async def close(self) -> None:
        """Closes the provider and discards its data in memory. The store keeps the identity ID under the provider's key."""
        if not self._is_closed and self._provider is not None:
            await self._client._call("credentialsProvider.close", {"provider": self._provider}, None, None)
        self._is_closed = True

    async def __aenter__(self) -> "AsyncCredentialsProvider":
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def _ready(self, method: str, params: Dict[str, Any]) -> CredentialsProviderAnswerReady:
        answer = read_credentials_provider_answer(await self._call(method, params))
        if not isinstance(answer, CredentialsProviderAnswerTokenRequired):
            return ready(answer)
        async with self._asking:
            # Another task may have submitted a token while this one waited for the lock.
            answer = read_credentials_provider_answer(await self._call(method, {}))
            if not isinstance(answer, CredentialsProviderAnswerTokenRequired):
                return ready(answer)
            given = self._on_token_required(dict(answer.logins), answer.identity_id)
            found = taken(await given if inspect.isawaitable(given) else given)
            return ready(read_credentials_provider_answer(await self._client._call("credentialsProvider.submitToken", {
                "continuationToken": answer.continuation_token, **found}, None, None)))

    async def _call(self, method: str, params: Dict[str, Any]) -> Any:
        provider = await self._open(None)
        try:
            return await self._client._call(method, {**params, "provider": provider}, None, None)
        except ProviderNotOpenError:
            # The process was restarted and no longer has the provider.
            return await self._client._call(method, {**params, "provider": await self._open(provider)}, None, None)

    async def _open(self, instead_of: Optional[str]) -> str:
        async with self._opening:
            if self._is_closed and self._provider is None:
                raise closed_before()
            if self._provider is None or (self._provider == instead_of and not self._is_closed):
                self._provider = str((await self._client._call("credentialsProvider.open", self._params, None, None))["provider"])
            return self._provider
