"""What the end-to-end tests share: processes that end with the test, a folder of its own, pools and roles to begin with."""

import base64
import json
import os
import shutil
import tempfile
import time
import unittest

import stores
from sidecar import RpcError, Sidecar

PRINCIPAL = "cognito-identity.amazonaws.com"
# The headers of a request to compat.http that is signed by whoever says so.
SIGNED = {
    "X-Amz-Date": "20261121T120000Z",
    "Authorization": "AWS4-HMAC-SHA256 Credential=any/20261121/eu-west-1/cognito-identity/aws4_request, SignedHeaders=host;x-amz-date, Signature=" + "0" * 64,
}


class EndToEnd(unittest.TestCase):
    maxDiff = None

    # The kinds of store that a class's tests are about: they run once on each. `only` says it of a single test.
    stores = ("sqlite", "postgres")

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="mintmark-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def spawn(self, *options, store=":memory:", environment=None, **more):
        """A process that ends with the test, on a store of the kind that this run is about."""
        store, needed = stores.current.place(store)
        sidecar = Sidecar(*options, store=store, environment={**needed, **(environment or {})}, **more)
        self.addCleanup(sidecar.close)
        return sidecar

    def rows(self, query, *parameters, store=None):
        """Runs SQL on a store, by default the one at `self.store`, behind Mintmark's back: the rows, as tuples."""
        return stores.current.rows(store or self.store, query, *parameters)

    def works(self, sidecar):
        """The next request on the same pipe is answered."""
        self.assertIn("now", sidecar.call("system.ping"))

    def refused(self, wanted, sidecar, method, params=None, **envelope):
        """A request is refused with one type of error, and the pipe goes on."""
        error = sidecar.refusal(method, params, **envelope)
        self.assertIn(error.type, {wanted} if isinstance(wanted, str) else wanted, str(error))
        self.works(sidecar)
        return error

    def soon_refused(self, wanted, sidecar, method, params):
        """As `refused`, for what another process has just revoked: in SQLite at once, in PostgreSQL within a second."""
        deadline = time.monotonic() + 1
        while stores.current.kind == "postgres" and time.monotonic() < deadline:
            try:
                sidecar.call(method, params)
                time.sleep(0.02)
            except RpcError:
                break
        return self.refused(wanted, sidecar, method, params)

    def violations(self, sidecar, method, params):
        """The violations of parameters that are refused, as (pointer, rule)."""
        error = self.refused("invalidParams", sidecar, method, params)
        self.assertEqual(error.code, -32602)
        for each in error.data["violations"]:
            self.assertEqual(set(each), {"pointer", "rule", "message"})
            self.assertTrue(each["message"].strip())
        return {(each["pointer"], each["rule"]) for each in error.data["violations"]}


def only(*kinds):
    """Marks a test that is about some kinds of store only."""
    def mark(test):
        test.stores = kinds
        return test
    return mark


def make_pool(sidecar, **more):
    return sidecar.call("pool.create", {"name": "shop", "developerProvider": "login.shop", **more})


def mint(sidecar, pool, user="alice", **more):
    return sidecar.call("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": user}, **more})


def trust(*statements, pool=None, **conditions):
    """A trust policy: statements as they are, or the usual one for a pool, with more conditions."""
    usual = {
        "Effect": "Allow",
        "Principal": {"Federated": PRINCIPAL},
        "Action": ["sts:AssumeRoleWithWebIdentity", "sts:TagSession"],
        "Condition": conditions or {
            "StringEquals": {f"{PRINCIPAL}:aud": pool},
            "ForAnyValue:StringLike": {f"{PRINCIPAL}:amr": "authenticated"},
        },
    }
    return {"Version": "2012-10-17", "Statement": list(statements) or [usual]}


def pool_with_role(sidecar, **more):
    """A pool whose signed-in identities get the role `reader`: (pool id, role's ARN)."""
    pool = make_pool(sidecar, **more)["poolId"]
    role = sidecar.call("role.put", {"name": "reader", "poolId": pool})["roleArn"]
    sidecar.call("pool.setRoles", {"poolId": pool, "roles": {"authenticated": role}})
    return pool, role


def encode(value):
    """base64url of bytes, or of the JSON of a value."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
