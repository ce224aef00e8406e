"""Shared by the state machines: the process of all examples, and the comparison of an answer with the expected one."""

import itertools
import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "EndToEnd"))

from hypothesis import strategies as st   # noqa: E402: the folder above is needed first
from hypothesis.stateful import RuleBasedStateMachine   # noqa: E402
from sidecar import RpcError, Sidecar   # noqa: E402
from test_logins import Provider   # noqa: E402

MOMENT = 1_700_000_010
NUMBERS = itertools.count(1)
users, picks = st.integers(0, 2), st.integers(0, 1 << 16)
providers, subjects = st.sampled_from(["oidc.a", "oidc.b"]), st.sampled_from(["s0", "s1", "s2"])


class Process:
    """The process that all examples share. Each example has a tenant and a pool of its own."""

    def __init__(self):
        self.sidecar = Sidecar("--clock", str(MOMENT), testing=True)
        self.now = MOMENT
        self.keys = {name: Provider(f"https://{name}.example.com", kid=name) for name in ("oidc.a", "oidc.b")}

    def token(self, name, subject, **claims):
        return self.keys[name].token(subject, iat=self.now - 5, exp=self.now + 600, **claims)

    def wait(self, seconds):
        self.now = self.sidecar.call("test.clock", {"advanceSeconds": seconds})["now"]


shared = None


def process():
    global shared
    if not shared:
        shared = Process()
    return shared


def close():
    """Ends the process."""
    global shared
    if shared:
        shared.sidecar.close()
        shared = None


class Machine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.process = process()
        self.number = next(NUMBERS)

    def expect(self, wanted, method, params):
        """Calls a method that must succeed if `wanted` is None, and otherwise fail with one of these types. Returns the result or None."""
        try:
            result = self.process.sidecar.call(method, params)
        except RpcError as error:
            assert wanted and error.type in wanted, f"{method} failed with {error.type}, expected {wanted or 'a result'}: {error.message}"
            return None
        assert not wanted, f"{method} succeeded, expected {wanted}"
        return result
