"""Maintenance of a store in use: audit log heads in the log, expired rows, and retention of audit records."""

import json
import os
import time

import stores
from endtoend import EndToEnd, make_pool, mint, only, pool_with_role
from sidecar import run

MOMENT = 1_700_000_000
HOUR, DAY = 3_600, 86_400


class Housekeeping(EndToEnd):
    def setUp(self):
        super().setUp()
        self.store = self.path("store.db")

    def start(self, *options):
        # The heads that are written at the end have the log level debug.
        return self.spawn("--log-level", "debug", *options, store=self.store, testing=True)

    def begin(self, *options):
        """Starts a process whose clock is frozen at MOMENT and which has written one audit record."""
        sidecar = self.start(*options)
        sidecar.call("test.clock", {"freeze": True, "setAt": MOMENT})
        return sidecar, make_pool(sidecar)["poolId"]

    def later(self, sidecar, seconds):
        sidecar.call("test.clock", {"advanceSeconds": seconds, "settle": False})

    def swept(self, sidecar, seconds, *others):
        """Advances the clock, makes a change, and waits until the maintenance run that is then due has completed in one of the processes."""
        self.later(sidecar, seconds)
        now = sidecar.call("test.clock")["now"]
        make_pool(sidecar)
        self.eventually(lambda: now in [each.call("system.metrics").get("lastSweptAt") for each in (sidecar, *others)])

    def eventually(self, condition):
        deadline = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), deadline, "it did not come true")
            time.sleep(0.01)

    def heads(self, sidecar):
        """Returns the heads in the `audit heads` log lines, as parameters of audit.verify."""
        lines = [json.loads(line) for line in sidecar.stderr_text().splitlines() if line.startswith("{")]
        return [{"heads": line["heads"]} for line in lines if line["message"] == "audit heads"]

    def intact(self, params=None):
        """Calls audit.verify in a new process. Returns whether all chains are intact, and the chains."""
        verifier = self.start()
        answer = verifier.call("audit.verify", params or {})
        self.assertEqual(verifier.finish(), 0)
        return answer["intact"], answer["chains"]

    # Audit log heads

    # Only with a single connection is it certain which connection writes a record.
    @only("sqlite")
    def test_heads_are_logged_once_per_hour_with_changes_and_at_end(self):
        sidecar, pool = self.begin()
        self.later(sidecar, HOUR - 1)
        mint(sidecar, pool, "a")
        self.later(sidecar, 1)
        self.assertEqual(self.heads(sidecar), [], "nothing happens without a change")
        mint(sidecar, pool, "b")
        self.eventually(lambda: self.heads(sidecar))
        mint(sidecar, pool, "c")
        self.later(sidecar, HOUR - 1)
        mint(sidecar, pool, "d")
        self.assertEqual(sidecar.finish(), 0)
        hourly, last = self.heads(sidecar)
        self.assertEqual(last["heads"][0]["records"], 5)
        for params in (hourly, last):
            self.assertEqual(self.intact(params)[0], True, params)
        # Records removed after the hourly line contradict only the last line. Records removed before it contradict both lines.
        self.rows("DELETE FROM audit WHERE number = 5")
        self.assertEqual((self.intact(hourly)[0], self.intact(last)[0]), (True, False))
        self.rows("DELETE FROM audit")
        self.assertEqual((self.intact()[0], self.intact(hourly)[0]), (False, False))

    def test_normal_shutdown_logs_nothing(self):
        for name in "first", "second":
            sidecar = self.spawn(store=self.store)
            make_pool(sidecar, name=name)
            self.assertEqual(sidecar.finish(), 0)
        self.assertEqual(sidecar.stderr_text(), "", "only the process that creates a store logs that")

    @only("sqlite")
    def test_heads_are_appended_to_file(self):
        heads = self.path("heads")
        for _ in range(2):
            sidecar = self.spawn("--audit-heads-file", heads, store=self.store)
            make_pool(sidecar)
            self.assertEqual(sidecar.finish(), 0)
            self.assertNotIn("audit heads", sidecar.stderr_text())
        self.assertEqual(os.stat(heads).st_mode & 0o777, 0o600)
        with open(heads, encoding="ascii") as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual(len(lines), 2)
        check = lambda params: self.spawn(store=self.store).call("audit.verify", params)["intact"]
        self.assertEqual([check(params) for params in lines], [True, True])
        self.rows("DELETE FROM audit WHERE chain = ?", lines[1]["heads"][-1]["chain"])
        self.assertIn(False, [check(params) for params in lines])
        done = run("call", "--store", self.path("other.db"), "--audit-heads-file", self.path("by call"), "pool.create", '{"name": "a"}')
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        with open(self.path("by call"), encoding="ascii") as file:
            self.assertEqual(len(json.loads(file.read())["heads"]), 1)
        for path, words in ((self.folder, b"directory"), (self.path("no folder", "heads"), b"cannot be created")):
            done = run("serve", "--store", self.path("third.db"), environment={"MINTMARK_AUDIT_HEADS_FILE": path})
            self.assertEqual(done.returncode, 64)
            self.assertIn(words, done.stderr)
            self.assertIn(b"MINTMARK_AUDIT_HEADS_FILE", done.stderr)

    def test_process_without_changes_logs_no_heads(self):
        sidecar, _ = self.begin()
        self.assertEqual(sidecar.finish(), 0)
        self.assertEqual(len(self.heads(sidecar)), 1)
        reader = self.start()
        reader.call("pool.list")
        self.assertEqual(reader.finish(), 0)
        self.assertEqual(self.heads(reader), [])

    def test_heads_cover_every_chain(self):
        """The log names every chain that no other chain refers to. The removal of any other chain is detected through these."""
        for _ in range(3):
            sidecar = self.start()
            first = make_pool(sidecar)
            sidecar.finish()
        last = self.heads(sidecar)[-1]
        self.assertEqual(len(last["heads"]), 1)
        self.assertTrue(self.intact(last)[0])
        chain = self.rows("SELECT chain FROM audit WHERE chain <> ? LIMIT 1", last["heads"][0]["chain"])[0][0]
        self.rows("DELETE FROM audit WHERE chain = ?", chain)
        self.assertFalse(self.intact(last)[0], first)

    def test_idle_process_has_no_maintenance_thread(self):
        sidecar, _ = self.begin()
        self.swept(sidecar, HOUR)
        def threads():
            names = []
            for task in os.listdir(f"/proc/{sidecar.process.pid}/task"):
                try:
                    with open(f"/proc/{sidecar.process.pid}/task/{task}/comm", encoding="ascii") as file:
                        names.append(file.read().strip())
                except FileNotFoundError:
                    pass
            return names
        self.eventually(lambda: "housekeeping" not in threads())

    # Expired rows

    def test_revocations_are_deleted_when_revoked_tokens_have_expired(self):
        sidecar = self.start()
        sidecar.call("test.clock", {"freeze": True, "setAt": MOMENT})
        pool, _ = pool_with_role(sidecar)
        user = mint(sidecar, pool, durationSeconds=DAY)
        self.later(sidecar, 1)
        sidecar.call("credentials.revoke", {"identityId": user["identityId"]})
        self.swept(sidecar, DAY - 2)
        self.assertEqual(len(self.rows("SELECT * FROM revocation")), 1)
        self.refused("tokenRevoked", sidecar, "credentials.get", {"token": user["token"]})
        self.swept(sidecar, 2 * HOUR)
        self.assertEqual(self.rows("SELECT * FROM revocation"), [])
        self.refused("tokenExpired", sidecar, "credentials.get", {"token": user["token"]})
        self.assertEqual(sidecar.call("system.metrics")["sweptRows"], 1)

    def test_keys_are_deleted_when_their_last_token_has_expired(self):
        sidecar, pool = self.begin()
        kids = lambda: {kid for kid, in self.rows("SELECT kid FROM signing_key WHERE owner = ?", f"pools/{pool}")}
        first = kids()
        rotated = sidecar.call("key.rotate", {"poolId": pool})["kid"]
        self.later(sidecar, DAY)
        token = mint(sidecar, pool, durationSeconds=DAY)["token"]
        self.swept(sidecar, DAY)
        self.assertEqual(kids(), first | {rotated}, "the old key is published for a day after the last token")
        self.swept(sidecar, 2 * HOUR)
        self.assertEqual(kids(), {rotated})
        new = sidecar.call("key.revoke", {"kid": rotated})["replacement"]["kid"]
        self.swept(sidecar, DAY)
        self.assertEqual(kids(), {rotated, new}, "a revoked key is known for as long as its tokens would have lived")
        self.refused("tokenRevoked", sidecar, "token.verify", {"token": token, "audience": pool})
        self.swept(sidecar, 2 * HOUR)
        self.assertEqual(kids(), {new})
        token = mint(sidecar, pool)["token"]
        self.assertEqual(sidecar.call("token.verify", {"token": token, "audience": pool})["use"], "pool")

    def test_short_lived_processes_run_maintenance(self):
        sidecar, pool = self.begin()
        sidecar.call("credentials.revoke", {"poolId": pool})
        self.assertEqual(sidecar.finish(), 0)
        self.assertEqual(len(self.rows("SELECT * FROM revocation")), 1)
        last = self.start()
        self.later(last, 2 * DAY)
        make_pool(last)
        self.assertEqual(last.finish(), 0)
        self.assertEqual(self.rows("SELECT * FROM revocation"), [])

    # Retention of audit records

    def test_all_records_are_kept_without_retention(self):
        sidecar, pool = self.begin()
        self.swept(sidecar, 10_000 * DAY)
        self.assertEqual(len(sidecar.call("audit.list", {"poolId": pool})["records"]), 1)

    # Only with a single connection is it certain which connection writes a record.
    @only("sqlite")
    def test_old_records_are_deleted_and_remaining_ones_verified(self):
        sidecar, pool = self.begin("--audit-retention-days", "30")
        for i in range(5):
            mint(sidecar, pool, f"user-{i}")
        self.later(sidecar, 20 * DAY)
        mint(sidecar, pool, "young")
        before = [{k: c[k] for k in ("chain", "records", "head")} for c in sidecar.call("audit.verify")["chains"]]
        self.swept(sidecar, 15 * DAY)
        records = sidecar.call("audit.list")["records"]
        self.assertEqual(
            [r["method"] for r in records], ["audit.checkpoint", "pool.create", "token.mintForDeveloper"])
        answer = sidecar.call("audit.verify", {"heads": before})
        self.assertTrue(answer["intact"], answer)
        self.assertEqual([(c["records"], c["removedRecords"]) for c in answer["chains"]], [(9, 6)])
        self.assertEqual(records[0]["details"]["removed"][records[0]["chain"]].split(".")[0], "6")
        self.assertEqual(sidecar.finish(), 0)

        self.rows("CREATE TABLE kept AS SELECT * FROM audit")
        def after(statement, params=None):
            self.rows(statement)
            answer = self.intact(params)[0]
            self.rows("DELETE FROM audit")
            self.rows("INSERT INTO audit SELECT * FROM kept")
            return answer

        self.assertTrue(after("UPDATE audit SET number = number"))
        self.assertFalse(after("DELETE FROM audit WHERE number = 7"), "more was cut off than the checkpoint says")
        self.assertFalse(after("DELETE FROM audit WHERE number = 9"), "the checkpoint itself was cut off")
        self.assertFalse(after("UPDATE audit SET details = replace(details, '\"6.', '\"7.')"), "the checkpoint was altered")
        self.assertFalse(after("INSERT INTO audit SELECT chain, 3, at, method, trace, pool_id, identity_id, subject, details, mac, position FROM audit LIMIT 1"))
        self.assertFalse(after("DELETE FROM audit", self.heads(sidecar)[-1]))

    def test_retention_works_over_years(self):
        """Checkpoints expire as well, and newer ones repeat their content. A chain with rare records stays intact."""
        sidecar, _ = self.begin("--audit-retention-days", "30")
        slow = self.start("--audit-retention-days", "30")
        make_pool(slow)
        for month in range(12):
            heads = [{k: c[k] for k in ("chain", "records", "head")} for c in sidecar.call("audit.verify")["chains"]]
            self.swept(sidecar, 10 * DAY, slow)
            if month % 5 == 4:
                make_pool(slow)
            self.swept(sidecar, 10 * DAY, slow)
            answer = sidecar.call("audit.verify", {"heads": heads})
            self.assertTrue(answer["intact"], (month, answer))
            if month == 7:
                brief = self.start("--audit-retention-days", "30")
                make_pool(brief)
                self.assertEqual(brief.finish(), 0)
        self.assertLess(len(self.rows("SELECT * FROM audit")), 15)
        self.assertLess(max(len(details) for details, in self.rows("SELECT details FROM audit")), 1_000)
        self.assertTrue(self.intact()[0])

    def test_chain_that_was_completely_deleted_continues(self):
        quiet, pool = self.begin("--audit-retention-days", "30")
        mint(quiet, pool, "a")
        # In PostgreSQL, the two records can be in chains of two connections.
        before = {each["chain"]: each["records"] for each in quiet.call("audit.verify")["chains"]}
        self.assertEqual(sum(before.values()), 2)
        busy = self.start("--audit-retention-days", "30")
        make_pool(busy)
        self.swept(busy, 31 * DAY)
        self.assertEqual(busy.call("audit.list", {"poolId": pool})["records"], [])
        mint(quiet, pool, "b")
        answer = quiet.call("audit.verify")
        self.assertTrue(answer["intact"], answer)
        record, = quiet.call("audit.list", {"poolId": pool})["records"]
        chain, = [each for each in answer["chains"] if each["chain"] == record["chain"]]
        removed = before.get(record["chain"], 0)   # 0 if a connection without records was used.
        self.assertEqual((record["sequence"], chain["records"], chain.get("removedRecords", 0)), (removed + 1, removed + 1, removed))
        self.assertTrue(stores.current.kind == "postgres" or removed == 2)

    def test_concurrent_maintenance_of_two_processes(self):
        """Both processes find thousands of old records. All are deleted in small transactions, and the audit log stays intact."""
        one, pool = self.begin("--audit-retention-days", "30")
        two = self.start("--audit-retention-days", "30")
        for sidecar in (one, two):
            ids = [sidecar.send("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": f"{sidecar.process.pid}-{i}"}}) for i in range(900)]
            for id in ids:
                sidecar.answer(id)
        self.later(one, 31 * DAY)
        for round in range(5):
            ids = [(sidecar, sidecar.send("pool.create", {"name": f"p{round}"})) for sidecar in (one, two)]
            for sidecar, id in ids:
                sidecar.answer(id)
        self.eventually(lambda: self.rows("SELECT count(*) FROM audit WHERE at < ?", MOMENT + DAY) == [(0,)])
        for sidecar in (one, two):
            self.works(sidecar)
            self.assertTrue(sidecar.call("audit.verify", timeout=60)["intact"])
        self.eventually(lambda: sum(each.call("system.metrics").get("sweptRows", 0) for each in (one, two)) == 1801)
        self.assertGreaterEqual(self.rows("SELECT count(*) FROM audit WHERE method = 'audit.checkpoint'")[0][0], 9)

    def test_invalid_retention_is_rejected(self):
        for days in ("0", "-3", "36501", "soon"):
            self.assertEqual(run("serve", "--store", ":memory:", "--audit-retention-days", days).returncode, 64, days)
        self.assertEqual(run("serve", "--store", ":memory:", environment={"MINTMARK_AUDIT_RETENTION_DAYS": "0"}).returncode, 64)
        self.assertEqual(run("serve", "--store", ":memory:", environment={"MINTMARK_AUDIT_RETENTION_DAYS": "7"}).returncode, 0)
