"""The OpenID Connect provider of a testing store, for tests of a service that trusts its tokens or signs users in with it."""

from __future__ import annotations

import asyncio
import html.parser
import inspect
import time
import urllib.error
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar
from typing import TYPE_CHECKING, Any, Generator, Mapping, NamedTuple

if TYPE_CHECKING:
    from .testing import AsyncTestingMintmark, TestingMintmark

_ISSUERS: list[dict[str, Any]] = [{"name": "default", "passwordless": True, "createAccounts": True}]


class _Step(NamedTuple):
    """A request of a login: to the service, or, without a method, the form of the provider's page."""

    method: str | None
    url: str
    form: dict[str, str] | None = None


class _Provider:
    """What the providers for threads and for asyncio have in common."""

    issuer: str
    """The issuer of the tokens."""
    jwks_url: str
    """The URL of the public keys."""
    discovery_url: str
    """The URL of the discovery document."""
    audience: str
    """The audience of tokens for which no other one is given."""

    def __init__(self, started: Any, audience: str) -> None:
        self.issuer, self.jwks_url, self.discovery_url = started.issuer, started.jwks_url, started.discovery_url
        self.audience = audience
        self._base = started.base_url

    def _params(self, subject: str, audience: str | None, use: str, claims: Mapping[str, Any] | None, more: Mapping[str, Any]) -> dict[str, Any]:
        params: dict[str, Any] = {"issuer": self.issuer, "subject": subject, "audience": audience or self.audience, "use": use, **more}
        if claims is not None:
            params["claims"] = dict(claims)
        return params

    def _login(self, path: str) -> Generator[_Step, Any, Any]:
        """Yields each request, and gets its response, or the step that follows the form. Returns the last response."""
        where, host, hops = path, None, 0
        response = yield _Step("get", where)
        while (location := _location(response)) and hops < 20:
            hops += 1
            where = urllib.parse.urljoin(where, location)
            if where.startswith(self._base + "/"):
                step = yield _Step(None, where)
                where, host = step.url, urllib.parse.urlsplit(step.url).netloc
                response = yield step
                continue
            if host is not None and urllib.parse.urlsplit(where).netloc not in ("", host):
                break   # The service sends the browser elsewhere; the login is over.
            response = yield _Step("get", where)
        if host is None:
            raise AssertionError(f"{path} does not lead to the provider: the service has answered with status {_status(response)} and "
                                 f"{'a redirect to ' + where if hops else 'no redirect'}. Configure the issuer {self.issuer} in the service.")
        return response

    def _sign_in(self, url: str, email: str, password: str | None) -> _Step:
        """Sends the form of the login page. Returns what the browser sends to the service next."""
        browser = _Browser(self._base)
        form = {"step": "address", "email": email, **({"password": password} if password else {})}
        response = browser.post(url, data=form)
        while (location := _location(response)) is not None:
            url = urllib.parse.urljoin(url, location)
            if not url.startswith(self._base + "/"):
                return _Step("get", url)
            response = browser.get(url)
        page = _Page(response.text)
        if page.action and not page.action.startswith(self._base + "/") and urllib.parse.urlsplit(page.action).netloc:
            return _Step("post", page.action, page.fields)   # response_mode=form_post
        raise AssertionError(f"The provider has not signed in {email}: status {response.status_code}, {page.words}")


class IdentityProvider(_Provider):
    """An OpenID Connect provider on 127.0.0.1 with the accounts of the tenant `default`: `IdentityProvider(m)`.

    Configure `issuer`, `jwks_url` or `discovery_url`, and `audience` in your service. It accepts `token()`, and must refuse `expired()` and
    `foreign()`. Users sign in with their email address alone; an unknown address gets an account.
    """

    def __init__(self, m: TestingMintmark, audience: str = "test") -> None:
        self._m = m
        super().__init__(m.test.idp(issuers=_ISSUERS), audience)

    def token(
        self, subject: str = "test-user", *, audience: str | None = None, use: str = "access", claims: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> str:
        """Returns a valid access token. `more` are the other parameters of `test.token`, such as `key_state="wrong"`.

        Its times are those of Mintmark's clock, which `test.clock` moves. The clock of your service does not move with it.
        """
        return self._m.test.token(**self._params(subject, audience, use, claims, more)).token

    def expired(self, subject: str = "test-user", *, seconds: int = 3600, claims: Mapping[str, Any] | None = None, **more: Any) -> str:
        """Returns a token that expired some seconds ago, by the clock of Mintmark and by the real time, and is valid otherwise."""
        end = min(int(self._m.test.clock().now.timestamp()), int(time.time())) - seconds
        return self.token(subject, claims={"iat": end - 3600, "exp": end, **(claims or {})}, **more)

    def foreign(self, subject: str = "test-user", **more: Any) -> str:
        """Returns a token of an issuer that your service does not know, and that is valid otherwise."""
        issuers = self._m.test.idp(issuers=[{"name": "foreign"}]).issuers
        return self.token(subject, **{"issuer": next(each.issuer for each in issuers if each.name == "foreign"), **more})

    def login(self, client: Any, email: str, path: str = "/login", *, password: str | None = None, claims: Mapping[str, Any] | None = None) -> Any:
        """Signs a user in at your service as a browser does, and returns the last response of the service.

        :param client: The URL of the service, or an HTTP client that keeps cookies: `requests.Session`, `httpx.Client`, or the test client
            of Flask or Starlette.
        :param path: The path of the service that starts the login, by a redirect to the provider.
        :param password: The password, if the account of the user has one that the issuer requires.
        :param claims: Additional claims of the tokens of this login.
        """
        if claims:
            self._m.test.enqueue(issuer="default", claims=dict(claims))
        browser: Any = _Browser(client) if isinstance(client, str) else client
        steps = self._login(path)
        try:
            step = next(steps)
            while True:
                step = steps.send(_send(browser, step) if step.method else self._sign_in(step.url, email, password))
        except StopIteration as end:
            return end.value


class AsyncIdentityProvider(_Provider):
    """The same for asyncio: `await AsyncIdentityProvider.start(m)`, where `m` is an `AsyncTestingMintmark`."""

    def __init__(self, m: AsyncTestingMintmark, started: Any, audience: str) -> None:
        """Use `start`."""
        self._m = m
        super().__init__(started, audience)

    @classmethod
    async def start(cls, m: AsyncTestingMintmark, audience: str = "test") -> AsyncIdentityProvider:
        """Starts the provider of a testing store."""
        return cls(m, await m.test.idp(issuers=_ISSUERS), audience)

    async def token(
        self, subject: str = "test-user", *, audience: str | None = None, use: str = "access", claims: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> str:
        """Returns a valid access token. See `IdentityProvider.token`."""
        return (await self._m.test.token(**self._params(subject, audience, use, claims, more))).token

    async def expired(self, subject: str = "test-user", *, seconds: int = 3600, claims: Mapping[str, Any] | None = None, **more: Any) -> str:
        """Returns a token that expired some seconds ago. See `IdentityProvider.expired`."""
        end = min(int((await self._m.test.clock()).now.timestamp()), int(time.time())) - seconds
        return await self.token(subject, claims={"iat": end - 3600, "exp": end, **(claims or {})}, **more)

    async def foreign(self, subject: str = "test-user", **more: Any) -> str:
        """Returns a token of an issuer that your service does not know, and that is valid otherwise."""
        issuers = (await self._m.test.idp(issuers=[{"name": "foreign"}])).issuers
        return await self.token(subject, **{"issuer": next(each.issuer for each in issuers if each.name == "foreign"), **more})

    async def login(
        self, client: Any, email: str, path: str = "/login", *, password: str | None = None, claims: Mapping[str, Any] | None = None,
    ) -> Any:
        """Signs a user in at your service as a browser does, and returns the last response of the service.

        :param client: The URL of the service, or an HTTP client that keeps cookies: `httpx.AsyncClient`, or one of `IdentityProvider.login`.
        :param path: The path of the service that starts the login, by a redirect to the provider.
        :param password: The password, if the account of the user has one that the issuer requires.
        :param claims: Additional claims of the tokens of this login.
        """
        if claims:
            await self._m.test.enqueue(issuer="default", claims=dict(claims))
        browser: Any = _Browser(client) if isinstance(client, str) else client
        steps = self._login(path)
        answer: Any
        try:
            step = next(steps)
            while True:
                if step.method is None:
                    answer = await asyncio.to_thread(self._sign_in, step.url, email, password)
                elif isinstance(browser, _Browser):
                    answer = await asyncio.to_thread(_send, browser, step)
                else:
                    answer = _send(browser, step)
                    answer = await answer if inspect.isawaitable(answer) else answer
                step = steps.send(answer)
        except StopIteration as end:
            return end.value


def _status(response: Any) -> int:
    return int(getattr(response, "status_code", None) or response.status)


def _location(response: Any) -> str | None:
    """Returns the target of a redirect."""
    return response.headers.get("Location") if _status(response) in (301, 302, 303, 307, 308) else None


def _send(client: Any, step: _Step) -> Any:
    """Sends a request without following redirects. The clients have different names for that."""
    of_requests = any(each.__module__.partition(".")[0] == "requests" for each in type(client).__mro__)
    options: dict[str, Any] = {"allow_redirects" if of_requests else "follow_redirects": False}
    if step.form is not None:
        options["data"] = step.form
    return getattr(client, step.method or "get")(step.url, **options)


class _Response:
    def __init__(self, status: int, headers: Any, body: bytes, url: str) -> None:
        self.status_code, self.headers, self.content, self.url = status, headers, body, url

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace")


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class _Browser:
    """A client with cookies, for services that are given by their URL."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(CookieJar()), _Stay)

    def get(self, url: str, **_: Any) -> _Response:
        return self._send(url, None)

    def post(self, url: str, data: Mapping[str, str], **_: Any) -> _Response:
        return self._send(url, urllib.parse.urlencode(data).encode())

    def _send(self, url: str, body: bytes | None) -> _Response:
        url = urllib.parse.urljoin(self._base, url)
        try:
            with self._opener.open(url, body, timeout=60) as response:
                return _Response(response.status, response.headers, response.read(), url)
        except urllib.error.HTTPError as error:
            with error:
                return _Response(error.code, error.headers, error.read(), url)


class _Page(html.parser.HTMLParser):
    """The first form of a page, and the words of the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.action: str | None = None
        self.fields: dict[str, str] = {}
        self._parts: list[str] = []
        self._skipping = False
        self.feed(text)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self._parts).split())[:300]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "form" and self.action is None:
            self.action = given.get("action") or ""
        if tag == "input" and given.get("name"):
            self.fields[given["name"] or ""] = given.get("value") or ""
        self._skipping = tag in ("style", "script")

    def handle_endtag(self, tag: str) -> None:
        self._skipping = False

    def handle_data(self, data: str) -> None:
        if not self._skipping:
            self._parts.append(data)
