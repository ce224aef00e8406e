"""boto3 against a Mintmark process: the clients `cognito-identity` and `sts` of a session are answered by it.

    import boto3, mintmark, mintmark.boto3

    session = boto3.Session(region_name="eu-west-1", aws_access_key_id="any", aws_secret_access_key="any")
    with mintmark.testing() as m:
        mintmark.boto3.connect(session, m)
        pool = session.client("cognito-identity").create_identity_pool(…)

Nothing of these two services goes over the network; other services of the session are not touched.
"""

from __future__ import annotations

import io
from typing import Any, Iterator

from botocore.awsrequest import AWSResponse  # type: ignore[import-untyped, import-not-found, unused-ignore]

from ._client import Mintmark

__all__ = ["connect"]


def connect(session: Any, m: Mintmark) -> None:
    """Has `m` answer the clients that a `boto3.Session` makes from now on.

    Operations that Amazon wants signed need credentials in the session; any will do.
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
    """The answer's body, as urllib3 hands it out."""

    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self.read()


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, (bytes, bytearray)) else str(value)
