"""Judges what migrations make of every kind of column, with pylance and pyarrow.

Reads tasks as lines of JSON and answers each with a line: what is wrong, or null.
{"kinds": true} answers the names of all kinds.
{"make": folder, "kind", "place": "c" | "s.in", "format": "2.1", "rows": "some" | "whole" | "none", "step"} makes a table: {id, t, s: {k}} and the column.
{"append": folder, "ids"} adds drawn rows to a table as it is.
{"take": folder, "as": name} notes what a table holds.
{"check": folder, "from": name, "promise": [[operation, ...]]} compares it with what was noted, after these operations.
{"back": folder, "from": name, "appended": name, "names": {path now: path before}, "loses": [path]} compares it with what was noted and the rows that were added since.
"""
import functools
import random
import shutil
import zlib

import lance
import pyarrow as pa

from compare import found, serve
from kinds import KINDS, TYPES, values

TAKEN = {}
# What steps add has no values in rows that are added later: else `down` would lose them.
GIVEN = ["id", "more"]


def read(folder):
    """With a row's id first, and dictionaries as what they stand for: format 2.0 has nulls in them, which pyarrow can't join."""
    table = lance.dataset(folder).scanner(blob_handling="all_binary").to_table()
    for at, field in enumerate(table.schema):
        decoded, column = plain(field), table.column(at)
        if decoded != field:
            table = table.set_column(at, decoded, pa.chunked_array([plainly(chunk) for chunk in column.chunks], decoded.type))
    return table.combine_chunks().sort_by("id")


def plain(field):
    kind = field.type
    if pa.types.is_dictionary(kind):
        return field.with_type(kind.value_type).with_metadata({**(field.metadata or {}), "dictionary": str(kind.index_type)})
    return field.with_type(pa.struct([plain(child) for child in kind])) if pa.types.is_struct(kind) else field


def plainly(array):
    kind = array.type
    if pa.types.is_dictionary(kind):
        return array.dictionary_decode()
    if not pa.types.is_struct(kind):
        return array
    children = [plainly(array.field(at)) for at in range(len(kind))]
    return pa.StructArray.from_arrays(children, fields=[plain(child) for child in kind], mask=array.is_null())


def rows_of(schema, ids, seed, nulls=True, structs=True, calendar=False):
    chance = random.Random(zlib.crc32(seed.encode()))
    columns, fields = [], []
    for field in schema:
        column = values(chance, field.type, len(ids), nulls and field.nullable, structs, calendar)
        if field.name in GIVEN:
            column = pa.array(ids if field.name == "id" else [None] * len(ids), field.type)
        columns.append(column)
        fields.append(field.with_type(column.type))
    return pa.table(columns, schema=pa.schema(fields))


def make(folder, kind, place, format, rows, calendar=False):
    shutil.rmtree(folder, ignore_errors=True)
    problem = lacking(folder + ".scratch", kind, place, format)
    if problem is None:
        write(folder, kind, place, format, rows, calendar)
    return problem


def write(folder, kind, place, format, rows, calendar=False):
    column, k = KINDS[kind], pa.field("k", pa.int32())
    s = pa.field("s", pa.struct([k, column.with_name("in")] if place == "s.in" else [k]))
    schema = pa.schema([pa.field("id", pa.int32(), False), pa.field("t", pa.string()), *([column] if place == "c" else []), s])
    nulls, structs = rows == "some", format != "2.0"
    first = [0, 1, 2, 3] if rows != "none" else []
    lance.write_dataset(rows_of(schema, first, kind, nulls, structs, calendar), folder, data_storage_version=format)
    if rows != "none":
        lance.dataset(folder).insert(rows_of(schema, [4, 5, 6, 7], kind + "2", nulls, structs, calendar))
        lance.dataset(folder).delete("id = 2")


@functools.cache
def lacking(folder, kind, place, format):
    """Why the engine has no such column: what it says to one who writes, reads, compacts and merges."""
    if kind == "null" and place == "s.in":
        return "the client for Node can't add rows to it: Arrays of type Null cannot contain a null bitmask"
    try:
        write(folder, kind, place, format, "some")
        dataset = lance.dataset(folder)
        read(folder)
        if "blob" not in kind:
            dataset.merge_insert("id").when_matched_update_all().execute(dataset.to_table(limit=1))
            read(folder)
        lance.dataset(folder).optimize.compact_files()
        read(folder)
    except Exception as error:
        return str(error).split("\n")[0]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def append(folder, ids):
    dataset = lance.dataset(folder)
    structs = dataset.data_storage_version != "2.0"
    dataset.insert(rows_of(dataset.schema, ids, str(dataset.schema), True, structs))


def change(table, path, how, last=False):
    """The table with `how(array, field)`, which is (array, field) or None, in place of a column or a field, or behind the others."""
    name, *rest = path.split(".")
    at = table.schema.get_field_index(name)
    array, field = table.column(at).combine_chunks(), table.schema.field(at)
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0)
    made = how(array, field) if not rest else (within(array, rest[0], how, last), None)
    if made is None:
        return table.remove_column(at)
    array, changed = made
    changed = changed if changed is not None else field.with_type(array.type)
    if last and not rest:
        return table.remove_column(at).append_column(changed, array)
    return table.set_column(at, changed, array)


def within(array, name, how, last):
    fields = []
    for at, field in enumerate(array.type):
        made = (array.field(at), field) if field.name != name else how(array.field(at), field)
        if made is not None:
            fields.append(made)
    if last:
        fields.sort(key=lambda made: made[1].name == name)
    return pa.StructArray.from_arrays([one for one, _ in fields], fields=[field for _, field in fields], mask=array.is_null())


def nulls(rows, kind):
    """pyarrow's own has no extensions."""
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, nulls(rows, kind.storage_type))
    if not pa.types.is_struct(kind):
        return pa.nulls(rows, kind)
    children = [nulls(rows, field.type) for field in kind]
    return pa.StructArray.from_arrays(children, fields=list(kind), mask=pa.array([True] * rows, pa.bool_()))


def cast(array, kind):
    """Without the values that the type can't hold, which are null."""
    try:
        return array.cast(kind)
    except pa.ArrowInvalid:
        if len(array) == 1:
            return pa.nulls(1, kind)
        return pa.concat_arrays([cast(array.slice(at, 1), kind) for at in range(len(array))])


def applied(table, operation, *arguments):
    if operation == "drop":
        return change(table, arguments[0], lambda array, field: None)
    if operation == "rename":
        return change(table, arguments[0], lambda array, field: (array, field.with_name(arguments[1])))
    if operation == "nullable":
        return change(table, arguments[0], lambda array, field: (array, field.with_nullable(arguments[1])))
    if operation == "cast":
        kind = TYPES[arguments[1]]
        return change(table, arguments[0], lambda array, field: (cast(array, kind), pa.field(field.name, kind, field.nullable)))
    if operation == "add":
        path, kind = arguments[0], TYPES[arguments[1]]
        value = arguments[2] if len(arguments) > 2 else None
        array = pa.array([value] * table.num_rows, kind)
        if "." not in path:
            return table.append_column(pa.field(path, kind), array)
        parent, name = path.split(".")
        at = table.schema.get_field_index(parent)
        old = table.column(at).combine_chunks()
        fields = [*old.type, pa.field(name, kind)]
        made = pa.StructArray.from_arrays([*[old.field(i) for i in range(len(old.type))], array], fields=fields, mask=old.is_null())
        return table.set_column(at, pa.field(parent, made.type), made)
    if operation == "recreate":
        path, kind, source = arguments
        made = table.column(source).combine_chunks().cast(TYPES[kind])
        return change(table, path, lambda array, field: (made, pa.field(field.name, made.type)), last=True)
    if operation == "metadata":
        path, key, value = arguments
        return change(table, path, lambda array, field: (array, field.with_metadata({**(field.metadata or {}), key: value})))
    if operation == "vector":
        # The former values are kept under another name.
        made = pa.array([[1, 0.5]] * table.num_rows, pa.list_(pa.float32(), 2))
        kept = change(table, arguments[0], lambda array, field: (array, field.with_name(field.name + "_old")))
        return kept.append_column(pa.field(arguments[0], made.type), made)
    if operation == "copy":
        column = table.column(arguments[0])
        return table.append_column(table.schema.field(arguments[0]).with_name(arguments[1]).with_nullable(True), column)
    if operation == "set":
        path, value, ids = arguments
        chosen = [table.num_rows if id in ids else at for at, id in enumerate(table.column("id").to_pylist())]
        return change(table, path, lambda array, field: (pa.concat_arrays([array, pa.array([value], array.type)]).take(pa.array(chosen, pa.int64())), field))
    if operation == "index":
        return table
    if operation == "delete":
        return table.filter(pa.array([id not in arguments[0] for id in table.column("id").to_pylist()], pa.bool_()))
    if operation == "insert":
        row = arguments[0]
        columns = [pa.array([row[field.name]], field.type) if field.name in row else nulls(1, field.type) for field in table.schema]
        more = pa.table(columns, schema=table.schema)
        return pa.concat_tables([table, more]).combine_chunks()
    raise ValueError(operation)


def kept(field, added):
    """What of a field must stay, without keys that begin with what may be added."""
    metadata = {key.decode(): value.decode() for key, value in sorted((field.metadata or {}).items())}
    metadata = {key: value for key, value in metadata.items() if not key.startswith(added) and key not in MODEL}
    inside = [kept(child, added) for child in field.type] if pa.types.is_struct(field.type) else field.type
    return f"{field.name} {inside}{'' if field.nullable else ' not null'} {metadata or ''}"


# The engine notes in metadata what it computed, and this tool which index waits for rows.
COMPUTED, DEFERRED = "computed_", "lance_migrate_deferred."
# It also names the model of a column, and keeps marks as long as the old column is there.
MODEL, MARKS = ("lance_migrate_version", "lance_migrate_with"), "_lance_migrate_kept_"


def without_marks(table):
    return table.select([name for name in table.schema.names if not name.startswith(MARKS)])


def difference(have, want, added=COMPUTED):
    have, want = without_marks(have), without_marks(want)
    schemas = [kept(field, added) for field in have.schema], [kept(field, added) for field in want.schema]
    if schemas[0] != schemas[1]:
        return f"columns are {', '.join(schemas[0])} instead of {', '.join(schemas[1])}"
    if have.num_rows != want.num_rows:
        return f"{have.num_rows} rows instead of {want.num_rows}"
    for name in want.schema.names:
        for id, one, other in zip(have.column("id"), have.column(name), want.column(name)):
            if found(one) != found(other):
                return f"row {id}, {name}: {found(one)!r} instead of {found(other)!r}"


def check(folder, before, promise, loses):
    want, have = before, read(folder)
    for operation in promise:
        want = applied(want, *operation)
    want = want.sort_by("id")
    if loses and promise and promise[0][0] == "cast":
        path = promise[0][1]
        have, want = without(have, path), without(want, path)
    indexes = any(operation == "index" for operation, *_ in promise)
    return difference(have, want, (COMPUTED, DEFERRED) if indexes else COMPUTED)


def as_before(rows, before, names):
    """Rows that were added to a table after a step, as the table before it has them."""
    columns = []
    for field in before.schema:
        columns.append(brought(rows, field, field.name, names))
    return pa.table(columns, schema=before.schema)


def brought(rows, field, path, names):
    now = next((one for one, former in names.items() if former == path), path)
    if pa.types.is_struct(field.type) and any(former.startswith(path + ".") for former in names.values()):
        pass
    parent, *rest = now.split(".")
    at = rows.schema.get_field_index(parent)
    if at < 0:
        return nulls(rows.num_rows, field.type)
    array = rows.column(at).combine_chunks()
    if pa.types.is_struct(field.type) and array.type != field.type and not rest:
        children = []
        for child in field.type:
            its = next((one for one, former in names.items() if former == f"{path}.{child.name}"), f"{path}.{child.name}").split(".")[1]
            index = array.type.get_field_index(its)
            children.append(nulls(len(array), child.type) if index < 0 else array.field(index).cast(child.type))
        return pa.StructArray.from_arrays(children, fields=list(field.type), mask=array.is_null())
    return array if array.type == field.type else array.cast(field.type)


def back(folder, before, appended, names, loses):
    want = pa.concat_tables([before, as_before(appended, before, names)]).combine_chunks()
    have, want = read(folder), want.sort_by("id")
    for path in loses:
        have, want = without(have, path), without(want, path)
    return difference(have, want)


def without(table, path):
    """Whatever the values became, they can be read."""
    return change(table, path, lambda array, field: (nulls(len(array), field.type), field))


def answer(task):
    try:
        if "kinds" in task:
            return list(KINDS)
        if "make" in task:
            return make(task["make"], task["kind"], task["place"], task["format"], task["rows"], task["step"] == "backfill from it")
        if "append" in task:
            return append(task["append"], task["ids"])
        if "take" in task:
            TAKEN[task["as"]] = read(task["take"])
            if "ids" in task:
                TAKEN[task["as"]] = TAKEN[task["as"]].filter(pa.array([id in task["ids"] for id in TAKEN[task["as"]].column("id").to_pylist()], pa.bool_()))
            return None
        if "check" in task:
            return check(task["check"], TAKEN[task["from"]], task["promise"], task.get("loses", False))
        return back(task["back"], TAKEN[task["from"]], TAKEN[task["appended"]], task["names"], task["loses"])
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"


if __name__ == "__main__":
    serve(answer)
