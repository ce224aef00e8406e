"""The stores of the end-to-end tests: in memory and in SQLite files, or schemas of one PostgreSQL database."""

import itertools
import json
import re
import sqlite3
import subprocess
import time

import postgres
from sidecar import Sidecar


class SQLite:
    """The name of a store is its path."""

    kind = "sqlite"

    def place(self, name):
        """Returns the value of `--store` for a store, and the environment that it requires."""
        return name, {}

    def rows(self, name, query, *parameters):
        """Runs SQL directly on a store. Returns the rows as tuples."""
        with self.reader(name) as reader:
            return reader(query, *parameters)

    def reader(self, name):
        """Like `rows` for one store, over a connection that stays open until `close`."""
        return Reader(name)

    def activity(self):
        """Returns a value that changes when a server of the stores works for a process, or `None` if it works now."""
        return {}

    def recycle(self):
        """Prepares the stores of a test that has ended for the next ones."""

    def close(self):
        pass


class Reader:
    """The rows of a SQLite file."""

    def __init__(self, name):
        self.connection = sqlite3.connect(name, timeout=60)

    def __call__(self, query, *parameters):
        rows = self.connection.execute(query, parameters).fetchall()
        self.connection.commit()
        return rows

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.connection.close()


class Postgres:
    """A server with one database. A store is a schema: one in a file is found by its name, one in memory has no name. A schema is used
    again after the test, without its rows: creating the tables of a store takes four times as long as all other work to open it."""

    kind = "postgres"
    # Prepares a schema for the next store. What remains is what the migrations create: the tables, and two rows in `mintmark_meta`.
    EMPTY = """DO $$ DECLARE found text; BEGIN
        FOR found IN SELECT relname FROM pg_class WHERE relnamespace = '{schema}'::regnamespace AND relkind = 'r'
        LOOP EXECUTE format('DELETE FROM {schema}.%I', found); END LOOP; END $$;
        INSERT INTO {schema}.mintmark_meta (name, value) VALUES ('schema_version', {version}), ('epoch', 1)"""
    # A description of the tables of a schema, their indexes and constraints, and of what else can be in one.
    SHAPE = """SELECT md5(string_agg(line, ',' ORDER BY line)) FROM (
        SELECT format('%s %s %s %s', relname, relkind, relpersistence, reloptions) AS line
            FROM pg_class WHERE relnamespace = '{schema}'::regnamespace
        UNION ALL SELECT format('%s.%s %s %s %s', relname, attname, atttypid, attnotnull, attcollation)
            FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE relnamespace = '{schema}'::regnamespace AND relkind = 'r' AND attnum > 0
        UNION ALL SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = '{schema}'::regnamespace
        UNION ALL SELECT tgname FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid
            WHERE relnamespace = '{schema}'::regnamespace AND NOT tgisinternal
        UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = '{schema}'::regnamespace) AS lines"""
    # Deleted rows leave space behind. A schema with a larger table is not used again.
    LARGEST = "SELECT max(pg_relation_size(oid)) FROM pg_class WHERE relnamespace = '{schema}'::regnamespace AND relkind = 'r'"
    LARGEST_BYTES = 1 << 20

    def __init__(self, counts_statements=False):
        """With `counts_statements`, the server keeps the SQL statements that it runs, see `statements`."""
        self.server = postgres.Server(*(["shared_preload_libraries=pg_stat_statements", "pg_stat_statements.max=20000"] if counts_statements else []))
        if counts_statements:
            self.server.sql("CREATE EXTENSION pg_stat_statements")
        self._numbers = itertools.count(1)
        self._schemas = {}
        self._used, self._empty, self._usual = [], [], None
        self._connect()

    def _connect(self):
        self._schema = None
        self._psql = subprocess.Popen(
            ["psql", "-X", "-q", "-A", "-t", "-h", self.server.folder, "-U", "mintmark", "-d", "postgres"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def place(self, name):
        if name.startswith("postgres://"):   # The test has its own database.
            return name, {}
        schema = self._schemas.get(name)
        if not schema:
            if self._empty:
                schema = self._empty.pop()
            else:
                schema = f"store{next(self._numbers)}"
                self._run(f"CREATE SCHEMA {schema}")
            self._used.append(schema)
            if name != ":memory:":
                self._schemas[name] = schema
        options = f"-csearch_path%3D{schema}"
        return f"{self.server.uri('postgres')}&options={options}", {"MINTMARK_MASTER_KEY": postgres.MASTER_KEY}

    def schema(self, name):
        return self._schemas[name]

    def statements(self):
        """Returns the different SQL statements since the last call, without values and names of schemas."""
        found = json.loads("\n".join(self.server.sql("SELECT COALESCE(json_agg(query), '[]') FROM pg_stat_statements")))
        self.server.sql("SELECT pg_stat_statements_reset()")
        return sorted({" ".join(re.sub(r"\bstore\d+\b", "store", each).split()) for each in found})

    def rows(self, name, query, *parameters):
        for each in parameters:
            query = query.replace("?", str(each) if isinstance(each, int) else "'" + each.replace("'", "''") + "'", 1)
        self._select(self._schemas[name])
        if not query.startswith("SELECT"):
            self._run(query)
            return []
        answer = self._run(f"SELECT json_agg(found) FROM ({query}) AS found").strip()
        # Rows are decoded as pairs because columns can have the same name.
        return [tuple(value for _, value in row) for row in json.loads(answer, object_pairs_hook=list)] if answer else []

    def _select(self, schema):
        if self._schema != schema:
            self._schema = schema
            self._run(f"SET search_path = {schema}")

    def reader(self, name):
        def read(query, *parameters):
            return self.rows(name, query, *parameters)
        read.close = lambda: None
        return read

    def activity(self):
        """As `SQLite.activity`."""
        return postgres.activity_of(self._run(postgres.CONNECTIONS).splitlines())

    def recycle(self):
        used, self._used, self._schemas = self._used, [], {}
        if not used or not self._unconnected():
            return
        if not self._usual:
            self._usual = self._new_shape()
        self._run("SET session_replication_role = replica")   # Rows can then be deleted in any order.
        for schema in used:
            if self._shape(schema) == self._usual[0]:
                self._run(self.EMPTY.format(schema=schema, version=self._usual[1]))
                self._empty.append(schema)
        self._run("RESET session_replication_role")

    def _unconnected(self):
        """Waits until no process is connected: after the end of a process, the server still executes the requests that it has received."""
        deadline = time.monotonic() + 2
        while self._run(postgres.CONNECTIONS):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.002)
        return True

    def _new_shape(self):
        """Returns the shape of a new store and its schema version."""
        name = "a store that no test has changed"
        store, environment = self.place(name)
        with Sidecar(store=store, environment=environment) as sidecar:
            sidecar.call("pool.list")
        version, = self.rows(name, "SELECT value FROM mintmark_meta WHERE name = 'schema_version'")
        return self._shape(self._schemas.pop(name)), version[0]

    def _shape(self, schema):
        """Returns what a test must not change, or `None` if a table is large."""
        if int(self._run(self.LARGEST.format(schema=schema)) or 0) > self.LARGEST_BYTES:
            return None
        self._select(schema)   # The text of a foreign key names the schema unless it is in the search path.
        return self._run(self.SHAPE.format(schema=schema))

    def crash(self):
        """Crashes the server and restarts it."""
        self._disconnect()
        self.server.order("crash")
        self.server.order("start")
        self._connect()

    def _run(self, text):
        mark = "that was all"
        self._psql.stdin.write(f"{text};\n\\echo {mark}\n")
        self._psql.stdin.flush()
        answer = ""
        while not answer.endswith(mark + "\n"):
            line = self._psql.stdout.readline()
            assert line, f"psql has ended: {answer}"
            answer += line
        answer = answer[:-len(mark) - 1]
        assert "ERROR:" not in answer, answer
        return answer

    def close(self):
        self._disconnect()
        self.server.close()

    def _disconnect(self):
        self._psql.stdin.close()
        self._psql.wait(30)
        self._psql.stdout.close()


# The stores that this run tests. `suite.py --postgres` replaces it.
current = SQLite()
