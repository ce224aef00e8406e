"""Shared by the end-to-end tests: processes that end with the test, a folder per test, and initial pools and roles."""

import base64
import json
import os
import shutil
import tempfile
import time
import unittest

import stores
from sidecar import RpcError, Sidecar, binary

PRINCIPAL = "cognito-identity.amazonaws.com"
# The headers of a signed request to `compat.http`, which does not verify the signature.
SIGNED = {
    "X-Amz-Date": "20261121T120000Z",
    "Authorization": "AWS4-HMAC-SHA256 Credential=any/20261121/eu-west-1/cognito-identity/aws4_request, SignedHeaders=host;x-amz-date, Signature=" + "0" * 64,
}


class EndToEnd(unittest.TestCase):
    maxDiff = None

    # The kinds of store on which the tests of the class run, once on each. `only` restricts a single test.
    stores = ("sqlite", "postgres")

    def setUp(self):
        self.addCleanup(stores.current.recycle)   # after the processes of the test have ended
        self.folder = tempfile.mkdtemp(prefix="mintmark-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def spawn(self, *options, store=":memory:", environment=None, **more):
        """Starts a process that ends with the test, on a store of the kind that this run tests."""
        store, needed = stores.current.place(store)
        sidecar = Sidecar(*options, store=store, environment={**needed, **(environment or {})}, **more)
        self.addCleanup(sidecar.close)
        return sidecar

    def rows(self, query, *parameters, store=None):
        """Runs SQL directly on a store, by default the one at `self.store`. Returns the rows as tuples."""
        return stores.current.rows(store or self.store, query, *parameters)

    def as_somebody_else(self):
        """Returns options for `spawn` and `run` that make file modes effective, even if the tests run as root."""
        if os.geteuid() != 0:
            return {}
        copy = self.path("mintmark")
        shutil.copy(binary(), copy)
        os.chmod(copy, 0o755)
        os.chmod(self.folder, 0o755)
        os.environ["MINTMARK_BINARY"], before = copy, os.environ.get("MINTMARK_BINARY")
        self.addCleanup(lambda: os.environ.__setitem__("MINTMARK_BINARY", before) if before else os.environ.pop("MINTMARK_BINARY"))
        return {"user": 65534, "group": 65534, "extra_groups": []}

    def works(self, sidecar):
        """Checks that the next request on the same pipe succeeds."""
        self.assertIn("now", sidecar.call("system.ping"))

    def settled(self, *sidecars, server=None, timeout=30):
        """Waits until the processes only wait: for the next request, a time, a lock or another program. All requests that were sent have then
        come as far as they can, and nothing runs in the background. `server` is the PostgreSQL server of a test that has its own."""
        deadline, involved = time.monotonic() + timeout, [*sidecars, server or stores.current]
        while True:
            before = [each.activity() for each in involved]
            if None not in before and before == [each.activity() for each in involved]:
                return
            self.assertLess(time.monotonic(), deadline, "the process does not come to rest")
            time.sleep(0.01)

    def wait_for_log(self, sidecar, text, times=1):
        """Waits until the log contains `text`, which a process can write after its response. Returns the log."""
        deadline = time.monotonic() + 60
        while (log := sidecar.stderr_text()).count(text) < times:
            self.assertLess(time.monotonic(), deadline, f"the log does not contain {text!r} {times} times: {log[-2000:]}")
            time.sleep(0.01)
        return log

    def refused(self, wanted, sidecar, method, params=None, **envelope):
        """Checks that a request fails with the expected type of error and that the pipe still works. Returns the error."""
        error = sidecar.refusal(method, params, **envelope)
        self.assertIn(error.type, {wanted} if isinstance(wanted, str) else wanted, str(error))
        self.works(sidecar)
        return error

    def soon_refused(self, wanted, sidecar, method, params, since=None):
        """Like `refused`, for a token or session that another process has just revoked. SQLite applies the revocation immediately, PostgreSQL within
        one second: a call that begins later is refused. `since` is the time of the revocation, by default now."""
        deadline = (since or time.monotonic()) + 1
        while stores.current.kind == "postgres" and time.monotonic() < deadline:
            try:
                sidecar.call(method, params)
                time.sleep(0.02)
            except RpcError:
                break
        return self.refused(wanted, sidecar, method, params)

    def violations(self, sidecar, method, params):
        """Returns the violations of rejected parameters as pairs (pointer, rule)."""
        error = self.refused("invalidParams", sidecar, method, params)
        self.assertEqual(error.code, -32602)
        for each in error.data["violations"]:
            self.assertEqual(set(each), {"pointer", "rule", "message"})
            self.assertTrue(each["message"].strip())
        return {(each["pointer"], each["rule"]) for each in error.data["violations"]}


def only(*kinds):
    """Restricts a test to the given kinds of store."""
    def mark(test):
        test.stores = kinds
        return test
    return mark


def make_pool(sidecar, **more):
    return sidecar.call("pool.create", {"name": "shop", "developerProvider": "login.shop", **more})


def mint(sidecar, pool, user="alice", **more):
    return sidecar.call("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": user}, **more})


def trust(*statements, pool=None, **conditions):
    """Returns a trust policy with the given statements, or with the default statement for a pool and its conditions."""
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
    """Creates a pool whose authenticated identities get the role `reader`. Returns the pool ID and the ARN of the role."""
    pool = make_pool(sidecar, **more)["poolId"]
    role = sidecar.call("role.put", {"name": "reader", "poolId": pool})["roleArn"]
    sidecar.call("pool.setRoles", {"poolId": pool, "roles": {"authenticated": role}})
    return pool, role


def encode(value):
    """Returns the base64url encoding of bytes, or of the JSON of a value."""
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
