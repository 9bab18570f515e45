"""Runs the shards of `migrate prepare --on ray` as tasks of Ray.

`migrate` starts this with JSON as the argument: the `command` of a shard without its number, the `folder` it runs in,
the number of `shards`, and the `options` of their tasks. Each line on standard output is a JSON object: what a shard
printed, how it ended, or why Ray can't be used. When standard input ends, the shards are stopped.
"""

import json
import logging
import queue
import subprocess
import sys
import threading

# How often a shard is started whose worker or process was killed.
ATTEMPTS = 4


def run_shard(command, folder):
    """Runs on a worker. Yields what the command prints, then how it ended."""
    try:
        child = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        yield {"problem": f"{error}; the workers need the project and Node where this machine has them"}
        yield {"code": 127}
        return
    lines = queue.Queue()

    def read(stream, key):
        for line in stream:
            lines.put({key: line.rstrip("\n")})
        lines.put(None)

    for stream, key in ((child.stdout, "line"), (child.stderr, "problem")):
        threading.Thread(target=read, args=(stream, key), daemon=True).start()
    streams = 2
    try:
        while streams > 0:
            try:
                # Ray's cancellation can't interrupt a thread that waits for ever.
                line = lines.get(timeout=0.2)
            except queue.Empty:
                continue
            if line is None:
                streams -= 1
            else:
                yield line
    finally:
        # After a cancellation, the command still needs to reach its safe point.
        if streams > 0:
            child.terminate()
        child.wait()
    yield {"code": child.returncode}


def main():
    request = json.loads(sys.argv[1])
    logging.disable(logging.WARNING)
    try:
        import ray
    except ImportError as error:
        tell(missing=str(error))
        return
    stopped = threading.Event()
    threading.Thread(target=await_end, args=(stopped,), daemon=True).start()
    try:
        # Connects to the cluster of RAY_ADDRESS, or starts one on this machine.
        ray.init()
        options = {"num_cpus": 0.1, "scheduling_strategy": "SPREAD", **request["options"]}
        task = ray.remote(run_shard).options(num_returns="streaming", max_retries=0, **options)
    except Exception as error:  # Ray raises errors of many classes.
        tell(unusable=str(error))
        return
    run(ray, task, request, stopped)


def run(ray, task, request, stopped):
    shards = request["shards"]
    attempts = dict.fromkeys(range(1, shards + 1), 0)
    running = {}

    def start(shard):
        attempts[shard] += 1
        running[task.remote([*request["command"], "--shard", f"{shard}/{shards}"], request["folder"])] = shard

    for shard in attempts:
        start(shard)
    is_cancelled = False
    while running:
        if stopped.is_set() and not is_cancelled:
            is_cancelled = True
            for results in running:
                ray.cancel(results)
        ready, _ = ray.wait(list(running), num_returns=1, timeout=0.2)
        for results in ready:
            shard = running[results]
            try:
                message = ray.get(next(results))
            except StopIteration:
                del running[results]
                continue
            except Exception as error:  # Ray raises errors of many classes.
                message = {"problem": first_line(error), "code": -1}
            # Ended by a signal, or with its worker.
            is_killed = message.get("code", 0) < 0
            if is_killed:
                del running[results]
            if is_killed and stopped.is_set():
                continue
            if is_killed and attempts[shard] < ATTEMPTS:
                tell(shard=shard, problem=f"{message.get('problem', 'it was killed')}; starting it again")
                start(shard)
            else:
                tell(shard=shard, **message)


def await_end(stopped):
    sys.stdin.read()
    stopped.set()


def first_line(error):
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def tell(**message):
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    main()
