"""Every public method of the Python clients' remote objects, against a running service: RemoteDBConnection and RemoteTable
of lancedb, RestNamespace of pylance; and every operation of the open namespace, by the client that is generated from its
specification. A row calls the method and has what it gives, or a part of the message with which it is refused, by the
service or by the client itself before it asks.

    python.py URL KEY  prints, for each class, its methods with what went wrong, and those without a row.
"""

import asyncio
import inspect
import io
import json
import sys
import uuid
import warnings
from datetime import timedelta
from types import SimpleNamespace

import lance_namespace_urllib3_client as generated
import lance_namespace_urllib3_client.models as m
import lancedb
import pyarrow as pa
from lance.namespace import RestNamespace
from lancedb.index import FTS, BTree, IvfFlat
from lancedb._lancedb import LsmWriteSpec
from lancedb.remote.db import RemoteDBConnection
from lancedb.remote.table import RemoteTable
from lancedb.table import Branches, Tags

warnings.simplefilter("ignore")

URL, KEY = sys.argv[1:]
SCHEMA = pa.schema([("id", pa.int32()), ("s", pa.utf8()), ("v", pa.list_(pa.float32(), 2))])
ROWS = [{"id": 1, "s": "one", "v": [1, 0]}, {"id": 2, "s": "two", "v": [2, 0]}, {"id": 3, "s": "three", "v": [3, 0]}]
FOUR = {"id": 4, "s": "four", "v": [4, 0]}

NO_BRANCHES = "this service has no branches"
NO_NAMESPACES = "this service has no namespaces"
NO_COMPUTED = "this service has no computed columns"
NO_LOG = "this service has no write-ahead log"
NO_VIEWS = "this service has no views"
NO_MATERIALIZED = "this service has no materialized views"
NO_FUNCTIONS = "this service has no functions"
NO_SECRETS = "this service has no secrets"
NO_TRANSACTIONS = "this service has no transactions"
# Queries in SQL go over gRPC, which the service does not speak.
NO_SQL = "SQL error"
NO_JOB = "Job 'j' was not found"
NOT_FOR_REMOTE = "Namespace operations are not supported for this connection type"


def arrow(rows):
    return pa.Table.from_pylist(rows, SCHEMA)


def stream(rows):
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, SCHEMA) as writer:
        writer.write_table(arrow(rows))
    return sink.getvalue()


class Row:
    def __init__(self, call, gives=None, refused_by=None, message=None):
        self.call, self.gives, self.refused_by, self.message = call, gives, refused_by, message


def works(gives, call):
    return Row(call, gives=gives)


def refused(message, call):
    return Row(call, refused_by="service", message=message)


def client_refuses(message, call):
    return Row(call, refused_by="client", message=message)


def ids(table):
    return sorted(table.search().select(["id"]).limit(100).to_arrow()["id"].to_pylist())


def after(act, see):
    """What is there after an act."""

    def call(place):
        act(place)
        return see(place)

    return call


def indexed(see):
    """What is there when the table has an index."""

    def call(place):
        place.table.create_index("id", config=BTree())
        return see(place.table)

    return call


def added(see):
    def call(place):
        place.table.add(arrow([FOUR]))
        return see(place.table)

    return call


def checked_out(see):
    def call(place):
        place.table.add(arrow([FOUR]))
        place.table.checkout(1)
        return see(place.table)

    return call


def row_ids(table):
    return table.search().with_row_id(True).limit(10).to_arrow()["_rowid"].to_pylist()[:2]


TABLE = {
    "name": works(True, lambda p: p.table.name == p.name),
    "schema": works(True, lambda p: p.table.schema == SCHEMA),
    "version": works(1, lambda p: p.table.version),
    "uri": client_refuses("Table URI not supported by the server", lambda p: p.table.uri),
    "current_branch": works(None, lambda p: p.table.current_branch()),
    "embedding_functions": works({}, lambda p: p.table.embedding_functions),
    "add": works([2, [1, 2, 3, 4]], lambda p: [p.table.add(arrow([FOUR])).version, ids(p.table)]),
    "delete": works([2, [1, 3]], lambda p: [p.table.delete("id = 2").version, ids(p.table)]),
    "update": works(
        [1, 1], lambda p: [p.table.update("id = 1", {"s": "new"}).rows_updated, p.table.count_rows("s = 'new'")]
    ),
    "count_rows": works([3, 2], lambda p: [p.table.count_rows(), p.table.count_rows("id > 1")]),
    "merge_insert": works(
        [1, 1, [1, 2, 3, 4]],
        lambda p: [
            *(
                lambda result: [result.num_inserted_rows, result.num_updated_rows]
            )(
                p.table.merge_insert("id")
                .when_matched_update_all()
                .when_not_matched_insert_all()
                .execute(arrow([{**ROWS[0], "s": "new"}, FOUR]))
            ),
            ids(p.table),
        ],
    ),
    "search": works([1], lambda p: p.table.search([1, 0]).limit(1).to_arrow()["id"].to_pylist()),
    "head": works([1, 2], lambda p: p.table.head(2)["id"].to_pylist()),
    "take_offsets": works([1, 3], lambda p: p.table.take_offsets([0, 2]).to_arrow()["id"].to_pylist()),
    "take_row_ids": works([1, 2], lambda p: p.table.take_row_ids(row_ids(p.table)).to_arrow()["id"].to_pylist()),
    "to_arrow": client_refuses("to_arrow() is not yet supported on LanceDB cloud", lambda p: p.table.to_arrow()),
    "to_pandas": client_refuses("to_pandas() is not yet supported on LanceDB cloud", lambda p: p.table.to_pandas()),
    "to_polars": client_refuses("NotImplementedError", lambda p: p.table.to_polars()),
    "to_lance": client_refuses("NotImplementedError", lambda p: p.table.to_lance()),
    "add_columns": works(
        [2, [2, 4, 6]],
        lambda p: [p.table.add_columns({"d": "id * 2"}).version, p.table.head()["d"].to_pylist()],
    ),
    "alter_columns": works(
        [2, ["id", "text", "v"]],
        lambda p: [p.table.alter_columns({"path": "s", "rename": "text"}).version, p.table.schema.names],
    ),
    "update_field_metadata": works(
        [2, "none"],
        lambda p: [
            p.table.update_field_metadata({"path": "s", "metadata": {"unit": "none"}}).version,
            p.table.schema.field("s").metadata[b"unit"].decode(),
        ],
    ),
    "drop_columns": works([2, ["id", "v"]], lambda p: [p.table.drop_columns(["s"]).version, p.table.schema.names]),
    "refresh_column": client_refuses(
        "a remote refresh runs as a server job", lambda p: p.table.refresh_column("s")
    ),
    "refresh_column_async": refused(NO_COMPUTED, lambda p: p.table.refresh_column_async("s")),
    "function_errors": refused(NO_COMPUTED, lambda p: p.table.function_errors()),
    "set_unenforced_primary_key": client_refuses(
        "set_unenforced_primary_key is not supported on LanceDB cloud",
        lambda p: p.table.set_unenforced_primary_key("id"),
    ),
    "create_index": works(
        "BTREE", after(lambda p: p.table.create_index("id", config=BTree()), lambda p: p.table.index_stats("id_idx").index_type)
    ),
    "create_index_async": works(
        3,
        after(
            lambda p: p.table.create_index_async("v", config=IvfFlat(num_partitions=1)),
            lambda p: p.table.index_stats("v_idx").num_indexed_rows,
        ),
    ),
    "create_scalar_index": works(
        "BITMAP",
        after(
            lambda p: p.table.create_scalar_index("id", "BITMAP"), lambda p: p.table.index_stats("id_idx").index_type
        ),
    ),
    "create_fts_index": works(
        ["three"],
        after(
            lambda p: p.table.create_fts_index("s"),
            lambda p: p.table.search("three", query_type="fts").to_arrow()["s"].to_pylist(),
        ),
    ),
    "list_indices": works(
        [["id_idx", "BTree", ["id"]]],
        indexed(lambda t: [[index.name, index.index_type, index.columns] for index in t.list_indices()]),
    ),
    "index_stats": works(
        [3, 0],
        indexed(
            lambda t: (lambda stats: [stats.num_indexed_rows, stats.num_unindexed_rows])(t.index_stats("id_idx"))
        ),
    ),
    "wait_for_index": works(None, indexed(lambda t: t.wait_for_index(["id_idx"], timedelta(seconds=5)))),
    "prewarm_index": works(None, indexed(lambda t: t.prewarm_index("id_idx"))),
    "prewarm_data": refused("this service has no warming of tables", lambda p: p.table.prewarm_data(["id"])),
    "drop_index": works([], indexed(lambda t: [t.drop_index("id_idx"), *t.list_indices()][1:])),
    "tokenize": works(
        ["two", "three"],
        after(
            lambda p: p.table.create_index("s", config=FTS()),
            lambda p: [token.text for token in p.table.tokenize("Two three", column="s")],
        ),
    ),
    "list_versions": works([1, 2], added(lambda t: [version["version"] for version in t.list_versions()])),
    "checkout": works([1, 3], checked_out(lambda t: [t.version, t.count_rows()])),
    "checkout_latest": works(4, checked_out(lambda t: [t.checkout_latest(), t.count_rows()][1])),
    "restore": works([3, 3], checked_out(lambda t: [t.restore(), t.version, t.count_rows()][1:])),
    "tags": works("Tags", lambda p: type(p.table.tags).__name__),
    "branches": works("Branches", lambda p: type(p.table.branches).__name__),
    "stats": works([3, 0], lambda p: [p.table.stats()["num_rows"], p.table.stats()["num_indices"]]),
    "optimize": works(None, lambda p: p.table.optimize()),
    "compact_files": works(None, lambda p: p.table.compact_files()),
    "cleanup_old_versions": works(None, lambda p: p.table.cleanup_old_versions()),
    "uses_v2_manifest_paths": client_refuses(
        "uses_v2_manifest_paths() is not supported on the LanceDB Cloud", lambda p: p.table.uses_v2_manifest_paths()
    ),
    "migrate_v2_manifest_paths": client_refuses(
        "migrate_v2_manifest_paths() is not supported on the LanceDB Cloud",
        lambda p: p.table.migrate_v2_manifest_paths(),
    ),
    "blob_columns": works([], lambda p: p.table.blob_columns()),
    "fetch_blobs": client_refuses(
        "fetch_blobs is not supported on this LanceDB Cloud server", lambda p: p.table.fetch_blobs("s", [0])
    ),
    "fetch_blob_files": client_refuses(
        "fetch_blob_files requires LanceDB Cloud server 0.5.0 or newer", lambda p: p.table.fetch_blob_files("s", [0])
    ),
    "fetch_blob_ranges": client_refuses(
        "fetch_blob_ranges() is not supported on LanceDB Cloud", lambda p: p.table.fetch_blob_ranges("s", [])
    ),
    "set_lsm_write_spec": refused(NO_LOG, lambda p: p.table.set_lsm_write_spec(LsmWriteSpec.unsharded())
    ),
    "unset_lsm_write_spec": refused(NO_LOG, lambda p: p.table.unset_lsm_write_spec()),
    "get_lsm_write_spec": refused(NO_LOG, lambda p: p.table.get_lsm_write_spec()),
    "get_lsm_stats": refused(NO_LOG, lambda p: p.table.get_lsm_stats()),
    "flush_lsm": refused(NO_LOG, lambda p: p.table.flush_lsm()),
    "compact_lsm": refused(NO_LOG, lambda p: p.table.compact_lsm()),
    "checkpoint_lsm": refused(NO_LOG, lambda p: p.table.checkpoint_lsm()),
    "close_lsm_writers": works(None, lambda p: p.table.close_lsm_writers()),
}


def tag_list(table):
    return {tag: found["version"] for tag, found in table.tags.list().items()}


def tagged_table(see):
    return after(lambda p: p.table.tags.create("a", 1), lambda p: see(p.table))


TAGS = {
    "create": works({"a": 1}, tagged_table(tag_list)),
    "list": works({"a": 1}, tagged_table(tag_list)),
    "get_version": works(1, tagged_table(lambda t: t.tags.get_version("a"))),
    "update": works(
        {"a": 2}, tagged_table(lambda t: [t.add(arrow([FOUR])), t.tags.update("a", 2), tag_list(t)][2])
    ),
    "delete": works({}, tagged_table(lambda t: [t.tags.delete("a"), tag_list(t)][1])),
}

BRANCHES = {
    "list": refused(NO_BRANCHES, lambda p: p.table.branches.list()),
    "create": refused(NO_BRANCHES, lambda p: p.table.branches.create("b")),
    "checkout": refused(NO_BRANCHES, lambda p: p.table.branches.checkout("b")),
    "delete": refused(NO_BRANCHES, lambda p: p.table.branches.delete("b")),
    "diff": refused(NO_BRANCHES, lambda p: p.table.branches.diff("b")),
    "cherry_pick": refused(NO_BRANCHES, lambda p: p.table.branches.cherry_pick("b")),
}


def dropped(drop):
    return lambda p: [drop(p), p.name in p.db.table_names(limit=1000)][1]


CONNECTION = {
    "uri": client_refuses("object has no attribute '_uri'", lambda p: p.db.uri),
    "serialize": works("remote", lambda p: json.loads(p.db.serialize())["connection_type"]),
    "close": works(None, lambda p: asyncio.run(p.db.close())),
    "namespace_client": works(["t"], lambda p: ["t" for name in p.db.namespace_client().list_tables(m.ListTablesRequest(id=[])).tables if name == p.name]),
    "table_names": works(True, lambda p: p.name in p.db.table_names(limit=1000)),
    "list_tables": works(True, lambda p: p.name in p.db.list_tables(limit=1000).tables),
    "open_table": works(3, lambda p: p.db.open_table(p.name).count_rows()),
    "create_table": works(3, lambda p: p.db.create_table(p.name + "_2", arrow(ROWS)).count_rows()),
    "clone_table": refused("this service has no cloning of tables", lambda p: p.db.clone_table("c", "file:///t.lance")),
    "drop_table": works(False, dropped(lambda p: p.db.drop_table(p.name))),
    "drop_table_async": works(False, dropped(lambda p: p.db.drop_table_async(p.name).wait())),
    "rename_table": works(False, dropped(lambda p: p.db.rename_table(p.name, p.name + "_2"))),
    "drop_all_tables": client_refuses("NotImplementedError", lambda p: p.db.drop_all_tables()),
    "drop_database": client_refuses("NotImplementedError", lambda p: p.db.drop_database()),
    "table_exists": client_refuses(NOT_FOR_REMOTE, lambda p: p.db.table_exists([p.name])),
    "namespace_exists": client_refuses(NOT_FOR_REMOTE, lambda p: p.db.namespace_exists(["n"])),
    "list_namespaces": works([], lambda p: p.db.list_namespaces().namespaces),
    "describe_namespace": works({}, lambda p: p.db.describe_namespace([]).properties),
    "create_namespace": refused(NO_NAMESPACES, lambda p: p.db.create_namespace(["n"])),
    "drop_namespace": refused(NO_NAMESPACES, lambda p: p.db.drop_namespace(["n"])),
    "list_jobs": works([], lambda p: p.db.list_jobs()),
    "open_job": refused(NO_JOB, lambda p: p.db.open_job("j")),
    "cancel_job": works(False, lambda p: p.db.cancel_job("j")),
    "pause_job": refused(NO_JOB, lambda p: p.db.pause_job("j")),
    "resume_job": refused(NO_JOB, lambda p: p.db.resume_job("j")),
    "create_materialized_view": refused(NO_MATERIALIZED, lambda p: p.db.create_materialized_view("mv", p.name)),
    "create_materialized_view_async": refused(NO_MATERIALIZED, lambda p: p.db.create_materialized_view_async("mv", p.name)
    ),
    "open_materialized_view": refused(NO_MATERIALIZED, lambda p: p.db.open_materialized_view(p.name)),
    "list_materialized_views": refused(NO_MATERIALIZED, lambda p: p.db.list_materialized_views()),
    "drop_materialized_view": refused(NO_MATERIALIZED, lambda p: p.db.drop_materialized_view("mv")),
    "drop_materialized_view_async": refused(NO_MATERIALIZED, lambda p: p.db.drop_materialized_view_async("mv")),
    "create_function": refused(NO_FUNCTIONS, lambda p: p.db.create_function(a_function())),
    "create_function_async": refused(NO_FUNCTIONS, lambda p: p.db.create_function_async(a_function())),
    "get_function": refused(NO_FUNCTIONS, lambda p: p.db.get_function("f", version="1")),
    "list_functions": refused(NO_FUNCTIONS, lambda p: p.db.list_functions()),
    "drop_function": refused(NO_FUNCTIONS, lambda p: p.db.drop_function("f", version="1")),
    "drop_function_async": refused(NO_FUNCTIONS, lambda p: p.db.drop_function_async("f", version="1")),
    "create_secret": refused(NO_SECRETS, lambda p: p.db.create_secret("s", "v")),
    "alter_secret": refused(NO_SECRETS, lambda p: p.db.alter_secret("s", "v")),
    "describe_secret": refused(NO_SECRETS, lambda p: p.db.describe_secret("s")),
    "list_secrets": refused(NO_SECRETS, lambda p: p.db.list_secrets()),
    "drop_secret": refused(NO_SECRETS, lambda p: p.db.drop_secret("s")),
    "create_view": refused(NO_VIEWS, lambda p: p.db.create_view("v", "select 1")),
    "describe_view": refused(NO_VIEWS, lambda p: p.db.describe_view("v")),
    "drop_view": refused(NO_VIEWS, lambda p: p.db.drop_view("v")),
    "drop_view_async": refused(NO_VIEWS, lambda p: p.db.drop_view_async("v")),
    "list_views": refused(NO_VIEWS, lambda p: p.db.list_views()),
    "execute_query": refused(NO_SQL, lambda p: p.db.execute_query("select 1")),
    "execute_query_async": refused(NO_SQL, lambda p: p.db.execute_query_async("select 1")),
    "describe_query": client_refuses("Unknown or expired SQL query id", lambda p: p.db.describe_query(uuid.uuid4())),
}


def a_function():
    def f(x: int) -> int:
        return x

    return lancedb.udf(f)


QUERY = {"k": 2, "vector": m.QueryTableRequestVector(single_vector=[1.0, 0.0])}


def rows_of(p):
    data = p.ns.query_table(m.QueryTableRequest(id=p.id, k=10, vector=m.QueryTableRequestVector(single_vector=[]))).data
    return sorted(pa.ipc.open_file(data).read_all()["id"].to_pylist())


def tagged(see):
    return after(lambda p: p.ns.create_table_tag(m.CreateTableTagRequest(id=p.id, tag="a", version=1)), see)


def ns_indexed(see):
    return after(
        lambda p: p.ns.create_table_index(m.CreateTableIndexRequest(id=p.id, column="id", index_type="BTREE")), see
    )


def list_tags(p):
    return {tag: found.version for tag, found in p.ns.list_table_tags(m.ListTableTagsRequest(id=p.id)).tags.items()}


def index_stats(p):
    return p.ns.describe_table_index_stats(m.DescribeTableIndexStatsRequest(id=p.id, index_name="id_idx"))


NAMESPACE = {
    "namespace_id": works(f'RestNamespace {{ endpoint: "{URL}", delimiter: "$" }}', lambda p: p.ns.namespace_id()),
    "retrieve_ops_metrics": works({}, lambda p: p.ns.retrieve_ops_metrics()),
    "reset_ops_metrics": works(None, lambda p: p.ns.reset_ops_metrics()),
    "list_namespaces": works([], lambda p: p.ns.list_namespaces(m.ListNamespacesRequest(id=[])).namespaces),
    "describe_namespace": works({}, lambda p: p.ns.describe_namespace(m.DescribeNamespaceRequest(id=[])).properties),
    "namespace_exists": works(
        "NamespaceExistsResponse",
        lambda p: type(p.ns.namespace_exists(m.NamespaceExistsRequest(id=[]))).__name__,
    ),
    "create_namespace": refused(NO_NAMESPACES, lambda p: p.ns.create_namespace(m.CreateNamespaceRequest(id=["n"]))),
    "drop_namespace": refused(NO_NAMESPACES, lambda p: p.ns.drop_namespace(m.DropNamespaceRequest(id=["n"]))),
    "list_tables": works(True, lambda p: p.name in p.ns.list_tables(m.ListTablesRequest(id=[])).tables),
    "list_all_tables": works(True, lambda p: p.name in p.ns.list_all_tables(m.ListTablesRequest()).tables),
    "describe_table": works(
        [1, ["id", "s", "v"]],
        lambda p: (lambda found: [found.version, [field.name for field in found.var_schema.fields]])(
            p.ns.describe_table(m.DescribeTableRequest(id=p.id, load_detailed_metadata=True))
        ),
    ),
    "table_exists": works(
        "TableExistsResponse", lambda p: type(p.ns.table_exists(m.TableExistsRequest(id=p.id))).__name__
    ),
    "create_table": works(
        3,
        lambda p: [
            p.ns.create_table(m.CreateTableRequest(id=[p.name + "_2"]), stream(ROWS)),
            p.ns.count_table_rows(m.CountTableRowsRequest(id=[p.name + "_2"])).count,
        ][1],
    ),
    "create_empty_table": client_refuses("Not supported: create_empty_table", lambda p: p.ns.create_empty_table(m.DeclareTableRequest(id=["e"]))),
    "declare_table": refused("this service has no declaring of tables", lambda p: p.ns.declare_table(m.DeclareTableRequest(id=["e"]))),
    "register_table": refused(
        "this service has no registering of tables",
        lambda p: p.ns.register_table(m.RegisterTableRequest(id=["r"], location="r.lance")),
    ),
    "deregister_table": refused(
        "this service has no registering of tables",
        lambda p: p.ns.deregister_table(m.DeregisterTableRequest(id=p.id)),
    ),
    "drop_table": works(
        False,
        lambda p: [
            p.ns.drop_table(m.DropTableRequest(id=p.id)),
            p.name in p.ns.list_tables(m.ListTablesRequest(id=[])).tables,
        ][1],
    ),
    "rename_table": works(
        3,
        lambda p: [
            p.ns.rename_table(m.RenameTableRequest(id=p.id, new_table_name=p.name + "_2")),
            p.ns.count_table_rows(m.CountTableRowsRequest(id=[p.name + "_2"])).count,
        ][1],
    ),
    "restore_table": works(
        [1, 2, 3],
        after(
            lambda p: [
                p.ns.insert_into_table(m.InsertIntoTableRequest(id=p.id), stream([FOUR])),
                p.ns.restore_table(m.RestoreTableRequest(id=p.id, version=1)),
            ],
            rows_of,
        ),
    ),
    "get_table_stats": works(
        [3, 1],
        lambda p: (lambda stats: [stats.num_rows, stats.fragment_stats.num_fragments])(
            p.ns.get_table_stats(m.GetTableStatsRequest(id=p.id))
        ),
    ),
    "insert_into_table": works(
        [1, 2, 3, 4], after(lambda p: p.ns.insert_into_table(m.InsertIntoTableRequest(id=p.id), stream([FOUR])), rows_of)
    ),
    "merge_insert_into_table": works(
        [1, 1, [1, 2, 3, 4]],
        lambda p: (lambda result: [result.num_inserted_rows, result.num_updated_rows, rows_of(p)])(
            p.ns.merge_insert_into_table(
                m.MergeInsertIntoTableRequest(
                    id=p.id, on=["id"], when_matched_update_all=True, when_not_matched_insert_all=True
                ),
                stream([{**ROWS[0], "s": "new"}, FOUR]),
            )
        ),
    ),
    "update_table": works(
        [1, 2],
        lambda p: (lambda result: [result.updated_rows, result.version])(
            p.ns.update_table(m.UpdateTableRequest(id=p.id, predicate="id = 1", updates=[["s", "'new'"]]))
        ),
    ),
    "delete_from_table": works(
        [1, 3], after(lambda p: p.ns.delete_from_table(m.DeleteFromTableRequest(id=p.id, predicate="id = 2")), rows_of)
    ),
    "count_table_rows": works(
        2, lambda p: p.ns.count_table_rows(m.CountTableRowsRequest(id=p.id, predicate="id > 1")).count
    ),
    "query_table": works([1, 2, 3], rows_of),
    "explain_table_query_plan": works(
        True,
        lambda p: "KNNVectorDistance"
        in str(
            p.ns.explain_table_query_plan(
                m.ExplainTableQueryPlanRequest(id=p.id, query=m.QueryTableRequest(id=p.id, **QUERY), verbose=True)
            )
        ),
    ),
    "analyze_table_query_plan": works(
        True,
        lambda p: "AnalyzeExec"
        in str(p.ns.analyze_table_query_plan(m.AnalyzeTableQueryPlanRequest(id=p.id, **QUERY))),
    ),
    "alter_table_add_columns": works(
        2,
        lambda p: p.ns.alter_table_add_columns(
            m.AlterTableAddColumnsRequest(id=p.id, new_columns=[m.AddColumnsEntry(name="d", expression="id * 2")])
        ).version,
    ),
    "alter_table_alter_columns": works(
        2,
        lambda p: p.ns.alter_table_alter_columns(
            m.AlterTableAlterColumnsRequest(id=p.id, alterations=[m.AlterColumnsEntry(path="s", rename="text")])
        ).version,
    ),
    "alter_table_drop_columns": works(
        2, lambda p: p.ns.alter_table_drop_columns(m.AlterTableDropColumnsRequest(id=p.id, columns=["s"])).version
    ),
    "alter_table_backfill_columns": refused(
        NO_COMPUTED, lambda p: p.ns.alter_table_backfill_columns(m.AlterTableBackfillColumnsRequest(id=p.id, column="s"))
    ),
    "update_field_metadata": client_refuses(
        "Not supported: update_field_metadata",
        lambda p: p.ns.update_field_metadata(
            m.UpdateFieldMetadataRequest(id=p.id, updates=[m.UpdateFieldMetadataEntry(path="s", metadata={"a": "b"})])
        ),
    ),
    "update_table_schema_metadata": refused(
        "this service has no changing of a schema's metadata",
        lambda p: p.ns.update_table_schema_metadata(m.UpdateTableSchemaMetadataRequest(id=p.id, metadata={"a": "b"})),
    ),
    "create_table_index": works([3, 0], ns_indexed(lambda p: (lambda s: [s.num_indexed_rows, s.num_unindexed_rows])(index_stats(p)))),
    "create_table_scalar_index": works(
        "BITMAP",
        after(
            lambda p: p.ns.create_table_scalar_index(
                m.CreateTableIndexRequest(id=p.id, column="id", index_type="BITMAP")
            ),
            lambda p: index_stats(p).index_type,
        ),
    ),
    "list_table_indices": works(
        [["id_idx", ["id"], "BTree"]],
        ns_indexed(
            lambda p: [
                [index.index_name, index.columns, index.index_type]
                for index in p.ns.list_table_indices(m.ListTableIndicesRequest(id=p.id)).indexes
            ]
        ),
    ),
    "describe_table_index_stats": works("BTREE", ns_indexed(lambda p: index_stats(p).index_type)),
    "drop_table_index": works(
        [],
        ns_indexed(
            lambda p: [
                p.ns.drop_table_index(m.DropTableIndexRequest(id=p.id, index_name="id_idx")),
                p.ns.list_table_indices(m.ListTableIndicesRequest(id=p.id)).indexes,
            ][1]
        ),
    ),
    "list_table_tags": works({"a": 1}, tagged(list_tags)),
    "create_table_tag": works({"a": 1}, tagged(list_tags)),
    "get_table_tag_version": works(
        1, tagged(lambda p: p.ns.get_table_tag_version(m.GetTableTagVersionRequest(id=p.id, tag="a")).version)
    ),
    "update_table_tag": works(
        {"a": 2},
        tagged(
            lambda p: [
                p.ns.insert_into_table(m.InsertIntoTableRequest(id=p.id), stream([FOUR])),
                p.ns.update_table_tag(m.UpdateTableTagRequest(id=p.id, tag="a", version=2)),
                list_tags(p),
            ][2]
        ),
    ),
    "delete_table_tag": works(
        {}, tagged(lambda p: [p.ns.delete_table_tag(m.DeleteTableTagRequest(id=p.id, tag="a")), list_tags(p)][1])
    ),
    "list_table_branches": refused(NO_BRANCHES, lambda p: p.ns.list_table_branches(m.ListTableBranchesRequest(id=p.id))),
    "create_table_branch": refused(
        NO_BRANCHES, lambda p: p.ns.create_table_branch(m.CreateTableBranchRequest(id=p.id, name="b"))
    ),
    "delete_table_branch": refused(
        NO_BRANCHES, lambda p: p.ns.delete_table_branch(m.DeleteTableBranchRequest(id=p.id, name="b"))
    ),
    "list_table_versions": works(
        [1, 2],
        after(
            lambda p: p.ns.insert_into_table(m.InsertIntoTableRequest(id=p.id), stream([FOUR])),
            lambda p: [
                one.version
                for one in p.ns.list_table_versions(m.ListTableVersionsRequest(id=p.id)).versions
                if one.manifest_path.startswith(p.name + ".lance/_versions/")
            ],
        ),
    ),
    "describe_table_version": works(
        1, lambda p: p.ns.describe_table_version({"id": p.id, "version": 1})["version"]["version"]
    ),
    "create_table_version": refused(
        "this service has no versions that clients write",
        lambda p: p.ns.create_table_version({"id": p.id, "version": 2, "manifest_path": "m"}),
    ),
    "batch_delete_table_versions": refused(
        "this service has no removing of versions",
        lambda p: p.ns.batch_delete_table_versions({"id": p.id, "ranges": [{"start_version": 1, "end_version": 2}]}),
    ),
    "batch_create_table_versions": client_refuses(
        "Not supported: batch_create_table_versions",
        lambda p: p.ns.batch_create_table_versions(
            m.BatchCreateTableVersionsRequest(
                entries=[m.CreateTableVersionEntry(id=p.id, version=9, manifest_path="m")]
            )
        ),
    ),
    "batch_commit_tables": client_refuses(
        "Not supported: batch_commit_tables",
        lambda p: p.ns.batch_commit_tables(
            m.BatchCommitTablesRequest(operations=[m.CommitTableOperation(declare_table=m.DeclareTableRequest(id=["q"]))])
        ),
    ),
    "describe_transaction": refused(NO_TRANSACTIONS, lambda p: p.ns.describe_transaction(m.DescribeTransactionRequest(id=[p.name, "x"])),
    ),
    "alter_transaction": refused(NO_TRANSACTIONS, lambda p: p.ns.alter_transaction(
            m.AlterTransactionRequest(id=[p.name, "x"], actions=[m.AlterTransactionAction()])
        ),
    ),
    "create_materialized_view": refused(NO_MATERIALIZED, lambda p: p.ns.create_materialized_view(
            m.CreateMaterializedViewRequest(id=["mv"], kind="query", source_query="q", output_schema="s")
        ),
    ),
    "refresh_materialized_view": refused(NO_MATERIALIZED, lambda p: p.ns.refresh_materialized_view(m.RefreshMaterializedViewRequest(id=["mv"])),
    ),
}


class Operations:
    """The client that is generated from the namespace's specification. Its methods take what those of RestNamespace take."""

    def __init__(self):
        settings = generated.Configuration(host=URL, api_key={"ApiKeyAuth": KEY})
        self.client = generated.ApiClient(settings)

    def __getattr__(self, name):
        api = next(api for api in APIS if hasattr(api, name))
        return lambda *given: self.call(getattr(api(self.client), name), *given)

    def call(self, operation, request, body=None):
        if isinstance(request, dict):
            kind = "".join(word.capitalize() for word in operation.__name__.split("_")) + "Request"
            request = getattr(m, kind)(**request)
        path = "$".join(getattr(request, "id", None) or []) or "$"
        known = {"id": path, "body": body, "request_body": getattr(request, "metadata", None)}
        arguments = {}
        for name in inspect.signature(operation).parameters:
            value = request if name.endswith("_request") else known.get(name, getattr(request, name, None))
            if value is not None and not name.startswith("_"):
                arguments[name] = value
        found = operation(**arguments)
        if isinstance(found, (bytes, bytearray)):
            return SimpleNamespace(data=bytes(found))
        return SimpleNamespace(count=found) if isinstance(found, int) else found


APIS = [api for api in vars(generated.api).values() if inspect.isclass(api)]
VARIANTS = ("_with_http_info", "_without_preload_content")
OPERATIONS = {
    **{name: row for name, row in NAMESPACE.items() if any(hasattr(api, name) for api in APIS)},
    "namespace_exists": works(None, lambda p: p.ns.namespace_exists(m.NamespaceExistsRequest(id=[]))),
    "table_exists": works(None, lambda p: p.ns.table_exists(m.TableExistsRequest(id=p.id))),
    # These three the other client refuses itself.
    "update_field_metadata": works(
        2,
        lambda p: p.ns.update_field_metadata(
            m.UpdateFieldMetadataRequest(id=p.id, updates=[m.UpdateFieldMetadataEntry(path="s", metadata={"a": "b"})])
        ).version,
    ),
    "batch_create_table_versions": refused(
        "this service has no versions that clients write", NAMESPACE["batch_create_table_versions"].call
    ),
    "batch_commit_tables": refused(
        "this service has no commits of several tables", NAMESPACE["batch_commit_tables"].call
    ),
    "describe_table_version": works(
        1, lambda p: p.ns.describe_table_version({"id": p.id, "version": 1}).version.version
    ),
}


class Place:
    """A connection, and a table of three rows for one row of the table above alone."""

    def __init__(self, name, ns):
        self.name = name
        self.id = [name]
        self.db = lancedb.connect(
            "db://x", api_key=KEY, host_override=URL, client_config={"retry_config": {"retries": 0}}
        )
        self.ns = ns()
        self.table = self.db.create_table(name, arrow(ROWS))


def rest_namespace():
    return RestNamespace(uri=URL, **{"header.x-api-key": KEY})


def problem_of(name, row, ns):
    """What went wrong in a row, or None."""
    try:
        found = row.call(Place(name, ns))
    except BaseException as error:  # the engine's panics are no Exception
        if row.refused_by is None:
            return f"{type(error).__name__}: {error}"
        wanted = row.message.replace("NAME", name)
        found = f"{type(error).__name__}: {error}"
        # As missing would a client report a table whose operation the service answers with 404.
        is_clear = wanted in found and f"Table '{name}' was not found" not in found
        if ns is Operations and error.status != 501:
            return f"answered with {error.status}"
        return None if wanted and is_clear else f"refused with {found}"
    if row.refused_by is not None:
        return f"it was not refused, and gave {found!r}"
    return None if found == row.gives else f"it gave {found!r}"


def main():
    report = {}
    classes = (
        ("RemoteDBConnection", RemoteDBConnection, CONNECTION),
        ("RemoteTable", RemoteTable, TABLE),
        ("RemoteTable.tags", Tags, TAGS),
        ("RemoteTable.branches", Branches, BRANCHES),
        ("RestNamespace", RestNamespace, NAMESPACE),
        ("Operations", APIS, OPERATIONS),
    )
    for title, kind, rows in classes:
        ns = Operations if kind is APIS else rest_namespace
        public = {name for one in (APIS if kind is APIS else [kind]) for name in dir(one) if not name.startswith("_")}
        public = {name for name in public if not name.endswith(VARIANTS)}
        report[title] = {
            "withoutRow": sorted(public - set(rows)),
            "withoutMethod": sorted(set(rows) - public),
            "methods": [
                {
                    "name": name,
                    "refusedBy": row.refused_by,
                    "message": row.message,
                    "problem": problem_of(f"{title}_{name}", row, ns),
                }
                for name, row in rows.items()
            ],
        }
    print(json.dumps(report))


main()
