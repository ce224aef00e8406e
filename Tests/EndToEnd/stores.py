"""Where the stores of the end-to-end tests are: in memory and in files of SQLite, or each a schema of one PostgreSQL database."""

import itertools
import json
import sqlite3
import subprocess

import postgres


class SQLite:
    """Every store is what its name says."""

    kind = "sqlite"

    def place(self, name):
        """What `--store` is told for a store, and the environment it needs."""
        return name, {}

    def rows(self, name, query, *parameters):
        """Runs SQL on a store behind Mintmark's back: the rows, as tuples."""
        with self.reader(name) as reader:
            return reader(query, *parameters)

    def reader(self, name):
        """As `rows` of one store, over a connection that stays open until `close`."""
        return Reader(name)

    def close(self):
        pass


class Reader:
    """Rows of a SQLite file."""

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
    """One server, one database; a store in memory is a schema that is never met again, a file a schema that goes by its name."""

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
        if name.startswith("postgres://"):   # a database that a test has of its own
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
        # As pairs: columns may share a name.
        return [tuple(value for _, value in row) for row in json.loads(answer, object_pairs_hook=list)] if answer else []

    def reader(self, name):
        def read(query, *parameters):
            return self.rows(name, query, *parameters)
        read.close = lambda: None
        return read

    def crash(self):
        """Crashes the server and starts it again."""
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


# What the tests of this run use; `suite.py --postgres` changes it.
current = SQLite()
