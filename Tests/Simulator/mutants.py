"""Deliberately broken programs, and how many seeds the simulator needs to find each of them.

The edits below are made in a copy of the tree, never in the tree itself: one program with all mistakes, of which the variable
SIMULATOR_MUTANT chooses one. Without the variable, that program behaves like the released one.
"""

import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
# Private to each file, so that the interfaces of the modules do not change and few of them are built again.
CHOICE = '''

/// Whether this mistake was chosen with SIMULATOR_MUTANT.
private func simulatorMutant(_ name: String) -> Bool { chosenMutant == name }
private let chosenMutant = getenv("SIMULATOR_MUTANT").map { String(cString: $0) }
'''
# The name of each mistake, and what it is.
MUTANTS = {
    "no-sync": "commits are not synced",
    "split-commit": "each statement is committed on its own",
    "early-answer": "the writer answers before the commit",
    "lost-error": "a failed commit is answered as a success",
    "kept-failure": "a refused write keeps its changes",
    "applied-twice": "each write runs twice",
    "stale-epoch": "caches are never invalidated",
    "wall-clock": "the machine's clock in place of the virtual one",
    "audit-apart": "the audit record is in a transaction of its own",
    "audit-forgets": "every fourth audit record is not written",
    "refresh-not-spent": "a refresh token is not marked as used",
    "reuse-forgiven": "the reuse of a refresh token does not end the session",
    "last-method-unlinked": "the last sign-in method of an account can be unlinked",
    "login-taken": "a login of another account is moved to this one",
    "disabled-keeps-sessions": "disabling an account does not end its sessions",
    "disabled-signs-in": "a sign-in does not check whether the account is disabled",
    "lockout-ignored": "the lockout is not checked",
    "attempts-not-counted": "the attempts at a code are not stored",
    "decided-before": "a link is decided before its transaction and not again in it",
    "unchecked-link": "the same, and the unique index does not apply",
    "unlinked-stays": "an identity without logins is not disabled",
    "merge-forgets": "a merge does not move the logins",
    "password-in-cache": "a changed password does not end the sessions",
}
STORAGE, ACCOUNTS, POOLS, CONTEXT = "Sources/Storage", "Sources/Accounts", "Sources/IdentityPools", "Sources/ServiceContext"
# Each edit: the file, the present text, which occurs once, and the text with a mistake.
EDITS = [
    (f"{STORAGE}/SQLite/SQLiteOpening.swift",
     "    static func configure(_ connection: SQLiteConnection) throws {\n",
     "    static func configure(_ connection: SQLiteConnection) throws {\n"
     '        defer { if simulatorMutant("no-sync") { try? connection.execute("PRAGMA synchronous = OFF") } }\n'),
    (f"{STORAGE}/SQLite/SQLiteConnection.swift",
     "            case SQLITE_DONE: return statement.isReadOnly ? 0 : Int(sqlite3_changes(handle))\n",
     "            case SQLITE_DONE:\n                let count = statement.isReadOnly ? 0 : Int(sqlite3_changes(handle))\n"
     '                if !isReader, !statement.isReadOnly, simulatorMutant("split-commit") {\n'
     '                    sqlite3_exec(handle, "COMMIT; BEGIN IMMEDIATE", nil, nil, nil)\n                }\n                return count\n'),
    (f"{STORAGE}/SQLite/SQLiteWriter.swift",
     '        try connection.value.run("COMMIT")\n',
     '        if simulatorMutant("early-answer") { for each in batch { each.job.finish(each.error) } }\n        try connection.value.run("COMMIT")\n'),
    (f"{STORAGE}/SQLite/SQLiteWriter.swift",
     "            for index in batch.indices { batch[index].error = error }\n",
     '            for index in batch.indices where !simulatorMutant("lost-error") { batch[index].error = error }\n'),
    (f"{STORAGE}/SQLite/SQLiteWriter.swift",
     "            if failure != nil, connection.changes != changes { throw UndoneAlone() }\n",
     '            if failure != nil, connection.changes != changes, !simulatorMutant("kept-failure") { throw UndoneAlone() }\n'),
    (f"{STORAGE}/SQLite/SQLiteWriter.swift",
     "        do { try job.perform(transaction) } catch { failure = error }\n",
     "        do {\n            try job.perform(transaction)\n"
     '            if simulatorMutant("applied-twice") { try job.perform(transaction) }\n        } catch { failure = error }\n'),
    (f"{STORAGE}/SQLite/SQLiteSession.swift",
     "committed.flatMap { $0.dataVersion == dataVersion ? $0.epoch : nil }",
     'committed.flatMap { simulatorMutant("stale-epoch") || $0.dataVersion == dataVersion ? $0.epoch : nil }'),
    (f"{CONTEXT}/Store/VirtualClock.swift",
     "        let setting = lastRead.setting {",
     '        if simulatorMutant("wall-clock") { return machine.now }\n        let setting = lastRead.setting {'),
    (f"{CONTEXT}/AuditLog/AuditLog.swift",
     "        watch.noteRecord(at: now)\n",
     "        watch.noteRecord(at: now)\n"
     '        if simulatorMutant("audit-apart") {\n            try tx.execute("COMMIT")\n            try tx.execute("BEGIN IMMEDIATE")\n        }\n'
     '        if simulatorMutant("audit-forgets"), (event.trace?.utf8.last ?? 0) % 4 == 3 { return }\n'),
    (f"{ACCOUNTS}/Records/SessionRecords.swift",
     '        try execute("UPDATE refresh_token SET used_at = $2 WHERE mac = $1 AND used_at IS NULL", mac, now)\n',
     '        if simulatorMutant("refresh-not-spent") { return }\n'
     '        try execute("UPDATE refresh_token SET used_at = $2 WHERE mac = $1 AND used_at IS NULL", mac, now)\n'),
    (f"{ACCOUNTS}/Sessions/SessionRefresh.swift",
     "            _ = try tx.deleteSession(session.id)\n            try context.audit.record(\n",
     '            if !simulatorMutant("reuse-forgiven") { _ = try tx.deleteSession(session.id) }\n            try context.audit.record(\n'),
    (f"{ACCOUNTS}/Accounts/AccountUnlink.swift",
     "                case .last: throw LastProvider(providerId: request.providerId)\n",
     '                case .last: if !simulatorMutant("last-method-unlinked") { throw LastProvider(providerId: request.providerId) }\n'),
    (f"{ACCOUNTS}/Accounts/AccountUpdate.swift",
     "owner != account.id {\n            throw ProviderSubjectInUse(providerId: login.providerId, subject: login.subject)\n",
     'owner != account.id {\n            if simulatorMutant("login-taken") { _ = try tx.deleteAccountLogin(at: login.providerId, of: owner) } else {\n'
     "            throw ProviderSubjectInUse(providerId: login.providerId, subject: login.subject)\n            }\n"),
    (f"{ACCOUNTS}/Accounts/AccountUpdate.swift",
     "        if account.isDisabled { _ = try tx.deleteSessions(of: account.id) }\n",
     '        if account.isDisabled, !simulatorMutant("disabled-keeps-sessions") { _ = try tx.deleteSessions(of: account.id) }\n'),
    (f"{ACCOUNTS}/Accounts/AccountUpdate.swift",
     "        _ = try tx.deleteSessions(of: account.id)\n        try tx.endFlows(of: account.id)\n",
     '        if !simulatorMutant("password-in-cache") { _ = try tx.deleteSessions(of: account.id) }\n        try tx.endFlows(of: account.id)\n'),
    (f"{ACCOUNTS}/SignInCompletion/FirstFactor.swift",
     "        if account.isDisabled { throw AccountDisabled(accountId: account.id) }\n",
     '        if account.isDisabled, !simulatorMutant("disabled-signs-in") { throw AccountDisabled(accountId: account.id) }\n'),
    (f"{ACCOUNTS}/SignInCompletion/SignInCompletion.swift",
     "            try account.requireEnabled()\n",
     '            if !simulatorMutant("disabled-signs-in") { try account.requireEnabled() }\n'),
    (f"{ACCOUNTS}/RateLimits/Lockout.swift",
     "        guard now < lockedUntil else { return }\n",
     '        guard now < lockedUntil, !simulatorMutant("lockout-ignored") else { return }\n'),
    (f"{ACCOUNTS}/Records/FlowRecords.swift",
     "            flow.code.mac, flow.code.expiresAt, flow.code.sentAt, flow.code.tries, flow.sends,",
     '            flow.code.mac, flow.code.expiresAt, flow.code.sentAt, simulatorMutant("attempts-not-counted") ? 0 : flow.code.tries, flow.sends,'),
    (f"{POOLS}/Identities/IdentityResolutionRecords.swift",
     "            try database.write(isolation: isolation) { tx in\n                let (context, facts) = try gather(tx)\n",
     '            let early = simulatorMutant("decided-before") || simulatorMutant("unchecked-link")\n'
     "            let stale = early ? try database.read(.patient) { try gather($0) } : nil\n"
     "            return try database.write(isolation: isolation) { tx in\n                let (context, facts) = try stale ?? gather(tx)\n"),
    (f"{POOLS}/Records/IdentityRecords.swift",
     "        try execute(\n            \"\"\"\n            INSERT INTO login (pool_id, provider, subject, identity_id, linked_at) VALUES ($1, $2, $3, $4, $5)\n",
     '        if simulatorMutant("unchecked-link") {\n            return try execute(\n'
     '                "INSERT OR REPLACE INTO login (pool_id, provider, subject, identity_id, linked_at) VALUES ($1, $2, $3, $4, $5)", poolId,\n'
     "                login.provider, login.subject, identityId, now) == 1\n        }\n"
     "        return try execute(\n            \"\"\"\n            INSERT INTO login (pool_id, provider, subject, identity_id, linked_at) VALUES ($1, $2, $3, $4, $5)\n"),
    (f"{POOLS}/Identities/IdentityUnlink.swift",
     "        try tx.setState(try tx.logins(of: id).isEmpty ? .disabled : .authenticated, of: id, at: now)\n",
     '        if !simulatorMutant("unlinked-stays") {\n'
     "            try tx.setState(try tx.logins(of: id).isEmpty ? .disabled : .authenticated, of: id, at: now)\n        }\n"),
    (f"{POOLS}/Identities/IdentityResolutionRecords.swift",
     '        try execute("UPDATE login SET identity_id = $2 WHERE identity_id = $1", child, parent)\n',
     '        if simulatorMutant("merge-forgets") { try execute("DELETE FROM login WHERE identity_id = $1", child) }\n'
     '        try execute("UPDATE login SET identity_id = $2 WHERE identity_id = $1", child, parent)\n'),
]


def change(tree):
    """Makes the edits in a tree."""
    for name, present, mistaken in EDITS:
        path = os.path.join(tree, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if text.count(present) != 1:
            raise SystemExit(f"mutants.py: {name} no longer has this text once; adapt the edit:\n{present}")
        text = text.replace(present, mistaken)
        if CHOICE not in text:
            text = ("" if re.search("^import Glibc$", text, re.M) else "import Glibc\n") + text + CHOICE
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def build():
    """Builds the program with the mistakes, in .build/mutants, and returns its path. The first build takes minutes."""
    tree, scratch = (os.path.join(ROOT, ".build", "mutants", name) for name in ("tree", "build"))
    shutil.rmtree(tree, ignore_errors=True)
    files = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True).stdout
    for name in files.decode().split("\0"):
        if name and os.path.isfile(os.path.join(ROOT, name)):
            os.makedirs(os.path.dirname(os.path.join(tree, name)), exist_ok=True)
            shutil.copy2(os.path.join(ROOT, name), os.path.join(tree, name))
    change(tree)
    subprocess.run(["swift", "build", "--product", "mintmark", "--scratch-path", scratch], cwd=tree, check=True)
    return os.path.join(scratch, "debug", "mintmark")


def checked():
    """Checks that every edit still applies, without a build. Returns the number of edits."""
    for name, present, _ in EDITS:
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            if file.read().count(present) != 1:
                raise AssertionError(f"mutants.py: {name} no longer has this text once; adapt the edit:\n{present}")
    return len(EDITS)


if __name__ == "__main__":
    if sys.argv[1:2] == ["change"]:
        change(sys.argv[2])
    else:
        print(build())
