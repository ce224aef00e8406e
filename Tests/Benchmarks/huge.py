"""The rows about large stores: every operation on a store with millions of identities and accounts, beside a store with a thousand.

Users and accounts are numbered. The program creates the first ones; SQL adds rows of the same shape, which are compared with them."""

import base64
import hashlib
import os
import random
import re
import sqlite3
import subprocess
import sys
import time

from host import MASTER_KEY, POOL, Server, Sidecar, median, mints
from scaling import pgbench_program

PASSWORD = "correct Horse 9"
CHAIN = "ffffffff-ffff-4fff-bfff-ffffffffffff"   # The chain of the audit records that SQL adds. It is not verified.
AUDIT_SCOPE = "AuditFilter(since: 0, until: 9223372036854775807, poolId: nil, identityId: nil, method: nil) by position"
WRITTEN = 1000   # Users and accounts that the program creates.


# The milliseconds in the ID of identity 0. The IDs of the program contain the time of creation, so they grow.
BASE = int(time.time() * 1000) - 20_000_000


def identity_of(number):
    """The ID of an identity that SQL adds."""
    milliseconds = f"{BASE + number:012x}"
    return f"local-1:{milliseconds[:8]}-{milliseconds[8:]}-7000-8000-{number:012x}"


def account_of(number):
    """The ID of an account that SQL adds, in no order."""
    return f"{number * 2654435761 % 4294967296:08x}-{number * 40503 % 65536:04x}-4000-8000-{number:012x}"


def written(text, hexadecimal, noise):
    """A statement of FILLING for one of the databases: as `identity_of` and `account_of`."""
    def digits(number, width):
        return hexadecimal.format(number=number, width=width)
    time = digits(f"({BASE} + n)", 12)
    text = text.replace("IDENTITY", f"'local-1:' || substr({time}, 1, 8) || '-' || substr({time}, 9) || '-7000-8000-' || {digits('n', 12)}")
    for name, number in (("ACCOUNT", "n"), ("SESSION", "(n + 50000000)")):
        text = text.replace(name, " || '-' || ".join((
            digits(f"({number} * 2654435761 % 4294967296)", 8), digits(f"({number} * 40503 % 65536)", 4), "'4000'", "'8000'", digits(number, 12))))
    return text.replace("NOISE", noise)


class Lite:
    """A SQLite file, filled over Python's module."""

    name = "SQLite"

    def __init__(self, path):
        self.store, self.environment = path, {}

    def sql(self, text):
        connection = sqlite3.connect(self.store)
        rows = ["|".join(map(str, row)) for row in connection.execute(text)]
        connection.commit()
        connection.close()
        return rows

    def fill(self, statements, first, count):
        connection = sqlite3.connect(self.store, isolation_level=None)
        for pragma in ("journal_mode = off", "synchronous = off", "cache_size = -1000000", "temp_store = file"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        indexes = connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN ('identity', 'login', 'account', 'audit', 'session', 'refresh_token')").fetchall()
        for name, _ in indexes:
            connection.execute(f"DROP INDEX {name}")
        for text in statements:
            text = text.replace("SERIES", f"(WITH RECURSIVE s (n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM s WHERE n < {first + count - 1}) SELECT n FROM s)")
            connection.execute(written(text, "printf('%0{width}x', {number})", "randomblob(32)"))
        for _, text in indexes:
            connection.execute(text)
        connection.execute("PRAGMA journal_mode = wal").fetchall()
        connection.close()

    def bytes(self):
        return os.path.getsize(self.store)

    def warm(self):
        """Reads the file into the memory of the machine."""
        with open(self.store, "rb") as file:
            while file.read(1 << 22):
                pass

    def alone(self, queries, count, seed):
        """Microseconds of queries by SQLite alone, for random numbers :n below `count`."""
        connection = sqlite3.connect(self.store)
        noise, times = random.Random(seed), []
        for _ in range(1000):
            number = {"n": noise.randrange(count)}
            began = time.perf_counter_ns()
            for query in queries:
                connection.execute(query, number).fetchall()
            times.append((time.perf_counter_ns() - began) / 1e3)
        connection.close()
        return median(times)

    def close(self):
        for end in ("", "-wal", "-shm", ".key"):
            if os.path.exists(self.store + end):
                os.remove(self.store + end)


class Postgres:
    """A database of a server of the tests, filled with psql."""

    name = "PostgreSQL"
    settings = "SET session_replication_role = replica; SET maintenance_work_mem = '512MB'; SET work_mem = '256MB'; SET synchronous_commit = off;"

    def __init__(self, server):
        self.server, self.database = server, server.database()
        self.store, self.environment = server.uri(self.database), {"MINTMARK_MASTER_KEY": MASTER_KEY}

    def sql(self, text):
        return self.psql(text).splitlines()

    def psql(self, text):
        done = subprocess.run(
            ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.server.folder, "-U", "mintmark", "-d", self.database, "-f", "-"],
            input=text, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        return done.stdout

    def fill(self, statements, first, count):
        indexes = [line for line in self.sql(
            "SELECT indexname, indexdef FROM pg_indexes WHERE tablename IN ('identity', 'login', 'account', 'audit', 'session', 'refresh_token') AND indexname !~ '_pkey[0-9]*$'")]
        lines = [self.settings, *(f"DROP INDEX {line.split('|')[0]};" for line in indexes)]
        for text in statements:
            text = text.replace("SERIES", f"generate_series({first}::BIGINT, {first + count - 1}) AS s (n)")
            lines.append(written(text, "lpad(to_hex({number}), {width}, '0')", "decode(md5(random()::TEXT) || md5(random()::TEXT), 'hex')") + ";")
        lines += [line.split("|", 1)[1].replace(" ON ONLY ", " ON ") + ";" for line in indexes]
        self.psql("\n".join([*lines, "VACUUM ANALYZE;", "CHECKPOINT;"]))

    def bytes(self):
        return int(self.sql("SELECT pg_database_size(current_database())")[0])

    def warm(self):
        """Reads the tables and indexes into the memory of the machine."""
        self.sql("CREATE EXTENSION IF NOT EXISTS pg_prewarm SCHEMA pg_catalog")
        self.sql("SELECT sum(pg_prewarm(oid::regclass, 'read')) FROM pg_class WHERE relkind IN ('r', 'i') AND relnamespace = 'public'::regnamespace")

    def alone(self, queries, count, seed):
        """Microseconds of queries by pgbench, as `Lite.alone`."""
        path = os.path.join(self.server.folder, "alone.sql")
        with open(path, "w") as file:
            file.write("\n".join([f"\\set n random(0, {count - 1})", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;", *(query + ";" for query in queries), "COMMIT;\n"]))
        output = subprocess.run(
            [pgbench_program(), "-n", "-M", "prepared", "-h", self.server.folder, "-U", "mintmark", "-f", path, "-t", "1000", "--random-seed", str(seed), self.database],
            capture_output=True, text=True, check=True).stdout
        return float(re.search(r"latency average = ([\d.]+)", output)[1]) * 1e3

    def close(self):
        self.server.sql(f"DROP DATABASE {self.database} WITH (FORCE)")


# Rows of the same shape as those of the program, in the order of their keys.
FILLING = {
    "identity": f"INSERT INTO identity (id, pool_id, state, created_at, updated_at) SELECT IDENTITY, '{POOL}', 'authenticated', {{now}}, {{now}} FROM SERIES",
    "login": f"INSERT INTO login (pool_id, provider, subject, identity_id, linked_at) SELECT '{POOL}', 'login.shop', 'user-' || n, IDENTITY, {{now}} FROM SERIES ORDER BY 'user-' || n",
    "audit": f"INSERT INTO audit (chain, number, at, method, pool_id, identity_id, details, mac, position) SELECT '{CHAIN}', n + 1, {{now}} - 100000 + n / 1000, "
             f"'token.mintForDeveloper', '{POOL}', IDENTITY, '{{{{\"isNewIdentity\":true}}}}', NOISE, CAST(1000000 AS BIGINT) * ({{now}} - 100000) + 1000 * n FROM SERIES",
    "account": "INSERT INTO account (id, tenant_id, username, email, email_verified, method, attributes, claims, disabled, must_change_password, valid_after, created_at, updated_at) "
               "SELECT ACCOUNT, 'default', 'user' || n || '@example.com', 'user' || n || '@example.com', TRUE, 'password', '{{}}', '{{}}', FALSE, FALSE, 0, {now} - 1000 + n / 1000, {now} FROM SERIES ORDER BY 1",
    "account_name": "INSERT INTO account_name (tenant_id, kind, name, account_id) SELECT 'default', 'email', 'user' || n || '@example.com', ACCOUNT FROM SERIES ORDER BY 3",
    "session": "INSERT INTO session (id, account_id, amr, provider, claims, scope, authenticated_at, created_at, last_used_at, expires_at, audience) "
               "SELECT SESSION, ACCOUNT, 'pwd', 'password', '{{}}', 'openid', {now}, {now}, {now}, {now} + 7776000, 'default' FROM SERIES ORDER BY 1",
    "refresh_token": "INSERT INTO refresh_token (mac, session_id, expires_at) SELECT NOISE, SESSION, {now} + 7776000 FROM SERIES ORDER BY 1",
}


class Large:
    """A store with so many identities and accounts, and a process on it."""

    def __init__(self, place, identities, accounts, report):
        self.place, self.identities, self.accounts, self.noise, self.fresh = place, identities, accounts, random.Random(7), 0
        self.start()
        self.sidecar.call("pool.create", {"name": "shop", "poolId": POOL, "developerProvider": "login.shop", "allowUnauthenticated": True}, timeout=60)
        self.sidecar.write(b"".join(mints(range(WRITTEN))))
        self.sidecar.lines(WRITTEN, 120)
        self.emails = [f"user{number}@example.com" for number in range(WRITTEN)]
        hashed = base64.b64encode(hashlib.pbkdf2_hmac("sha256", PASSWORD.encode(), b"salt", 1)).decode()
        self.sidecar.call("account.import", {
            "hash": {"algorithm": "pbkdf2Sha256", "rounds": 1},
            "accounts": [{"email": each, "emailVerified": True, "passwordHash": hashed, "salt": base64.b64encode(b"salt").decode()} for each in self.emails]}, timeout=60)
        now = self.sidecar.call("system.ping")["now"]
        self.sidecar.finish(60)
        self.sidecar.close()
        began = time.monotonic()
        filling = {name: text.format(now=now) for name, text in FILLING.items()}
        # The log has a record for a fifth of the identities, as if retention had removed the others.
        for names, first, count in ((("identity", "login"), WRITTEN, identities - WRITTEN), (("audit",), 0, identities // 5),
                                    (("account", "account_name", "session", "refresh_token"), WRITTEN, accounts - WRITTEN)):
            if count > 0:
                place.fill([filling[name] for name in names], first, count)
        self.compare()
        report(f"{place.name}: {identities:,} identities, {accounts:,} accounts filled in {time.monotonic() - began:.0f} s, {place.bytes() / 1e9:.1f} GB")
        self.find_middle()
        self.start()

    def start(self):
        self.sidecar = Sidecar("--testing", store=self.place.store, environment=self.place.environment, checked=False)

    def find_middle(self):
        """Finds the middle of the lists."""
        if self.identities > WRITTEN:
            self.middle = identity_of(self.identities // 2)
            self.middle_of_log = self.record(f"chain = '{CHAIN}' AND number = {self.identities // 10}")
        else:
            found = self.place.sql("SELECT id FROM identity ORDER BY id")
            self.middle = found[len(found) // 2]
            self.middle_of_log = self.record(f"method = 'token.mintForDeveloper' AND chain <> '{CHAIN}'", WRITTEN // 2)
        created = self.place.sql("SELECT created_at FROM account ORDER BY created_at")
        self.middle_of_creation = created[len(created) // 2]

    def record(self, condition, passed=0):
        """The place of a record in the log."""
        return self.place.sql(f"SELECT at || ' ' || position || ' ' || number || ' ' || chain FROM audit WHERE {condition} ORDER BY at, position LIMIT 1 OFFSET {passed}")[0]

    def compare(self):
        """Rows that SQL has added and rows of the program have the same columns, apart from names, times and random values."""
        if self.identities <= WRITTEN:
            return
        for table, mine, theirs in (
                ("identity", f"id = '{identity_of(WRITTEN)}'", "id IN (SELECT identity_id FROM login WHERE subject = 'user-0')"),
                ("login", f"subject = 'user-{WRITTEN}'", "subject = 'user-0'"),
                ("audit", f"chain = '{CHAIN}' AND number = 1", "method = 'token.mintForDeveloper' AND chain < 'ffffffff'"),
                ("account", f"id = '{account_of(WRITTEN)}'", "username = 'user0@example.com'"),
                ("account_name", f"name = 'user{WRITTEN}@example.com'", "name = 'user0@example.com'")):
            shapes = []
            for condition in (mine, theirs):
                row, = self.place.sql(f"SELECT * FROM {table} WHERE {condition} LIMIT 1")[:1]
                shapes.append([re.sub(r"[0-9a-f]", "0", each) for each in row.split("|") if len(each) < 60][:4])
            shapes = [[re.sub("0+", "0", each) for each in shape] for shape in shapes]
            if shapes[0] != shapes[1]:
                sys.exit(f"rows of {table} differ: {shapes}")

    # What the operations take

    def user(self):
        return self.noise.randrange(self.identities)

    def known_identity(self):
        return identity_of(self.noise.randrange(WRITTEN, self.identities)) if self.identities > WRITTEN else self.owner(self.user())

    def owner(self, user):
        return self.call("identity.lookupDeveloper", {"poolId": POOL, "developerUserIdentifier": f"user-{user}"})["identityId"]

    def email(self):
        return f"user{self.noise.randrange(self.accounts)}@example.com"

    def account(self):
        return self.call("account.find", {"email": self.email()})["accountId"]

    def new(self, kind):
        self.fresh += 1
        return f"{kind}-{self.fresh}-{self.noise.getrandbits(40)}"

    def call(self, method, params=None):
        return self.sidecar.call(method, params or {}, timeout=600)

    def timed(self, method, params=None):
        """The microseconds of a call, and its result."""
        began = time.perf_counter_ns()
        result = self.call(method, params)
        return (time.perf_counter_ns() - began) / 1e3, result


def cursor(method, scope, place):
    """The cursor after a place in a list, without reading the pages before it."""
    return base64.urlsafe_b64encode(hashlib.sha256(f"{method}\n{scope}".encode()).digest()[:8] + place.encode()).rstrip(b"=").decode()


def simple(method, params):
    return lambda large: large.timed(method, params(large))[0]


def listed(method, scope, params, place):
    return lambda large: large.timed(method, {**params, "cursor": cursor(method, scope, place(large))})[0]


def sorted_list(order, descending=False):
    params = {"sortBy": order, "descending": descending}
    return simple("account.list", lambda _: params)


def deep_sorted(order, value):
    """A page in the middle of a sorted list."""
    return listed("account.list", f"default\n{order} after key\n ", {"sortBy": order}, value)


def link(large):
    guest = large.call("identity.resolve", {"poolId": POOL})["identityId"]
    return large.timed("token.mintForDeveloper", {"poolId": POOL, "identityId": guest, "logins": {"login.shop": large.new("linked")}})[0]


def made(large, kind):
    name = large.new(kind)
    return name, large.call("token.mintForDeveloper", {"poolId": POOL, "logins": {"login.shop": name}})["identityId"]


def unlink(large):
    name, identity = made(large, "unlinked")
    return large.timed("identity.unlinkDeveloper", {
        "poolId": POOL, "identityId": identity, "developerProvider": "login.shop", "developerUserIdentifier": name})[0]


def delete(large):
    return large.timed("identity.delete", {"identityIds": [made(large, "deleted")[1]]})[0]


def merge(large):
    one, other = made(large, "merged")[0], made(large, "merged")[0]
    return large.timed("identity.mergeDevelopers", {
        "poolId": POOL, "developerProvider": "login.shop", "sourceUserIdentifier": one, "destinationUserIdentifier": other})[0]


def sign_up(large, rest=None):
    """A sign-up with a code. The time to read the message is excluded."""
    address = large.new("new") + "@example.com"
    start, step = large.timed("signUp.start", {"username": address})
    code = large.call("test.outbox", {"to": address, "clear": True})["messages"][0]["code"]
    submit, step = large.timed("signUp.submitCode", {"continuationToken": step["continuationToken"], "code": code})
    finish, step = large.timed("signIn.withContinuation", {"continuationToken": step["continuationToken"]})
    return rest(step) if rest else start + submit + finish


def sign_in(large):
    address = large.emails.pop()
    return large.timed("signIn.withPassword", {"username": address, "password": PASSWORD})[0]


def refresh(large):
    return sign_up(large, lambda step: large.timed("session.refresh", {"refreshToken": step["refreshToken"]})[0])


def sign_out(large):
    return sign_up(large, lambda step: large.timed("session.signOut", {"refreshToken": step["refreshToken"]})[0])


def delete_account(large):
    return sign_up(large, lambda step: large.timed("account.delete", {"accountId": step["account"]["accountId"]})[0])


def merge_accounts(large):
    first = sign_up(large, lambda step: step)
    second = sign_up(large, lambda step: step)
    return large.timed("account.merge", {"idToken": first["idToken"], "sourceIdToken": second["idToken"], "policy": "keepTarget"})[0]


def sweep(large):
    """The removal of 100 expired flows. `test.clock` returns after it."""
    for _ in range(100):
        large.call("signUp.start", {"username": large.new("expired") + "@example.com"})
    large.call("test.outbox", {"clear": True})
    return large.timed("test.clock", {"advanceSeconds": 7200, "settle": True})[0]


# Each operation with the number of its calls.
OPERATIONS = {
    "look up": (300, simple("identity.lookupDeveloper", lambda large: {"poolId": POOL, "developerUserIdentifier": f"user-{large.user()}"})),
    "identity.get": (300, lambda large: (lambda id: large.timed("identity.get", {"identityId": id})[0])(large.known_identity())),
    "mint, known user": (300, simple("token.mintForDeveloper", lambda large: {"poolId": POOL, "logins": {"login.shop": f"user-{large.user()}"}})),
    "mint, new user": (200, simple("token.mintForDeveloper", lambda large: {"poolId": POOL, "logins": {"login.shop": large.new("minted")}})),
    "resolve, new guest": (200, simple("identity.resolve", lambda _: {"poolId": POOL})),
    "link": (100, link), "unlink": (100, unlink), "delete identity": (100, delete), "merge identities": (60, merge),
    "identity.list": (100, simple("identity.list", lambda _: {"poolId": POOL})),
    "identity.list, middle": (100, listed("identity.list", f"{POOL} false", {"poolId": POOL}, lambda large: large.middle)),
    "account.list": (60, simple("account.list", lambda _: {})),
    "account.list, middle": (60, listed("account.list", "default", {}, lambda large: f"{large.noise.randrange(16):x}")),
    "account.list by email": (60, sorted_list("email")), "account.list by email, last": (60, sorted_list("email", True)),
    "account.list by creation": (60, sorted_list("createdAt", True)), "account.list by sign-in": (60, sorted_list("lastSignInAt", True)),
    "account.list by email, middle": (60, deep_sorted("email", lambda large: f"{large.email()}\n")),
    "account.list by creation, middle": (60, deep_sorted("createdAt", lambda large: f"{large.middle_of_creation}\n8")),
    "account.list by sign-in, middle": (60, deep_sorted("lastSignInAt", lambda large: f"-1\n{large.noise.randrange(16):x}")),
    "account.find by email": (200, simple("account.find", lambda large: {"email": large.email()})),
    "account.get": (200, lambda large: (lambda id: large.timed("account.get", {"accountId": id})[0])(large.account())),
    "account.graph": (100, lambda large: (lambda id: large.timed("account.graph", {"accountId": id})[0])(large.account())),
    "session.list": (100, lambda large: (lambda id: large.timed("session.list", {"accountId": id})[0])(large.account())),
    "account.update": (100, lambda large: (lambda id: large.timed("account.update", {"accountId": id, "claims": {"plan": large.new("p")}})[0])(large.account())),
    "sign-up with a code": (60, sign_up), "sign-in with a password": (5, sign_in), "refresh": (60, refresh), "sign out": (60, sign_out),
    "delete account": (60, delete_account), "merge accounts": (30, merge_accounts),
    "audit.list": (100, simple("audit.list", lambda _: {})),
    "audit.list, middle": (100, lambda large: large.timed("audit.list", {"cursor": cursor("audit.list", AUDIT_SCOPE, large.middle_of_log)})[0]),
    "audit.list of an identity": (100, lambda large: (lambda id: large.timed("audit.list", {"identityId": id})[0])(large.known_identity())),
    "audit.list of a method": (100, simple("audit.list", lambda _: {"method": "pool.create"})),
    "audit.list of an unknown pool": (100, simple("audit.list", lambda _: {"poolId": "local-1:00000000-1111-4222-8333-000000000000"})),
    "events.list": (60, simple("events.list", lambda _: {})),
    "system.metrics": (100, simple("system.metrics", lambda _: {})), "system.health": (100, simple("system.health", lambda _: {})),
    "sweep of 100 flows": (2, sweep),
}
LOGIN = f"SELECT identity_id FROM login WHERE pool_id = '{POOL}' AND provider = 'login.shop' AND subject = 'user-' || :n"
FOUND = "SELECT account_id FROM account_name WHERE tenant_id = 'default' AND kind = 'email' AND name = 'user' || :n || '@example.com'"
# The queries of operations whose keys are anywhere in large tables. With deeper trees, the pages that they read are in no cache of the
# processor, so the database alone takes longer, too.
ALONE = {
    "look up": ("identities", [LOGIN, f"SELECT subject FROM login WHERE identity_id = ({LOGIN}) ORDER BY subject"]),
    "identity.get": ("identities", [f"SELECT * FROM identity WHERE id = ({LOGIN})", f"SELECT provider FROM login WHERE identity_id = ({LOGIN})"]),
    "account.find by email": ("accounts", [FOUND, f"SELECT * FROM account WHERE id = ({FOUND})", f"SELECT * FROM account_login WHERE account_id = ({FOUND})"]),
    "account.get": ("accounts", [f"SELECT * FROM account WHERE id = ({FOUND})", f"SELECT * FROM account_login WHERE account_id = ({FOUND})"]),
    "account.graph": ("accounts", [f"SELECT * FROM account WHERE id = ({FOUND})", f"SELECT * FROM session WHERE account_id = ({FOUND})"]),
    "session.list": ("accounts", [f"SELECT * FROM session WHERE account_id = ({FOUND}) ORDER BY created_at"]),
}
# These read the whole store: the cost is that of every row.
WHOLE = {"store.stats": (1, simple("store.stats", lambda _: {}))}
TURNS = 5


def measured(few, many, turns, operations):
    """Yields the operations with the medians of both stores and the ratio. The turns of the two alternate."""
    for name, (count, operation) in operations.items():
        times = ([], [])
        for turn in range(turns + 1):
            for store, large in enumerate((few, many)):
                found = [operation(large) for _ in range(max(1, count // turns))]
                if turn:   # The first turn fills the caches.
                    times[store].extend(found)
        yield name, median(times[0]), median(times[1])


def rows(benchmarks, Row):
    identities, accounts = (200_000, 20_000) if benchmarks.quick else (10_000_000, 1_000_000)
    server = Server("shared_buffers=1GB", "max_wal_size=8GB", "autovacuum=off", "synchronous_commit=off")
    report = lambda text: print(text, file=sys.stderr, flush=True)
    try:
        for place in (lambda name: Lite(benchmarks.path(name + ".db")), lambda _: Postgres(server)):
            few = Large(place("few"), WRITTEN, WRITTEN, report)
            many = Large(place("many"), identities, accounts, report)
            try:
                yield from compared(few, many, identities, Row)
            finally:
                for large in (few, many):
                    large.sidecar.close()
                    large.place.close()
    finally:
        server.close()


def compared(few, many, identities, Row):
    name = few.place.name
    many.place.warm()   # Reading from a disk is another measurement.
    for what, small, large in measured(few, many, TURNS, OPERATIONS):
        ratio, most, beside = large / small, 1.3, ""
        if what in ALONE:
            subject, queries = ALONE[what]
            times = [[place.alone(queries, count, turn) for place, count in ((few.place, WRITTEN), (many.place, getattr(many, subject)))] for turn in range(TURNS)][1:]
            alone = median([large for _, large in times]) / median([small for small, _ in times])
            most, beside = max(1.3, alone * 1.1), f", {name} alone {alone:.2f}x"
        yield Row(f"{what}, {name}", f"{large:,.0f} us", f"with 1,000 {small:,.0f} us{beside}", f"<= {most:.1f}x: {ratio:.2f}x", ratio <= most)
    for what, small, large in measured(few, many, 1, WHOLE):
        yield Row(f"{what}, {name}", f"{large / 1e3:,.0f} ms", f"with 1,000 {small / 1e3:,.1f} ms", "reads every row", True)
