"""The matrix of doors and guards: every method that returns tokens or changes how users sign in does what its schema declares for an account that is
locked, disabled, deleted and so on. The names of the tests are the doors; OWASP ASVS 5.0, 6.1.3 and 6.3.4."""

import json
import os
import unittest

import guards
from endtoend import EndToEnd
from sidecar import ROOT, RpcError

# Doors that are shown elsewhere, and where.
ELSEWHERE = {
    "credentials.get": "test_exchange", "credentials.assumeRole": "test_exchange", "credentialsProvider.get": "test_credentials_provider",
    "credentialsProvider.identityId": "test_credentials_provider", "credentialsProvider.submitToken": "test_credentials_provider",
    "token.mintForDeveloper": "test_tokens_elsewhere", "token.mintForSession": "test_outbound_federation"}


def schemas():
    folder = os.path.join(ROOT, "schemas", "methods")
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            yield json.load(file)


DECLARED = {method["name"]: method for method in schemas() if "guards" in method}


def expected(method, variant):
    """Returns the outcomes that the schema declares for a way through a door."""
    schema = DECLARED[method]
    cases = schema.get("guardCases", {})
    return {**schema["guards"], **cases.get(variant, {})}


class Doors(EndToEnd):
    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn(testing=True)
        self.sidecar.call("test.clock", {"setAt": 1_700_000_010, "freeze": True})

    def outcome(self, guard, prepare, options, **tenant):
        """Returns the response, or the type of the error."""
        scene = guards.Scene(self.sidecar, guard, **{**options.get("tenant", {}), **tenant})
        go = prepare(scene)
        if guard:
            scene.apply()
        try:
            return go()
        except RpcError as error:
            return {} if error.type == options.get("passes") else error.type

    def check(self, wanted, answer):
        """Compares with a declared outcome. A state that refuses has no tokens."""
        if isinstance(answer, str):
            self.assertEqual(answer, wanted)
            return
        if wanted == "passes":
            self.assertNotIn(answer.get("state"), ("secondFactorRequired", "secondFactorEnrollmentRequired"))
            return
        self.assertEqual(answer.get("state"), wanted)
        self.assertFalse({"idToken", "accessToken", "refreshToken"} & set(answer))

    def walk(self, method, variant, prepare, options):
        with self.subTest(guard="none"):
            self.check("passes", self.outcome(None, prepare, options))
        for guard, declared in expected(method, variant).items():
            if isinstance(declared, str):  # an error or a state
                with self.subTest(guard=guard):
                    self.check(declared, self.outcome(guard, prepare, options))
            elif "passes" in declared:
                with self.subTest(guard=guard):
                    self.check("passes", self.outcome(guard, prepare, options))
                if "strict" in declared and guard == "locked":
                    with self.subTest(guard=guard, lockCovers="everyDoor"):
                        self.check(declared["strict"], self.outcome(guard, prepare, options, lockCovers="everyDoor"))


def named(name):
    return "test_" + "".join(character if character.isalnum() else "_" for character in name)


for _door, (_method, _prepare, _given) in guards.DOORS.items():
    def _test(self, method=_method, variant=_door.partition(" ")[2], prepare=_prepare, options=_given):
        self.walk(method, variant, prepare, options)
    setattr(Doors, named(_door), _test)


class Declared(unittest.TestCase):
    def test_every_door_is_walked(self):
        walked = {method for method, _, _ in guards.DOORS.values()} | set(ELSEWHERE)
        self.assertEqual(set(DECLARED) - walked, set())

    def test_every_case_of_a_door_is_walked(self):
        for name, method in DECLARED.items():
            for case in method.get("guardCases", {}):
                self.assertIn(f"{name} {case}", guards.DOORS)


if __name__ == "__main__":
    unittest.main()
