"""The stores of the end-to-end tests: in memory and in SQLite files, or schemas of one PostgreSQL database."""

import itertools
import json
import sqlite3
import subprocess

import postgres


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

    def close(self):
        pass


class Reader:
    """The rows of a SQLite file."""

    def __init__(self, name):
        self.connection = sqlite3.connect(name, timeout=20)

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
    """A server with one database. A store in memory is a schema that is used once. A store in a file is a schema that is found by its name."""

    kind = "postgres"

    def __init__(self):
        self.server = postgres.Server()
        self._numbers = itertools.count(1)
        self._schemas = {}
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
            schema = f"store{next(self._numbers)}"
            self._run(f"CREATE SCHEMA {schema}")
            if name != ":memory:":
                self._schemas[name] = schema
        options = f"-csearch_path%3D{schema}"
        return f"{self.server.uri('postgres')}&options={options}", {"MINTMARK_MASTER_KEY": postgres.MASTER_KEY}

    def rows(self, name, query, *parameters):
        for each in parameters:
            query = query.replace("?", str(each) if isinstance(each, int) else "'" + each.replace("'", "''") + "'", 1)
        if self._schema != self._schemas[name]:
            self._schema = self._schemas[name]
            self._run(f"SET search_path = {self._schema}")
        if not query.startswith("SELECT"):
            self._run(query)
            return []
        answer = self._run(f"SELECT json_agg(found) FROM ({query}) AS found").strip()
        # Rows are decoded as pairs because columns can have the same name.
        return [tuple(value for _, value in row) for row in json.loads(answer, object_pairs_hook=list)] if answer else []

    def reader(self, name):
        def read(query, *parameters):
            return self.rows(name, query, *parameters)
        read.close = lambda: None
        return read

    def activity(self):
        """As `SQLite.activity`."""
        return postgres.activity_of(self._run(postgres.CONNECTIONS).splitlines())

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
