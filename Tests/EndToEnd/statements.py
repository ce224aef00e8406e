"""Writes only_on_sqlite.txt: the classes of end-to-end tests whose SQL statements are run on PostgreSQL by other classes.

    .build/venv/bin/python -B Tests/EndToEnd/suite.py --postgres --statements .build/statements.json Tests/EndToEnd
    .build/venv/bin/python -B Tests/EndToEnd/statements.py .build/statements.json

The classes of KEPT run on both databases in any case. Of the others, this program chooses those that run the most further statements in
the least time, until every statement is run.
"""

import json
import re
import sys

from suite import ONLY_ON_SQLITE

# The modules about concurrency, failures, processes, and the data of a store.
KEPT = re.compile(
    r"test_(apply|audit|copying|crashes|events|export|failover|faults|guards|hidden_accounts|hosts|housekeeping|import|keys|large_stores|metrics|"
    r"pgbouncer|postgres|random_merges|repeated_sends|seeds|sequences|sharing|snapshots|store|upgrades)")
# What is not a statement of the program on its tables.
OTHER = re.compile(r"(alter|begin|commit|create|do|drop|release|rollback|savepoint|select pg_stat|set|show)\b", re.I)


def chosen(classes):
    """Returns the names of the classes that run on PostgreSQL. `classes` has the duration and the statements of each class."""
    statements = {name: {each for each in found if not OTHER.match(each)} for name, (_, found) in classes.items()}
    names = {name for name in classes if KEPT.match(name)}
    left = set().union(*statements.values()) - set().union(*(statements[name] for name in names))
    while left:
        best = max(statements, key=lambda name: len(statements[name] & left) / (0.3 + classes[name][0]))
        names.add(best)
        left -= statements[best]
    return names


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        classes = json.load(file)
    with open(ONLY_ON_SQLITE, encoding="utf-8") as file:
        heading = [line for line in file if line.startswith("#")]
    omitted = sorted(set(classes) - chosen(classes))
    with open(ONLY_ON_SQLITE, "w", encoding="utf-8") as file:
        file.writelines([*heading, *(f"{name}\n" for name in omitted)])
    print(f"{len(omitted)} of {len(classes)} classes only run on SQLite")


if __name__ == "__main__":
    main()
