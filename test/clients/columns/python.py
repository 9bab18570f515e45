"""Every type of column that pyarrow and pylance can make, in tables that lancedb creates through the service, and on a
folder of its own, which decides what is right.

    python.py URL KEY SERVED FOLDER  prints, for each type, what each act did in both, and which types have no row.
    python.py SERVED FOLDER NAME…    prints, for each table, how it differs in the folder of the service and in the other.
"""

import itertools
import json
import random
import sys
import warnings

import lance
import lancedb
import pyarrow as pa

sys.path.insert(0, __file__.rsplit("/", 3)[0] + "/oracle")
from compare import found  # noqa: E402
from kinds import KINDS, values  # noqa: E402

warnings.simplefilter("ignore")

MAP = pa.map_(pa.string(), pa.int32())
PARTS = [pa.array([1, None], pa.int32()), pa.array([None, "x"])]
# The engine's own form, for the bytes of any file.
OF_FILE = pa.array(
    [{"kind": 3, "data": None, "uri": "file:///etc/hostname", "blob_id": 0, "blob_size": 3, "position": 0}] * 2,
    pa.struct(
        [
            ("kind", pa.uint8()),
            ("data", pa.large_binary()),
            ("uri", pa.string()),
            ("blob_id", pa.uint32()),
            ("blob_size", pa.uint64()),
            ("position", pa.uint64()),
        ]
    ),
)
OPAQUE = pa.opaque(pa.binary(), "type", "vendor")


def extension(kind, storage):
    return pa.ExtensionArray.from_storage(kind, pa.array(storage, kind.storage_type))


# Types that the judge of steps does not need, with two values each.
MORE = {
    "list of json": pa.ListArray.from_arrays([0, 1, 2], extension(pa.json_(), ['{"a":1}', None])),
    "list of maps": pa.array([[[("a", 1)]], None], pa.list_(MAP)),
    "list of dictionaries": pa.ListArray.from_arrays([0, 1, 2], pa.array(["a", None]).dictionary_encode()),
    "list of null": pa.array([[None], None], pa.list_(pa.null())),
    "fixed_size_list of no items": pa.array([[], None], pa.list_(pa.int32(), 0)),
    "fixed_size_list of null": pa.FixedSizeListArray.from_arrays(pa.nulls(4), 2),
    "fixed_size_list of string": pa.array([["a", "b"], None], pa.list_(pa.string(), 2)),
    "fixed_size_list of dictionaries": pa.FixedSizeListArray.from_arrays(
        pa.array(["a", "b", "a", "b"]).dictionary_encode(), 2
    ),
    "list_view": pa.array([[1, 2], None], pa.list_view(pa.int32())),
    "large_list_view": pa.array([[1, 2], None], pa.large_list_view(pa.int32())),
    "struct of json": pa.StructArray.from_arrays([extension(pa.json_(), ['{"a":1}', None])], ["j"]),
    "struct of map": pa.array([{"m": [("a", 1)]}, None], pa.struct([("m", MAP)])),
    "struct of dictionary": pa.StructArray.from_arrays([pa.array(["a", None]).dictionary_encode()], ["d"]),
    "struct without fields": pa.array([{}, {}], pa.struct([])),
    "map of maps": pa.array([[("a", [("b", 1)])], None], pa.map_(pa.string(), MAP)),
    "run_end_encoded": pa.RunEndEncodedArray.from_arrays([2], ["a"]),
    "dense_union": pa.UnionArray.from_dense(pa.array([0, 1], pa.int8()), pa.array([0, 1], pa.int32()), PARTS),
    "sparse_union": pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), PARTS),
    "month_day_nano_interval": pa.array([pa.MonthDayNano([1, 2, 3]), None]),
    "decimal32": pa.array([1, None], pa.decimal32(9, 2)),
    "decimal64": pa.array([1, None], pa.decimal64(18, 2)),
    "fixed_size_binary[0]": pa.array([b"", None], pa.binary(0)),
    "timestamp[us, tz=UTC]": pa.array([1, None], pa.timestamp("us", "UTC")),
    "timestamp[us, tz=+02:00]": pa.array([1, None], pa.timestamp("us", "+02:00")),
    "bool8": extension(pa.bool8(), [1, None]),
    "opaque": extension(OPAQUE, [b"x", None]),
    "fixed_shape_tensor": extension(pa.fixed_shape_tensor(pa.float32(), [2]), [[1, 2], None]),
}


def two(kind):
    """Drawn values, of which one at least is not null. The clients refuse vectors with NaN."""
    drawn = (values(random.Random(seed), kind, 2) for seed in itertools.count())
    return next(
        array for array in drawn if "nan" not in str(array) and (array.null_count < 2 or pa.types.is_null(kind))
    )


COLUMNS = {
    **{name: (field, two(field.type)) for name, field in KINDS.items()},
    **{name: (pa.field("c", array.type), array) for name, array in MORE.items()},
    "blob v2, as the engine writes it": (pa.field("c", OF_FILE.type, True, {"ARROW:extension:name": "lance.blob.v2"}), OF_FILE),
}


def without_row():
    """What pyarrow has and no row: of kinds of types, and of extensions."""
    kinds = [field.type for field, _ in COLUMNS.values()]
    asked = {name: getattr(pa.types, name) for name in dir(pa.types) if name.startswith("is_")}
    missing = [
        name
        for name, is_kind in asked.items()
        if not name.endswith("_value") and not any(is_kind(kind) for kind in kinds)
    ]
    extensions = [one for one in vars(pa).values() if isinstance(one, type) and issubclass(one, pa.BaseExtensionType)]
    # Of an extension that this process does not know.
    unknown = pa.UnknownExtensionType
    return missing + [
        one.__name__ for one in extensions if one is not unknown and not any(isinstance(kind, one) for kind in kinds)
    ]


def rows(column, ids):
    field, data = column
    return pa.Table.from_arrays([pa.array(ids, pa.int32()), data], schema=pa.schema([pa.field("id", pa.int32()), field]))


def read(table, where=None):
    query = table.search() if where is None else table.search().where(where)
    return plain(query.limit(99).to_arrow())


def plain(table):
    """Rows in the order of their ids, as bits, and what is known of each column."""
    listed = sorted(([value(cell) for cell in row] for row in zip(*table.columns)), key=lambda row: row[0])
    columns = [[field.name, str(field.type), field.nullable, metadata(field)] for field in table.schema]
    return [columns, repr(listed)]


def value(cell):
    try:
        return found(cell)
    except Exception:
        return cell.as_py()


def metadata(field):
    return sorted((key.decode(), text.decode()) for key, text in (field.metadata or {}).items())


def merge(table, column):
    table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(rows(column, [4, 5]))


# The first is of a new table, the others of the table that it left.
ACTS = {
    "create": lambda db, name, column: db.create_table(name, rows(column, [1, 2])) and None,
    "read": lambda table, column: read(table),
    "filter": lambda table, column: read(table, "c is not null"),
    "append": lambda table, column: table.add(rows(column, [3, 4])) and None,
    "merge": merge,
    "update to null": lambda table, column: table.update("id = 1", values_sql={"c": "null"}) and None,
    "delete": lambda table, column: table.delete("id = 2") and None,
    "rename": lambda table, column: table.alter_columns({"path": "c", "rename": "d"}) and None,
    "add a column": lambda table, column: table.add_columns(pa.schema([column[0].with_name("more").with_nullable(True)])) and None,
    "copy by SQL": lambda table, column: table.add_columns({"copy": "d"}) and None,
    "read again": lambda table, column: read(table),
    "drop": lambda table, column: table.drop_columns(["d"]) and None,
}


def attempt(act, *given):
    try:
        return {"value": act(*given)}
    except BaseException as error:  # the engine's panics are no Exception
        return {"error": f"{type(error).__name__}: {error}"}


def stored(folder, name):
    """What pylance finds in a table, the bytes of blobs too."""
    table = lance.dataset(f"{folder}/{name}.lance")
    blobs = [field.name for field in table.schema if isinstance(field.type, lance.blob.BlobType)]
    every = range(table.count_rows())
    files = [[blob and blob.readall() for blob in table.take_blobs(name, indices=every)] for name in blobs]
    return [plain(table.to_table()), repr(files)]


def difference(served, folder, name):
    have, want = attempt(stored, served, name), attempt(stored, folder, name)
    return None if have == want and "value" in want else f"the service has {have}, the folder {want}"


def tried(databases, name, column):
    """What each act did, up to the first one that only one of the two took."""
    done = []
    for act, do in ACTS.items():
        of_act = lambda db: do(db, name, column) if act == "create" else do(db.open_table(name), column)
        by_engine, by_service = [attempt(of_act, db) for db in databases]
        done.append({"act": act, "embedded": by_engine, "served": by_service})
        if "error" in by_service and (act == "create" or "value" in by_engine):
            break
    return done


def main(url, key, served, folder):
    options = {"api_key": key, "host_override": url, "client_config": {"retry_config": {"retries": 0}}}
    databases = [lancedb.connect(folder), lancedb.connect("db://x", **options)]
    report = {}
    for at, (kind, column) in enumerate(COLUMNS.items()):
        name = f"t{at}"
        acts = tried(databases, name, column)
        is_made = all("value" in acts[0][place] for place in ("embedded", "served"))
        report[kind] = {"acts": acts, "difference": difference(served, folder, name) if is_made else None}
    print(json.dumps({"withoutRow": without_row(), "kinds": report}))


if sys.argv[1].startswith("http"):
    main(*sys.argv[1:])
else:
    print(json.dumps([difference(*sys.argv[1:3], name) for name in sys.argv[3:]]))
