"""`mintmark jwks`: prints the key set for token verifiers, or keeps it current in a file."""

import json
import os
import signal
import stat
import subprocess
import time
import unittest

import jwt

import postgres
from endtoend import EndToEnd, make_pool, mint
from sidecar import activity, binary, clean_environment, rested, run


class PublishedKeys(EndToEnd):
    stores = ("sqlite",)

    def setUp(self):
        super().setUp()
        self.store = self.path("store.db")
        self.file = self.path("jwks.json")

    def watch(self, *options, store=None, environment=None):
        process = subprocess.Popen(
            [binary(), "jwks", "--store", store or self.store, "--watch", self.file, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=clean_environment(self.folder, environment))

        def end():
            process.kill()
            process.communicate()

        self.addCleanup(end)
        return process

    def kids(self):
        """Returns the key IDs in the file. The file must contain a complete key set at any time."""
        try:
            with open(self.file, encoding="utf-8") as file:
                return [key["kid"] for key in json.load(file)["keys"]]
        except FileNotFoundError:
            return None

    def becomes(self, wanted, seconds=30):
        deadline = time.monotonic() + seconds
        while sorted(self.kids() or []) != sorted(wanted):
            self.assertLess(time.monotonic(), deadline, f"{self.kids()} did not become {wanted}")
            time.sleep(0.02)

    def published(self, sidecar, **params):
        return [key["kid"] for key in sidecar.call("token.jwks", params)["keys"]]

    def test_jwks_prints_the_key_set_of_all_issuers_or_of_one(self):
        sidecar = self.spawn(store=self.store)
        pools = [make_pool(sidecar) for _ in range(2)]
        everything = json.loads(run("jwks", "--store", self.store).stdout)
        self.assertEqual(list(everything), ["keys"])
        self.assertEqual([key["kid"] for key in everything["keys"]], self.published(sidecar))
        one = json.loads(run("jwks", "--store", self.store, "--issuer", pools[0]["issuer"]).stdout)
        self.assertEqual([key["kid"] for key in one["keys"]], self.published(sidecar, issuer=pools[0]["issuer"]))
        token = mint(sidecar, pools[0]["poolId"])["token"]
        jwt.decode(token, jwt.PyJWKSet.from_dict(one).keys[0].key, ["ES256"], audience=pools[0]["poolId"], issuer=pools[0]["issuer"])
        wrong = run("jwks", "--store", self.store, "--issuer", pools[0]["issuer"] + "0")
        self.assertEqual((wrong.returncode, wrong.stdout), (1, b""))
        self.assertIn(b"issuerNotFound", wrong.stderr)

    def follows(self, sidecar, process):
        pool = make_pool(sidecar)
        first = self.published(sidecar)
        self.becomes(first)
        rotated = sidecar.call("key.rotate", {"poolId": pool["poolId"], "activateAfterSeconds": 3600})["kid"]
        self.becomes([*first, rotated])
        sidecar.call("key.revoke", {"kid": first[0]})
        self.becomes(self.published(sidecar))
        self.assertNotIn(first[0], self.kids())
        other = make_pool(sidecar)
        self.becomes(self.published(sidecar))
        sidecar.call("pool.delete", {"poolId": other["poolId"]})
        self.becomes(self.published(sidecar))
        process.send_signal(signal.SIGTERM)
        out, error = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out), (0, b""), error)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("jwks.json.")], [])

    def test_watch_keeps_the_file_current(self):
        sidecar = self.spawn(store=self.store)
        sidecar.call("pool.list")
        self.follows(sidecar, self.watch())

    def test_watch_keeps_the_file_current_with_postgresql(self):
        server = postgres.Server()
        self.addCleanup(server.close)
        database = server.database()
        sidecar = server.sidecar(database)
        self.addCleanup(sidecar.close)
        sidecar.call("pool.list")
        self.follows(sidecar, self.watch(store=server.uri(database), environment={"MINTMARK_MASTER_KEY": postgres.MASTER_KEY}))

    def test_watch_of_one_issuer_writes_no_keys_after_its_pool_is_deleted(self):
        sidecar = self.spawn(store=self.store)
        pool, _ = make_pool(sidecar), make_pool(sidecar)
        process = self.watch("--issuer", pool["issuer"])
        self.becomes(self.published(sidecar, issuer=pool["issuer"]))
        sidecar.call("pool.delete", {"poolId": pool["poolId"]})
        self.becomes([])
        self.assertIsNone(process.poll())

    def test_watch_removes_a_retired_key_at_its_time(self):
        """No write to the store triggers the change: the process waits for the time."""
        sidecar = self.spawn(store=self.store, testing=True)
        sidecar.call("test.clock", {"freeze": True, "setAt": 1_700_000_000})
        pool = make_pool(sidecar)["poolId"]
        old = self.published(sidecar)
        new = sidecar.call("key.rotate", {"poolId": pool, "activateAfterSeconds": 0})["kid"]
        # The clock starts to run three seconds before the last token of the old key expires.
        change = sidecar.call("token.jwks")["nextChangeAt"]
        sidecar.call("test.clock", {"setAt": change - 3})
        self.watch("--testing")
        self.becomes([*old, new])
        sidecar.call("test.clock", {"freeze": False})
        self.becomes([new])
        self.assertGreaterEqual(sidecar.call("system.ping")["now"], change)

    def test_watch_sleeps_while_nothing_changes(self):
        sidecar = self.spawn(store=self.store)
        make_pool(sidecar)
        process = self.watch()
        self.becomes(self.published(sidecar))

        def switches():
            while (found := activity(process.pid)) is None:
                pass
            return sum(int(count) for counts in found.values() for count in counts)

        deadline = time.monotonic() + 120
        while True:   # At first, the process looks at the store once more.
            before = switches()
            time.sleep(3)
            if switches() - before <= 2:
                break
            self.assertLess(time.monotonic(), deadline, "it does not sleep")
        # Changes that do not affect keys wake the process and do not rewrite the file.
        written, before = os.stat(self.file), switches()
        for number in range(20):
            sidecar.call("role.put", {"name": f"role-{number}", "poolId": sidecar.call("pool.list")["pools"][0]["poolId"]})
        while switches() == before:
            self.assertLess(time.monotonic(), deadline, "no change wakes it")
        rested(process.pid)
        self.assertEqual((os.stat(self.file).st_ino, os.stat(self.file).st_mtime_ns), (written.st_ino, written.st_mtime_ns))

    def test_file_is_public_and_keeps_its_mode(self):
        sidecar = self.spawn(store=self.store)
        pool = make_pool(sidecar)["poolId"]
        old = os.umask(0o022)
        try:
            self.watch()
        finally:
            os.umask(old)
        self.becomes(self.published(sidecar))
        self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o644)
        os.chmod(self.file, 0o640)
        sidecar.call("key.rotate", {"poolId": pool})
        self.becomes(self.published(sidecar))
        self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o640)

    def test_missing_store_is_not_created_and_the_file_is_not_changed(self):
        with open(self.file, "w", encoding="ascii") as file:
            file.write('{"keys":[{"kid":"a"}]}')
        for options in [], ["--watch", self.file]:
            done = run("jwks", "--store", self.path("typo.db"), *options)
            self.assertEqual((done.returncode, done.stdout), (2, b""), options)
            self.assertIn(b"typo.db", done.stderr)
        self.assertFalse(os.path.exists(self.path("typo.db")))
        with open(self.file, encoding="ascii") as file:
            self.assertEqual(file.read(), '{"keys":[{"kid":"a"}]}')

    def test_file_that_cannot_be_written_fails_immediately(self):
        self.spawn(store=self.store).call("pool.create", {"name": "shop"})
        done = run("jwks", "--store", self.store, "--watch", self.path("missing", "jwks.json"))
        self.assertEqual(done.returncode, 64)
        self.assertIn(b"cannot be written", done.stderr)


if __name__ == "__main__":
    unittest.main()
