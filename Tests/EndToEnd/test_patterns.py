"""The patterns of attributes: compared with Python's `re`, and stored patterns that are no longer supported."""

import json
import os
import random
import re
import subprocess

import stores
from endtoend import EndToEnd
from sidecar import binary

SEED, TENANTS, PATTERNS, TEXTS = 1, 25, 99, 12


class Grammar:
    """Random patterns in the syntax that Mintmark and Python share, and texts that come close to matching them."""

    def __init__(self, numbers, ignores_case):
        self.numbers = numbers
        # Python's flag ASCII, which `\\w` requires, also limits `(?i)` to ASCII. So both are not mixed.
        self.prefix = "(?i)" if ignores_case else ""
        self.literals = ["a", "b", "A", "B", "é", "É", "日"] + ([] if ignores_case else ["1", "_", " ", "-", "\\.", "\\n", "\\x41", "🎉"])
        self.classes = ["[ab]", "[^a]", "[a-bé]", "[^é日]", "."] + ([] if ignores_case else [
            "\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "[\\d_-]", "[^\\w]", "[\\s1-3]", "[]a]"])
        self.positions = [] if ignores_case else ["^", "$", "\\b", "\\B"]
        self.alphabet = "abABéÉ日" + ("" if ignores_case else "1_ -.\n🎉")

    def pattern(self):
        return self.prefix + self.alternatives(3) or "a"

    def alternatives(self, depth):
        return "|".join(self.sequence(depth) for _ in range(self.numbers.choice([1, 1, 1, 2, 3])))

    def sequence(self, depth):
        return "".join(self.repeated(depth) for _ in range(self.numbers.choice([0, 1, 1, 2, 2, 3, 4])))

    def repeated(self, depth):
        kind = self.numbers.random()
        if kind < 0.06 and self.positions:
            return self.numbers.choice(self.positions)
        if kind < 0.5:
            atom = self.numbers.choice(self.literals)
        elif kind < 0.72 or depth == 0:
            atom = self.numbers.choice(self.classes)
        else:
            atom = self.numbers.choice(["(", "(?:"]) + self.alternatives(depth - 1) + ")"
        return atom + (self.numbers.choice(["*", "+", "?", "{2}", "{1,3}", "{2,}", "{0,1}", "*?", "+?", "??"]) if self.numbers.random() < 0.35 else "")

    def text(self):
        return "".join(self.numbers.choice(self.alphabet) for _ in range(self.numbers.choice([1, 1, 2, 2, 3, 4, 5, 7])))


class Patterns(EndToEnd):
    def test_01_random_patterns_match_as_in_python(self):
        numbers = random.Random(SEED)
        sidecar = self.spawn(testing=True)
        compared = matched = 0
        for number in range(TENANTS):
            grammar = Grammar(numbers, ignores_case=number % 5 == 4)
            flags = 0 if grammar.prefix else re.ASCII
            patterns = {f"a{index}": grammar.pattern() for index in range(PATTERNS)}
            # In Python, `$` also matches before a line feed at the end.
            references = {name: re.compile(pattern.replace("$", "\\Z"), flags) for name, pattern in patterns.items()}
            tenant = {"tenantId": f"t{number}"}
            attributes = [{"name": name, "type": "string", "pattern": pattern} for name, pattern in patterns.items()]
            # This attribute never matches, so no request begins a sign-up.
            sidecar.call("tenant.create", {**tenant, "attributes": attributes + [{"name": "never", "type": "string", "pattern": "x"}]})
            for _ in range(TEXTS):
                texts = {name: grammar.text() for name in patterns}
                error = self.refused(
                    "invalidAttributes", sidecar, "signUp.start", {**tenant, "username": "alice@example.com", "attributes": {**texts, "never": "y"}})
                found = {each["name"] for each in error.data["attributes"]}
                self.assertEqual({each["rule"] for each in error.data["attributes"]}, {"pattern"})
                for name, text in texts.items():
                    is_match = references[name].fullmatch(text) is not None
                    self.assertEqual(name not in found, is_match, (patterns[name], text))
                    compared, matched = compared + 1, matched + is_match
        self.assertGreaterEqual(compared, 24_000)
        self.assertGreater(matched, 1_500)

    def test_02_unsupported_construct_is_named_with_its_position(self):
        sidecar = self.spawn(testing=True)
        attribute = {"name": "plate", "type": "string"}
        for method in ("tenant.create", "tenant.update"):
            for pattern, reason in {
                "ab(?=c)": "the pattern has a lookahead, `(?=`, at character 3, which is not supported",
                "(a)\\1": "the pattern has a backreference, `\\1`, at character 4, which is not supported",
                "(a{999}){999}": "the pattern repeats too much: written out, it can have at most 10000 steps; use smaller counts",
                "ab)": "the pattern is not valid at character 3: `)` has no matching `(`",
            }.items():
                error = self.refused(
                    "invalidTenantSettings", sidecar, method,
                    {"tenantId": "cars" if method == "tenant.create" else "default", "attributes": [{**attribute, "pattern": pattern}]})
                self.assertEqual(error.data["pointer"], "/attributes/0/pattern")
                self.assertEqual(error.data["reason"], reason)

    def test_03_stored_pattern_that_is_no_longer_supported_refuses_new_values_only(self):
        self.store = self.path("people.db")
        tenant, name = {"tenantId": "cars"}, {"username": "alice@example.com", "password": "correct Horse 9"}
        with self.spawn(store=self.store) as sidecar:
            sidecar.call("tenant.create", {**tenant, "name": "Cars", "attributes": [{"name": "plate", "type": "string", "pattern": "[A-Z]+"}]})
            account = sidecar.call("account.create", {**tenant, **name, "attributes": {"plate": "BE"}})["accountId"]
        # A store of an earlier version can contain this pattern.
        settings = json.loads(self.rows("SELECT settings FROM tenant WHERE id = 'cars'")[0][0])
        settings["attributes"][0]["pattern"] = "(?=B)[A-Z]+"
        self.rows("UPDATE tenant SET settings = ? WHERE id = 'cars'", json.dumps(settings))

        doctor = self.doctor()
        self.assertEqual(doctor.returncode, 2, doctor)
        self.assertIn(
            "no value of the attribute plate of tenant cars is accepted, because the pattern has a lookahead, `(?=`, at character 1, which is not "
            "supported: change the pattern with tenant.update", doctor.stdout)
        with self.spawn(store=self.store) as sidecar:
            sidecar.call("signIn.withPassword", {**tenant, **name})
            self.assertEqual(sidecar.call("account.get", {"accountId": account})["attributes"], {"plate": "BE"})
            for method, params in {
                "signUp.start": {**tenant, "username": "bob@example.com"}, "account.update": {"accountId": account},
            }.items():
                error = self.refused("invalidAttributes", sidecar, method, {**params, "attributes": {"plate": "BE"}})
                [failure] = error.data["attributes"]
                self.assertEqual((failure["name"], failure["rule"]), ("plate", "pattern"))
                self.assertIn("a lookahead, `(?=`, at character 1", failure["message"])
                self.assertIn("tenant.update", failure["message"])
            # Other settings can be changed, but the pattern cannot be set again.
            sidecar.call("tenant.update", {**tenant, "name": "Automobiles"})
            self.refused("invalidTenantSettings", sidecar, "tenant.update", {**tenant, "attributes": settings["attributes"]})
            settings["attributes"][0]["pattern"] = "B[A-Z]*"
            sidecar.call("tenant.update", {**tenant, "attributes": settings["attributes"]})
            sidecar.call("account.update", {"accountId": account, "attributes": {"plate": "BE"}})
        self.assertEqual(self.doctor().returncode, 0)

    def doctor(self):
        store, environment = stores.current.place(self.store)
        return subprocess.run(
            [binary(), "doctor", "--store", store], env={**os.environ, **environment}, capture_output=True, text=True, timeout=60)
