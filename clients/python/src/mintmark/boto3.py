"""Runs boto3 against a Mintmark process, which handles the requests of a session's `cognito-identity` and `sts` clients.

    import boto3, mintmark.boto3
    from mintmark.testing import TestingMintmark

    session = boto3.Session(region_name="eu-west-1", aws_access_key_id="any", aws_secret_access_key="any")
    with TestingMintmark() as m:
        mintmark.boto3.connect(session, m)
        pool = session.client("cognito-identity").create_identity_pool(…)

Requests of these two services are not sent over the network. Other services of the session are not affected.
"""

from __future__ import annotations

import io
from typing import Any, Iterator

from botocore.awsrequest import AWSResponse  # type: ignore[import-untyped, import-not-found, unused-ignore]

from ._client import Mintmark

__all__ = ["connect"]


def connect(session: Any, m: Mintmark) -> None:
    """Sends the requests of clients that a `boto3.Session` creates after this call to `m`.

    Operations that AWS requires to be signed need credentials in the session; their values do not matter.
    """

    def answer(request: Any, **_: Any) -> Any:
        body = request.body or b""
        body = body.read() if hasattr(body, "read") else body
        result = m.compat.http(
            method=request.method,
            url=request.url,
            headers={_text(name): _text(value) for name, value in request.headers.items()},
            body=_text(body),
        )
        return AWSResponse(request.url, result.status, dict(result.headers), _Body(result.body.encode()))

    for service in ("cognito-identity", "sts"):
        session.events.register(f"before-send.{service}", answer, unique_id=f"mintmark-{service}")


class _Body(io.BytesIO):
    """The response body, with the interface of urllib3."""

    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self.read()


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, (bytes, bytearray)) else str(value)
