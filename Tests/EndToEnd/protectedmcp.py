"""An MCP server with the authorization of the official Python SDK, and an MCP client whose user signs in without a browser."""

import contextlib
import logging
import socket
import threading
import time
import urllib.parse

import anyio
import httpx2
import jwt
import uvicorn
from loginform import Person
from mcp.client.auth import AuthorizationCodeResult
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import MCPServer
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.shared.auth import OAuthClientMetadata

for each in ("mcp", "httpx2"):
    logging.getLogger(each).setLevel(logging.CRITICAL + 1)

BACK = "http://127.0.0.1:9/callback"


class Verifier:
    """Accepts the access tokens of one issuer for one resource."""

    def __init__(self, server):
        self.server = server
        self.keys = jwt.PyJWKClient(server.keys, cooldown_duration=0)

    async def verify_token(self, token):
        try:
            key = await anyio.to_thread.run_sync(self.keys.get_signing_key_from_jwt, token)
            claims = jwt.decode(
                token, key, algorithms=["ES256"], issuer=self.server.issuer, audience=self.server.resource,
                options={"verify_iat": False, "verify_exp": False})
        except jwt.PyJWTError:
            return None
        if claims["exp"] <= self.server.now():
            return None
        self.server.accepted.append(claims)
        return AccessToken(
            token=token, client_id=claims["client_id"], scopes=claims.get("scope", "").split(), resource=claims["aud"], subject=claims["sub"])


class Server:
    """Serves one tool, `whoami`, which needs the scope `notes`. It begins with `begin`, after its issuer was created."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.resource = f"http://127.0.0.1:{self.socket.getsockname()[1]}/mcp"
        self.accepted, self.now = [], lambda: int(time.time())

    def begin(self, issuer, keys):
        self.issuer, self.keys = issuer, keys
        server = MCPServer("notes", log_level="CRITICAL", token_verifier=Verifier(self), auth=AuthSettings(
            issuer_url=issuer, resource_server_url=self.resource, required_scopes=["notes"], validate_token_resource=True))

        @server.tool()
        def whoami() -> str:
            return get_access_token().subject

        self.server = uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="error"))
        self.thread = threading.Thread(target=self.server.run, args=([self.socket],), daemon=True)
        self.thread.start()

    def close(self):
        self.server.should_exit = True
        self.thread.join(20)
        self.socket.close()


class Storage:
    """The tokens and the registration of a client."""

    def __init__(self):
        self.tokens = self.client = None
        self.all = []

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens
        self.all.append(tokens)

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class User:
    """Opens the authorization URL of a client. The provider signs the user in without its page."""

    def __init__(self):
        self.urls, self.answer, self.person = [], None, Person()

    async def redirect(self, url):
        self.urls.append(url)
        page = await anyio.to_thread.run_sync(self.person.open, url)
        assert page.status == 303, page.text
        self.answer = page.back

    async def callback(self):
        if "error" in self.answer:
            raise PermissionError(self.answer["error"])
        return AuthorizationCodeResult(code=self.answer["code"], state=self.answer["state"], iss=self.answer["iss"])

    @property
    def asked(self):
        """The parameters of the last authorization request."""
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.urls[-1]).query))


def metadata(**more):
    return OAuthClientMetadata(client_name="inspector", redirect_uris=[BACK], **more)


@contextlib.asynccontextmanager
async def connected(server, auth):
    async with httpx2.AsyncClient(auth=auth, trust_env=False, timeout=60) as http:
        async with Client(streamable_http_client(server.resource, http_client=http)) as client:
            yield client


def call(server, auth, between=None):
    """Calls the tool with the given authentication, twice if something happens in between. Returns the texts."""
    async def run():
        texts = []
        async with connected(server, auth) as client:
            texts.append((await client.call_tool("whoami", {})).content[0].text)
            if between:
                await anyio.to_thread.run_sync(between)
                texts.append((await client.call_tool("whoami", {})).content[0].text)
        return texts
    return anyio.run(run)
