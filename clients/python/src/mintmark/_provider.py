"""The provider of temporary credentials, with tokens that the application's backend mints."""

import threading
from typing import Any, Callable, Dict, Mapping, Optional, Protocol, Union

from ._client import Mintmark
from ._errors import ClientClosedError, ProtocolError
from .generated.errors import ProviderNotOpenError
from .generated.types import (
    CredentialsProviderAnswer, CredentialsProviderAnswerReady, CredentialsProviderAnswerTokenRequired, read_credentials_provider_answer)


class IdentityToken(Protocol):
    """The return value of a backend, such as `types.TokenMintForDeveloperResult`."""

    @property
    def identity_id(self) -> str: ...

    @property
    def token(self) -> str: ...


Given = Union[IdentityToken, Mapping[str, Any]]
"""An `IdentityToken`, or its JSON with `identityId` and `token`."""

OnTokenRequired = Callable[[Dict[str, str], Optional[str]], Given]


def taken(given: Any) -> Dict[str, Any]:
    """Converts the return value of a backend to the parameters of `credentialsProvider.submitToken`."""
    if isinstance(given, Mapping):
        found = {"identityId": given.get("identityId", given.get("identity_id")), "token": given.get("token")}
    else:
        found = {"identityId": getattr(given, "identity_id", None), "token": getattr(given, "token", None)}
    if None in found.values():
        raise TypeError(
            "on_token_required gives identity_id and token, as token.mint_for_developer answered them: its result, or a dict; "
            f"it gave a {type(given).__name__}")
    return found


def ready(answer: CredentialsProviderAnswer) -> CredentialsProviderAnswerReady:
    """Returns a result that is available.

    Raises: ProtocolError: The state is unknown or needs another token.
    """
    if isinstance(answer, CredentialsProviderAnswerReady):
        return answer
    state = answer.to_dict().get("state")
    raise ProtocolError(f"The credentials provider returned the state {state!r}, which this client does not support. Update the client.")


def callback(on_token_required: Any) -> Any:
    if not callable(on_token_required):
        raise TypeError(f"on_token_required is a function of logins and identity_id, not a {type(on_token_required).__name__}")
    return on_token_required


class Opening:
    """The parameters with which a provider is opened, and opened again after its process has ended."""

    def __init__(
        self, pool_id: str, *, key: str = "default", logins: Optional[Mapping[str, str]] = None, flow: Optional[str] = None,
        role_arn: Optional[str] = None, custom_role_arn: Optional[str] = None, refresh_ahead_seconds: Optional[int] = None,
    ) -> None:
        """
        Args:
            pool_id: The pool of the user.
            key: The name of the stored identity, for example an installation, a device or a profile.
            logins: The logins of the user. Defaults to a guest.
            flow: `enhanced`, or `basic` to assume a role with a token.
            role_arn: The role of the basic flow.
            custom_role_arn: The role of the enhanced flow, if the token offers several roles.
            refresh_ahead_seconds: The time before expiration at which credentials are renewed, in seconds. Defaults to 600.
        """
        self._params: Dict[str, Any] = {
            "poolId": pool_id, "key": key, "logins": None if logins is None else dict(logins), "flow": flow, "roleArn": role_arn,
            "customRoleArn": custom_role_arn, "refreshAheadSeconds": refresh_ahead_seconds, "tokenSource": "caller",
        }
        self._provider: Optional[str] = None
        self._is_closed = False


def closed_before() -> ClientClosedError:
    """Returns the error for a provider that was closed before its first use."""
    return ClientClosedError("This CredentialsProvider was closed. Make another one.")


class CredentialsProvider(Opening):
    """Provides valid temporary credentials of one user and renews them when necessary.

    If the application's backend must issue a token, `on_token_required(logins, identity_id)` is called. It returns the result of
    `token.mint_for_developer`. If it raises, the call that needs the token raises the same exception. Safe for use by multiple threads; the
    backend is called once for all waiting threads.
    """

    def __init__(self, client: Mintmark, pool_id: str, on_token_required: OnTokenRequired, **options: Any) -> None:
        """`options` are the arguments of `Opening`."""
        super().__init__(pool_id, **options)
        self._client = client
        self._on_token_required = callback(on_token_required)
        self._opening, self._asking = threading.Lock(), threading.Lock()

    def get(self, refresh: bool = False) -> CredentialsProviderAnswerReady:
        """Returns valid credentials, with `identity_id` and `role_arn`. `refresh` renews them even if they are still valid."""
        return self._ready("credentialsProvider.get", {"refresh": True} if refresh else {})

    def identity_id(self) -> str:
        """Returns the ID of the identity."""
        return self._ready("credentialsProvider.identityId", {}).identity_id

    def set_logins(self, logins: Mapping[str, str]) -> None:
        """Replaces the user's logins. The identity ID is kept, unless the logins are already linked to another identity."""
        self._params["logins"] = dict(logins)
        self._call("credentialsProvider.setLogins", {"logins": dict(logins)})

    def clear_credentials(self) -> None:
        """Discards the credentials and keeps the identity."""
        self._call("credentialsProvider.clearCredentials", {})

    def clear_keychain(self) -> None:
        """Discards the credentials, the identity and the logins. Call this when the user signs out or another user signs in."""
        self._params["logins"] = None
        self._call("credentialsProvider.clearKeychain", {})

    def close(self) -> None:
        """Closes the provider and discards its data in memory. The store keeps the identity ID under the provider's key."""
        if not self._is_closed and self._provider is not None:
            self._client._call("credentialsProvider.close", {"provider": self._provider}, None, None)
        self._is_closed = True

    def __enter__(self) -> "CredentialsProvider":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _ready(self, method: str, params: Dict[str, Any]) -> CredentialsProviderAnswerReady:
        answer = read_credentials_provider_answer(self._call(method, params))
        if not isinstance(answer, CredentialsProviderAnswerTokenRequired):
            return ready(answer)
        with self._asking:
            # Another thread may have submitted a token while this one waited for the lock.
            answer = read_credentials_provider_answer(self._call(method, {}))
            if not isinstance(answer, CredentialsProviderAnswerTokenRequired):
                return ready(answer)
            given = taken(self._on_token_required(dict(answer.logins), answer.identity_id))
            return ready(read_credentials_provider_answer(self._client._call("credentialsProvider.submitToken", {
                "continuationToken": answer.continuation_token, **given}, None, None)))

    def _call(self, method: str, params: Dict[str, Any]) -> Any:
        provider = self._open(None)
        try:
            return self._client._call(method, {**params, "provider": provider}, None, None)
        except ProviderNotOpenError:
            # The process was restarted and no longer has the provider.
            return self._client._call(method, {**params, "provider": self._open(provider)}, None, None)

    def _open(self, instead_of: Optional[str]) -> str:
        with self._opening:
            if self._is_closed and self._provider is None:
                raise closed_before()
            if self._provider is None or (self._provider == instead_of and not self._is_closed):
                self._provider = str(self._client._call("credentialsProvider.open", self._params, None, None)["provider"])
            return self._provider
