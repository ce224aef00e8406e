"""Runs the load of `soakload` on both databases, samples it, decides whether the figures stay flat, and draws them."""

import argparse
import json
import os
import sys
import tempfile
import time

from host import Server, median
from soakload import Load

# The sampled values: the name, its unit, and how much the last quarter may exceed the second one, as a factor and as an amount.
FIGURES = {
    "memory": ("MB", 1.05, 1.0), "descriptors": ("", 1, 1), "threads": ("", 1, 2), "store": ("MB", 1.1, 1.0), "p50": ("ms", 1.5, .3), "p99": ("ms", 1.5, 5),
}


def percentile(values, share):
    return sorted(values)[min(int(len(values) * share), len(values) - 1)] if values else 0.0


def sample(load, minute):
    """One row of figures of the steady process; latencies are those since the last sample."""
    pid = load.steady.process.pid
    with open(f"/proc/{pid}/status") as file:
        status = dict(line.split(":", 1) for line in file if ":" in line)
    window, load.window = load.window, []
    return {
        "minute": minute, "memory": int(status["VmRSS"].split()[0]) / 1000, "threads": int(status["Threads"]),
        "descriptors": len(os.listdir(f"/proc/{pid}/fd")), "store": stored(load) / 1e6,
        "p50": percentile(window, .5), "p99": percentile(window, .99), "requests": load.done, "restarts": load.restarts,
    }


def stored(load):
    with load.rounds["steady"]:   # The load reads its answers from the same pipe.
        stats = load.steady.call("store.stats", timeout=60)
    return stats["bytes"] + stats.get("logBytes", 0)


def judged(rows):
    """Yields for every figure its medians in the second and the last quarter and whether it stayed flat."""
    quarter = max(len(rows) // 4, 1)
    for name, (unit, factor, amount) in FIGURES.items():
        early, late = (median([row[name] for row in part]) for part in (rows[quarter:2 * quarter], rows[-quarter:]))
        yield name, unit, early, late, late <= max(early * factor, early + amount)


def draw(figures, path):
    import matplotlib
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "mintmark"
    from matplotlib import pyplot
    panels = (("memory", "Memory (MB)"), ("store", "Size of the store (MB)"), ("p50", "Latency, median (ms)"), ("p99", "Latency, 99th percentile (ms)"),
              ("descriptors", "File descriptors"), ("threads", "Threads"))
    picture, axes = pyplot.subplots(3, 2, figsize=(11, 9), sharex=True, layout="constrained")
    for axis, (name, title) in zip(axes.flat, panels):
        for store, rows in figures.items():
            axis.plot([row["minute"] for row in rows], [row[name] for row in rows], label=store, linewidth=1.2)
        axis.set_title(title, loc="left", fontsize=10)
        axis.set_ylim(bottom=0)
        axis.grid(alpha=.3)
    for axis in axes[-1]:
        axis.set_xlabel("minutes")
    axes[0][0].legend(frameon=False)
    picture.suptitle("Mixed load with restarts, key rotations, slow readers, and half a day that passes every ten seconds", fontsize=11)
    picture.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--work", required=True, help=argparse.SUPPRESS)
    options.add_argument("--minutes", type=float, default=30)
    options.add_argument("--every", type=float, default=5, help="seconds between two samples")
    options.add_argument("--picture", help="the SVG or PNG file to draw")
    options.add_argument("--figures", help="the JSON file of all samples")
    options = options.parse_args()
    folder = tempfile.mkdtemp(dir=options.work)
    server = Server("autovacuum_naptime=10s")
    loads = [Load("SQLite", os.path.join(folder, "soak.db"), folder), Load("PostgreSQL", server.uri(server.database()), folder)]
    began = time.monotonic()
    until = began + options.minutes * 60
    jobs = [job for load in loads for job in load.run(until)]
    figures = {load.name: [] for load in loads}
    while time.monotonic() < until - options.every:
        time.sleep(options.every)
        for load in loads:
            figures[load.name].append(sample(load, (time.monotonic() - began) / 60))
    for job in jobs:
        job.join()
    flat = True
    print(f"{'':<12} {'':<12} {'second quarter':>16} {'last quarter':>14}")
    for load in loads:
        for name, unit, early, late, holds in judged(figures[load.name]):
            flat = flat and holds
            print(f"{load.name:<12} {name:<12} {early:>13.1f} {unit:<2} {late:>11.1f} {unit:<2} {'flat' if holds else 'GROWS'}")
        audit = load.close()
        whole = audit["intact"] if "intact" in audit else audit
        print(f"{load.name:<12} {load.done:,} requests, {load.restarts} restarts, {len(load.failures)} unexpected answers, audit log: {whole}")
        for failure in load.failures[:5]:
            print(f"  {failure}")
        flat = flat and not load.failures
    server.close()
    if options.figures:
        with open(options.figures, "w") as file:
            json.dump(figures, file)
    if options.picture:
        draw(figures, options.picture)
    sys.exit(0 if flat else 1)


if __name__ == "__main__":
    main()
