"""The rows about 200 processes on one PostgreSQL database behind PgBouncer in transaction mode."""

import sys

from host import median
from pooledload import PooledLoad


def rows(benchmarks, Row):
    """Every call succeeds, if necessary when it is sent again; no write is lost or doubled; 20 connections are enough."""
    processes, connections = (40, 4) if benchmarks.quick else (200, 20)
    with PooledLoad(processes, connections) as load:
        started = load.start()
        taken = load.run()
        losses, revoked = load.losses(), load.seconds_until_revoked()
        report = load.report
    for loss in losses:
        print(loss, file=sys.stderr)
    calls, times = len(report.seconds), [seconds for seconds, _ in report.seconds]
    refused = sum(report.retried.values())
    yield Row(f"{processes} processes: start", f"{started:.1f} s", "", "", True)
    yield Row(f"{processes} processes: calls", f"{calls / taken:,.0f}/s", f"{calls:,} calls, median {median(times):.2f} s", f"{refused} sent again", True)
    yield Row(f"{processes} processes: lost or doubled writes", f"{len(losses)}", f"outcome unknown {sum(report.unknown.values())}", "0", not losses)
    yield Row(f"{processes} processes: connections", f"{load.most_connections}", "to the server", f"<= {connections}", load.most_connections <= connections)
    yield Row(f"{processes} processes: revoked everywhere after", f"{revoked:.2f} s", "", "<= 1.5 s", revoked <= 1.5)
