"""As client.ts, in Python: each client is a thread of its own. `python client.py URL KEY`"""

import json
import queue
import sys
import threading

import lancedb
import pyarrow as pa

URL, KEY = sys.argv[1:]
ONCE = {"retries": 0, "connect_retries": 0, "read_retries": 0}
SCHEMA = pa.schema(
    [("id", pa.int64()), ("value", pa.int32()), ("text", pa.string()), ("vector", pa.list_(pa.float32(), 4))]
)
output = threading.Lock()


def answer(words):
    with output:
        print(json.dumps(words), flush=True)


def rows_of(task):
    return pa.Table.from_pylist(task["rows"], schema=SCHEMA)


def read(table, task):
    found = table.search().where(task["where"]).select(["id", "value", "text"]).limit(1_000_000).to_arrow()
    return [[row["id"], row["value"], row["text"]] for row in found.to_pylist()]


def merge(table, task):
    table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(rows_of(task))


WORK = {
    "add": lambda table, task: table.add(rows_of(task)) and None,
    "merge": merge,
    "update": lambda table, task: table.update(where=task["where"], values=task["values"]) and None,
    "delete": lambda table, task: table.delete(task["where"]) and None,
    "read": read,
    "count": lambda table, task: table.count_rows(task["where"]),
}


class Client(threading.Thread):
    def __init__(self, repeats):
        super().__init__(daemon=True)
        config = {} if repeats else {"retry_config": ONCE}
        self.db = lancedb.connect("db://crowd", api_key=KEY, host_override=URL, client_config=config)
        self.tasks = queue.Queue()
        self.tables = {}

    def run(self):
        while True:
            task = self.tasks.get()
            is_sent = False
            try:
                name = task["table"]
                table = self.tables[name] = self.tables.get(name) or self.db.open_table(name)
                is_sent = True
                answer({"number": task["number"], "value": WORK[task["what"]](table, task)})
            except BaseException as error:  # the engine's panics are no Exception
                causes = [error]
                while causes[-1].__cause__ is not None:
                    causes.append(causes[-1].__cause__)
                words = " Caused by: ".join(f"{type(cause).__name__}: {cause}" for cause in causes)
                answer({"number": task["number"], "error": words, "isSent": is_sent})


clients = {}
for line in sys.stdin:
    task = json.loads(line)
    client = clients.get(task["client"])
    if client is None:
        client = clients[task["client"]] = Client(task["repeats"])
        client.start()
    client.tasks.put(task)
