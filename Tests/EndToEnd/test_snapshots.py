"""Snapshots of testing stores: restoring one brings back the complete state, in every process on the store or from a file."""

import base64
import hashlib
import json
import os
import resource
import stat
import unittest

from endtoend import EndToEnd, make_pool, mint, only, pool_with_role
from test_testing_stores import SHOP, sign_up
from workloads import github


def furnish(sidecar):
    """Creates at least one object of each kind. Returns the results."""
    pool, role = pool_with_role(sidecar, signingAlgorithm="EdDSA")
    token = mint(sidecar, pool)
    credentials = sidecar.call("credentials.get", {"token": token["token"]})["credentials"]
    sidecar.call("tenant.create", {"tenantId": "shop", "signingAlgorithm": "EdDSA"})
    hub = github()
    hub.put(sidecar)
    sidecar.call("role.put", {"name": "deploy", "trustPolicy": hub.policy, "description": "Deploys."})
    *_, alice = sign_up(sidecar)
    started = sidecar.call("signUp.start", {"tenantId": "shop", "username": "bob@example.com", "password": "correct Horse 9"})
    return {"pool": pool, "role": role, "token": token, "credentials": credentials, "alice": alice, "started": started}


def ruin(sidecar, made):
    """Changes and deletes the objects that `furnish` created."""
    sidecar.call("pool.delete", {"poolId": made["pool"]})
    sidecar.call("account.delete", {"accountId": made["alice"]["account"]["accountId"]})
    sidecar.call("signUp.submitCode", {"continuationToken": made["started"]["continuationToken"], "code": code(sidecar)})
    sidecar.call("test.outbox", {"clear": True})
    sidecar.call("test.clock", {"advanceSeconds": 86_400 * 40})
    make_pool(sidecar)


def code(sidecar, name="bob@example.com"):
    return sidecar.call("test.outbox", {"to": name})["messages"][-1]["code"]


def everything(sidecar):
    """Returns all rows that can be listed, and the number of the others."""
    rows = sidecar.call("store.stats")["rows"]
    return [
        {name: count for name, count in rows.items() if not name.startswith("mintmark_")}, sidecar.call("system.ping"),
        sidecar.call("pool.list"), sidecar.call("role.list"), sidecar.call("tenant.list"), sidecar.call("account.list", {"tenantId": "shop"}), sidecar.call("token.jwks"),
        sidecar.call("audit.list")["records"], sidecar.call("test.outbox")["messages"]]


def go_on(test, sidecar, made, name="bob@example.com"):
    """Continues with the objects that `furnish` created. All tokens and flows must be valid."""
    test.assertEqual(sidecar.call("token.verify", {"token": made["token"]["token"], "audience": made["pool"]})["use"], "pool")
    sidecar.call("credentials.verify", {"sessionToken": made["credentials"]["sessionToken"]})
    refreshed = sidecar.call("session.refresh", {"refreshToken": made["alice"]["refreshToken"]})
    completed = sidecar.call("signUp.submitCode", {"continuationToken": made["started"]["continuationToken"], "code": code(sidecar)})
    test.assertEqual(completed["state"], "completed")
    signed_in = sidecar.call("signIn.withContinuation", {"continuationToken": completed["continuationToken"]})
    sidecar.call("signIn.withPassword", {"tenantId": "shop", "username": "alice@example.com", "password": "correct Horse 9"})
    test.assertTrue(sidecar.call("audit.verify")["intact"])
    return [refreshed, signed_in, mint(sidecar, made["pool"], "carol"), sidecar.call("token.jwks")]


def rewrite(path, change, change_record=lambda record: None):
    """Changes the header of a snapshot and its records of provider state, and updates the digest."""
    with open(path, "rb") as file:
        header, *lines = [json.loads(line) for line in file.read().splitlines()[:-1]]
    change(header)
    for line in lines:
        if isinstance(line, dict) and "provider" in line:
            change_record(line)
    body = b"".join(json.dumps(line).encode() + b"\n" for line in [header, *lines])
    end = base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()
    with open(path, "wb") as file:
        file.write(body + json.dumps({"end": end}).encode() + b"\n")


class Snapshots(EndToEnd):
    def both(self):
        return [self.spawn("--testing", "--clock", "1700000000", store=self.path("a.db")) for _ in range(2)]

    def test_restore_brings_back_the_state_in_every_process(self):
        first, second = self.both()
        made = furnish(first)
        before = everything(first)
        taken = first.call("test.snapshot")
        self.assertEqual((taken["now"], taken["frozen"]), (1700000000, True))
        ruin(second, made)
        self.assertNotEqual(everything(first), before)
        provider = second.call("credentialsProvider.open", {"poolId": make_pool(second)["poolId"], "logins": SHOP})["provider"]
        restored = first.call("test.restore", {"name": taken["name"]})
        self.assertEqual(restored, {"rows": taken["rows"], "now": 1700000000, "frozen": True})
        self.assertEqual(everything(first), before)
        self.soon_refused("providerNotOpen", second, "credentialsProvider.get", {"provider": provider})
        self.assertEqual(everything(second), before)
        go_on(self, second, made)

    def test_snapshot_can_be_restored_repeatedly(self):
        first, _ = self.both()
        first.call("test.snapshot", {"name": "empty"})
        pools = []
        for name in ("one", "two"):
            pools.append(make_pool(first)["poolId"])
            first.call("test.snapshot", {"name": name})
        for name, count in (("empty", 0), ("two", 2), ("one", 1), ("one", 1), ("two", 2)):
            first.call("test.restore", {"name": name})
            self.assertEqual(len(first.call("pool.list")["pools"]), count, name)
        first.call("test.restore", {"name": "empty"})
        first.call("test.snapshot", {"name": "two"})
        first.call("test.restore", {"name": "two"})
        self.assertEqual(first.call("pool.list")["pools"], [])

    def test_snapshot_without_a_name_gets_one_and_unknown_names_fail_with_the_known_ones(self):
        first, second = self.both()
        first.call("test.snapshot", {"name": "snapshot-1"})
        self.assertEqual([first.call("test.snapshot")["name"] for _ in range(2)], ["snapshot-2", "snapshot-3"])
        error = self.refused("snapshotNotFound", first, "test.restore", {"name": "snapshot-4"})
        self.assertEqual(error.data["kept"], ["snapshot-1", "snapshot-2", "snapshot-3"])
        self.assertEqual(self.refused("snapshotNotFound", second, "test.restore", {"name": "snapshot-1"}).data["kept"], [])
        self.assertTrue(self.violations(first, "test.restore", {}))
        self.assertTrue(self.violations(first, "test.restore", {"name": "a", "file": "/b"}))
        self.assertTrue(self.violations(first, "test.snapshot", {"file": "b"}))
        for number in range(97):
            first.call("test.snapshot", {"name": f"n{number}"})
        self.assertEqual(self.refused("tooManySnapshots", first, "test.snapshot").data["maximum"], 100)
        first.call("test.snapshot", {"name": "n0"})

    def test_reset_removes_the_snapshots_of_this_process_but_no_files(self):
        first, second = self.both()
        for sidecar in (first, second):
            sidecar.call("test.snapshot", {"name": "kept"})
        first.call("test.snapshot", {"file": self.path("kept")})
        first.call("test.reset")
        self.assertEqual(self.refused("snapshotNotFound", first, "test.restore", {"name": "kept"}).data["kept"], [])
        self.assertEqual(first.call("test.snapshot")["name"], "snapshot-1")
        second.call("test.restore", {"name": "kept"})
        first.call("test.restore", {"file": self.path("kept")})

    def test_running_clock_continues_from_the_time_of_the_snapshot(self):
        sidecar = self.spawn("--testing")
        sidecar.call("test.clock", {"setAt": 1700000000, "freeze": False})
        taken = sidecar.call("test.snapshot")
        sidecar.call("test.clock", {"advanceSeconds": 1_000_000})
        restored = sidecar.call("test.restore", {"name": taken["name"]})
        self.assertIn(taken["now"], range(1700000000, 1700001000))
        self.assertIn(restored["now"], range(taken["now"], taken["now"] + 1000))
        self.assertFalse(restored["frozen"])

    def test_snapshots_require_a_testing_store(self):
        sidecar = self.spawn(store=self.path("real.db"))
        self.refused("methodNotFound", sidecar, "test.snapshot")
        self.refused("methodNotFound", sidecar, "test.restore", {"name": "a"})


class Files(EndToEnd):
    """Snapshot files, from which other processes continue."""

    def file(self):
        return self.path("state.snapshot")

    def test_two_processes_continue_from_one_snapshot_and_diverge(self):
        parent = self.spawn("--testing", "--clock", "1700000000")
        parent.call("test.seed", {"seed": "seven"})
        made = furnish(parent)
        before = everything(parent)
        taken = parent.call("test.snapshot", {"file": self.file()})
        self.assertEqual(taken["bytes"], os.path.getsize(self.file()))
        self.assertEqual(stat.S_IMODE(os.stat(self.file()).st_mode), 0o600)
        children = [self.spawn("--testing") for _ in range(2)]
        for child in children:
            child.call("test.restore", {"file": self.file()})
            self.assertEqual(everything(child), before)
        # The same calls return the same results. After different calls the results differ.
        one, other = (go_on(self, child, made) for child in children)
        self.assertEqual(one, other)
        mint(children[0], made["pool"], "dave")
        self.assertNotEqual(mint(children[0], made["pool"], "erin")["identityId"], mint(children[1], made["pool"], "erin")["identityId"])
        # The parent process continues without the changes of the others.
        self.assertEqual(everything(parent), before)
        go_on(self, parent, made)
        self.assertEqual(os.listdir(self.folder), ["state.snapshot"])

    def test_existing_files_are_not_overwritten_and_failures_leave_no_file(self):
        sidecar = self.spawn("--testing")
        with open(self.file(), "w") as file:
            file.write("mine")
        self.refused("snapshotFileExists", sidecar, "test.snapshot", {"file": self.file()})
        self.refused("snapshotNotWritten", sidecar, "test.snapshot", {"file": self.path("nowhere", "state")})
        with open(self.file()) as file:
            self.assertEqual(file.read(), "mine")
        self.assertEqual(os.listdir(self.folder), ["state.snapshot"])

    def test_snapshot_on_a_full_disk_leaves_no_file(self):
        sidecar = self.spawn("--testing")
        make_pool(sidecar)
        resource.prlimit(sidecar.process.pid, resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
        self.refused("snapshotNotWritten", sidecar, "test.snapshot", {"file": self.file()})
        self.assertEqual(os.listdir(self.folder), [])

    def test_invalid_snapshot_fails_and_changes_nothing(self):
        sidecar = self.spawn("--testing", "--clock", "1700000000")
        furnish(sidecar)
        whole = self.path("whole")
        sidecar.call("test.snapshot", {"file": whole})
        make_pool(sidecar)
        before = everything(sidecar)
        with open(whole, "rb") as file:
            data = file.read()
        lines = data.splitlines(keepends=True)
        header = json.loads(lines[0])

        def headed(**other):
            return json.dumps({**header, **other}).encode() + b"\n" + b"".join(lines[1:])

        wrong = {
            b"": "snapshotUnusable", b"\n": "snapshotUnusable", b"SQLite format 3\0" + bytes(5000): "snapshotUnusable",
            b"{}\n": "snapshotUnusable", lines[0]: "snapshotUnusable", data[:-2]: "snapshotUnusable", data[:len(data) // 2]: "snapshotUnusable",
            b"".join(lines[:-1]): "snapshotUnusable", b"".join(lines[:5] + lines[6:]): "snapshotUnusable",
            data.replace(b"bob@", b"eve@", 1): "snapshotUnusable", headed(version=2): "snapshotVersionMismatch",
            headed(kind="letter"): "snapshotUnusable"}
        for number, (text, error) in enumerate(wrong.items()):
            with open(self.path(str(number)), "wb") as file:
                file.write(text)
            with self.subTest(number):
                self.refused(error, sidecar, "test.restore", {"file": self.path(str(number))})
        os.mkfifo(self.path("pipe"))
        for place in (self.path("pipe"), self.folder, self.path("nowhere")):
            self.refused("snapshotUnusable", sidecar, "test.restore", {"file": place})
        self.assertEqual(everything(sidecar), before)

    def test_snapshot_of_another_schema_version_fails(self):
        sidecar = self.spawn("--testing")
        sidecar.call("test.snapshot", {"file": self.file()})
        rewrite(self.file(), lambda header: header.update(schemaVersion=header["schemaVersion"] + 1))
        error = self.refused("snapshotVersionMismatch", sidecar, "test.restore", {"file": self.file()})
        self.assertEqual(error.data["found"], error.data["supported"] + 1)

    def test_snapshot_with_a_time_out_of_range_fails_and_the_process_continues(self):
        sidecar = self.spawn("--testing", "--clock", "1700000000")
        sidecar.call("test.snapshot", {"file": self.file()})
        for now in (-2**63, -1, 2**63 - 1, 253_402_400_800):
            with self.subTest(now):
                rewrite(self.file(), lambda header: header.update(now=now, frozen=True))
                self.refused("snapshotUnusable", sidecar, "test.restore", {"file": self.file()})
                self.assertEqual(sidecar.call("test.clock"), {"now": 1700000000, "frozen": True})

    def test_snapshot_requires_the_same_master_key(self):
        one, same, other = (self.spawn("--testing", environment={"MINTMARK_MASTER_KEY": key * 64}) for key in "bbc")
        made = furnish(one)
        one.call("test.snapshot", {"file": self.file()})
        self.refused("snapshotSealMismatch", other, "test.restore", {"file": self.file()})
        self.assertEqual(other.call("pool.list")["pools"], [])
        same.call("test.restore", {"file": self.file()})
        go_on(self, same, made)

    @only("sqlite")
    def test_snapshot_in_memory_is_restored_into_a_file_with_the_same_master_key(self):
        key = {"MINTMARK_MASTER_KEY": "b" * 64}
        made = furnish(memory := self.spawn("--testing", environment=key))
        memory.call("test.snapshot", {"file": self.file()})
        first, second = (self.spawn("--testing", store=self.path("a.db"), environment=key) for _ in range(2))
        make_pool(first)
        second.call("test.restore", {"file": self.file()})
        go_on(self, first, made)
        # The restored store can be opened again.
        first.finish(), second.finish()
        again = self.spawn("--testing", store=self.path("a.db"), environment=key)
        again.call("signIn.withPassword", {"tenantId": "shop", "username": "alice@example.com", "password": "correct Horse 9"})

    @only("sqlite")
    def test_restore_on_a_full_disk_changes_nothing(self):
        key = {"MINTMARK_MASTER_KEY": "b" * 64}
        source = self.spawn("--testing", environment=key)
        pool, _ = pool_with_role(source)
        for number in range(400):
            mint(source, pool, f"user {number} " + "x" * 80)
        source.call("test.snapshot", {"file": self.path("big")})
        small = self.spawn("--testing", store=self.path("a.db"), environment=key)
        kept = make_pool(small)["poolId"]
        resource.prlimit(small.process.pid, resource.RLIMIT_FSIZE, (4096 * 20, resource.RLIM_INFINITY))
        self.refused("storeFull", small, "test.restore", {"file": self.path("big")})
        self.assertEqual([each["poolId"] for each in small.call("pool.list")["pools"]], [kept])


if __name__ == "__main__":
    unittest.main()
