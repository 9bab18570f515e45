"""An application that saves documents from many threads with lance_migrate_app, until its standard input ends.

Arguments: the folder of the database, the first of its ids, and the number of threads. It prints the titles that were acknowledged, by their ids.
"""

import hashlib
import json
import os
import random
import sys
import threading
import time

import lancedb

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../python"))
from lance_migrate_app import model_of, save, search  # noqa: E402

folder, first, WRITERS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def model_from(start):
    def embed(rows):
        threading.Event().wait(random.uniform(0.005, 0.05))
        return [list(hashlib.sha256(row["title"].encode()).digest()[start : start + 2]) for row in rows]

    return embed


models = {"": model_from(0), "bge": model_from(2)}
db = lancedb.connect(folder)
# Two threads have one table: each refreshes that of the other.
tables = [db.open_table("docs") for _ in range(WRITERS // 2)]
titles, problems, is_over, bell = {}, [], threading.Event(), threading.Condition()


def write(writer):
    table = tables[writer % len(tables)]
    own = first + 1000 * writer
    turn = 0
    while not is_over.is_set():
        began = time.monotonic()
        ids = {own + random.randrange(10), own + 10 + random.randrange(10)}
        title = f"thread {writer} of {first}, turn {turn}"
        save(table, "embedding", [{"id": id, "title": title} for id in ids], key="id", models=models, attempts=50)
        titles.update(dict.fromkeys(ids, title))
        if turn % 5 == 4:
            gone = ids.pop()
            table.delete(f"id = {gone}")
            titles[gone] = None
        query = {"title": f"title {random.randrange(100, 200)}"}
        run = lambda found: found.limit(1).to_list()  # noqa: E731
        [found] = search(table, "embedding", query, models=models, run=run)
        if found["_distance"] != 0:
            raise AssertionError(f"{query} is not found: {found}")
        turn += 1
        with bell:
            # On a busy machine they wait longer: else the migration would never get its turn.
            bell.wait(random.uniform(0, 5) + 5 * (time.monotonic() - began))


def guarded(writer):
    try:
        write(writer)
    except Exception as error:
        problems.append(f"{type(error).__name__}: {error}")
        is_over.set()


threads = [threading.Thread(target=guarded, args=(writer,)) for writer in range(WRITERS)]
for thread in threads:
    thread.start()
print("ready", flush=True)
# Each line is a moment at which all write at once.
for _ in sys.stdin:
    with bell:
        bell.notify_all()
is_over.set()
with bell:
    bell.notify_all()
for thread in threads:
    thread.join()
print(json.dumps({"titles": list(titles.items()), "problems": problems, "model": model_of(tables[0], "embedding")}))
