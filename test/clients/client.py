"""One version of LanceDB's Python client at work: as client.mjs, which says what a task is."""

import asyncio
import datetime
import json
import sys

import lancedb
import pyarrow as pa

EPOCH = datetime.datetime(1970, 1, 1)


def plain(value):
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, datetime.datetime):
        return round((value.replace(tzinfo=None) - EPOCH).total_seconds() * 1000)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def to_arrow(table, rows):
    schema = table.schema
    columns = []
    for field in schema:
        values = [row.get(field.name) for row in rows]
        if pa.types.is_binary(field.type):
            values = [None if value is None else bytes.fromhex(value) for value in values]
        columns.append(pa.array(values, field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def read(table, task):
    query = table.search()
    if "where" in task:
        query = query.where(task["where"])
    if "select" in task:
        query = query.select(task["select"])
    return [plain(row) for row in query.limit(1_000_000).to_arrow().to_pylist()]


def merge(table, task):
    builder = table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
    builder.execute(to_arrow(table, task["rows"]))


def search(table, task):
    return [row["id"] for row in table.search(task["vector"]).limit(task["k"]).to_arrow().to_pylist()]


def text_search(table, task):
    found = table.search(task["query"], query_type="fts", fts_columns=task["column"])
    return [row["id"] for row in found.limit(task["k"]).to_arrow().to_pylist()]


WORK = {
    "open": lambda table, task: table.schema.names,
    "scan": read,
    "count": lambda table, task: table.count_rows(task.get("where")),
    "filter": read,
    "search": search,
    "textSearch": text_search,
    "append": lambda table, task: table.add(to_arrow(table, task["rows"])) and None,
    "update": lambda table, task: table.update(where=task["where"], values=task["values"]) and None,
    "delete": lambda table, task: table.delete(task["where"]) and None,
    "mergeInsert": lambda table, task: merge(table, task),
    "optimize": lambda table, task: table.optimize() and None,
    "addColumn": lambda table, task: table.add_columns({task["name"]: task["valueSql"]}) and None,
    "dropColumn": lambda table, task: table.drop_columns([task["name"]]) and None,
    "rename": lambda table, task: table.alter_columns({"path": task["name"], "rename": task["rename"]}) and None,
    "createIndex": lambda table, task: table.create_scalar_index(task["name"], index_type="BTREE") and None,
    "version": lambda table, task: table.version,
    "indices": lambda table, task: [index.name for index in table.list_indices()],
}


def all_of(table, task):
    for step in task["steps"]:
        WORK[step["what"]](table, step)


WORK["all"] = all_of

for line in sys.stdin:
    task = json.loads(line)
    try:
        value = WORK[task["what"]](lancedb.connect(task["folder"]).open_table("t"), task)
        answer = {"value": plain(value)}
    except BaseException as error:  # the engine's panics are no Exception
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer, default=str), flush=True)
