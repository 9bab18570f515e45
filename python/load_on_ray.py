"""Loads values into a column as load_column.py does, with files that workers of a Ray cluster write.

`migrate` starts this with the same input, and `workers`, into how many tasks the fragments are divided. A worker writes the
files of its fragments; Ray runs a task again whose worker was killed, and a file that nobody commits has no effect. Only this
process commits, and asks before each commit. `printed` is a line about what the workers could not do; this process does it.
"""

import json
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path

# Ends this process if it is of no use.
import load_column as loading

try:
    import ray
except ImportError as error:
    loading.tell(missing=f"it lacks a package: {error}")
    sys.exit(0)

# How often Ray runs a task again.
RETRIES = 3


class Unfit(Exception):
    """The Python of a worker is of no use."""


def write_files(task, script):
    """Runs on a worker, in a process of its own, whose memory is free afterwards. Returns what was written."""
    child = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={"MALLOC_ARENA_MAX": "1", **os.environ},
    )
    errors = []
    reader = threading.Thread(target=lambda: errors.extend(child.stderr), daemon=True)
    reader.start()
    # Its input stays open: it ends with this worker.
    child.stdin.write(json.dumps(task) + "\n")
    child.stdin.flush()
    written = []
    for line in child.stdout:
        message = json.loads(line)
        if "missing" in message:
            return {"missing": message["missing"]}
        written.append(message["written"])
    code = child.wait()
    reader.join()
    if code != 0:
        raise RuntimeError("".join(errors[-1:]).strip() or f"it ended with exit code {code}")
    return {"written": written}


def groups_of(fragments, workers):
    """Divides fragments into groups of neighbours with about as many rows."""
    rows = sum(one.physical_rows for one in fragments)
    groups, before = [[] for _ in range(workers)], 0
    for one in fragments:
        middle = before + one.physical_rows / 2
        groups[min(workers - 1, int(middle * workers / max(1, rows)))].append(one.fragment_id)
        before += one.physical_rows
    return [group for group in groups if group]


def commit_all(task, done):
    """Commits what workers write. Adds to `done` the fragments that need no more."""
    script = Path(loading.__file__).read_text()
    table = loading.opened(task)
    groups = groups_of(table.get_fragments(), task["workers"])
    # Other exceptions are those of a killed process.
    write = ray.remote(write_files).options(
        max_retries=RETRIES, retry_exceptions=True, scheduling_strategy="SPREAD"
    )
    pending = [write.remote({**task, "fragments": group}, script) for group in groups]
    while pending:
        ready, pending = ray.wait(pending, num_returns=1)
        try:
            answer = ray.get(ready[0])
            if "missing" in answer:
                raise Unfit(answer["missing"])
        except Exception as error:  # Ray raises errors of many classes.
            loading.tell(printed=f"a worker of Ray can't load values, so this machine does: {last_line(error)}")
            continue
        for written in answer["written"]:
            try:
                changed = loading.commit([written] if "file" in written else [], task)
                done.update({written["number"]}.difference(changed))
            except loading.Stopped:
                raise
            except Exception as error:
                # An application has changed rows of the fragment.
                if not loading.is_conflict(error):
                    raise


def last_line(error):
    return (str(error).strip() or type(error).__name__).splitlines()[-1]


def main():
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=loading.listen, daemon=True).start()
    logging.disable(logging.WARNING)
    done = set()
    try:
        # Connects to the cluster of RAY_ADDRESS, or starts one on this machine.
        ray.init(log_to_driver=False)
        commit_all(task, done)
    except loading.Stopped:
        raise
    except Exception as error:  # Ray raises errors of many classes.
        loading.tell(printed=f"Ray can't load values, so this machine does: {last_line(error)}")
    finally:
        # Ends a cluster that was started on this machine.
        ray.shutdown()
    left, problem = loading.load_all(task, done)
    loading.tell(left=left, problem=problem)


if __name__ == "__main__":
    try:
        main()
    except (loading.Stopped, BrokenPipeError):
        pass
    # Without waiting for the thread, which waits for its input.
    os._exit(0)
