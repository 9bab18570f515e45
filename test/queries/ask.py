"""The client for Python: performs queries, one JSON object a line, on the folder and on the service that it is started with."""

import asyncio
import json
import sys

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.query import BooleanQuery, BoostQuery, ColumnOrdering, MatchQuery, MultiMatchQuery, Occur, PhraseQuery
from lancedb.rerankers import RRFReranker

FOLDER, URL, KEY = sys.argv[1:]
LOOP = asyncio.new_event_loop()
SERVICE = {"api_key": KEY, "host_override": URL, "client_config": {"retry_config": {"retries": 0}}}


def given(query, **names):
    """Those options that the query has, under their names for Python."""
    return {name: query[key] for name, key in names.items() if key in query}


def text_query(text):
    if isinstance(text, str):
        return text
    kind = text["kind"]
    if kind == "match":
        names = dict(
            boost="boost",
            fuzziness="fuzziness",
            max_expansions="maxExpansions",
            operator="operator",
            prefix_length="prefixLength",
        )
        # This client does not let the engine choose the fuzziness.
        options = {name: value for name, value in given(text["options"], **names).items() if value is not None}
        return MatchQuery(text["text"], text["column"], **options)
    if kind == "phrase":
        return PhraseQuery(text["text"], text["column"], **given(text, slop="slop"))
    if kind == "boost":
        parts = text_query(text["positive"]), text_query(text["negative"])
        return BoostQuery(*parts, **given(text, negative_boost="by"))
    if kind == "multiMatch":
        return MultiMatchQuery(text["text"], text["columns"], **given(text, boosts="boosts", operator="operator"))
    return BooleanQuery([(Occur(occur), text_query(part)) for occur, part in text["parts"]])


def vectors_of(nearest):
    kind = {"float64": np.float64, "uint8": np.uint8}.get(nearest.get("type"))
    vectors = nearest["vectors"] if kind is None else [np.array(vector, kind) for vector in nearest["vectors"]]
    return vectors[0] if len(vectors) == 1 else vectors


def orderings(query):
    return [
        ColumnOrdering(column_name=one["column"], **given(one, ascending="ascending", nulls_first="nullsFirst"))
        for one in query["orderBy"]
    ]


def tune(builder, query):
    """The options of a search for vectors, which have the same names in both interfaces."""
    nearest = query["nearest"]
    # Hybrid searches of the asynchronous interface have no such bounds.
    has_bounds = not (query["isAsync"] and "text" in query)
    bounds = (("minimum_nprobes", "minimumNprobes"), ("maximum_nprobes", "maximumNprobes")) if has_bounds else ()
    for option, key in (
        ("distance_type", "distanceType"),
        ("nprobes", "nprobes"),
        *bounds,
        ("ef", "ef"),
        ("refine_factor", "refineFactor"),
    ):
        if key in nearest:
            builder = getattr(builder, option)(nearest[key])
    if "lower" in nearest or "upper" in nearest:
        builder = builder.distance_range(nearest.get("lower"), nearest.get("upper"))
    return builder.bypass_vector_index() if nearest.get("bypassIndex") else builder


def project(builder, query):
    if "columns" in query:
        builder = builder.select(query["columns"])
    if "expressions" in query:
        builder = builder.select(dict(query["expressions"]))
    return builder


def sync_search(table, query):
    nearest, text = query.get("nearest"), query.get("text")
    column = {} if nearest is None else given(nearest, vector_column_name="column")
    columns = given(query, fts_columns="textColumns")
    if nearest is not None and text is not None:
        builder = table.search(query_type="hybrid", **column, **columns)
        builder = builder.vector(vectors_of(nearest)).text(text_query(text))
    elif nearest is not None:
        builder = table.search(vectors_of(nearest), query_type="vector", **column)
    elif text is not None:
        builder = table.search(text_query(text), query_type="fts", **columns)
    else:
        builder = table.search()
    if nearest is not None:
        builder = tune(builder, query)
    if query.get("rerank"):
        builder = builder.rerank(RRFReranker())
    if "filter" in query:
        builder = builder.where(query["filter"], prefilter=not query.get("postfilter", False))
    builder = project(builder, query)
    for option in ("limit", "offset"):
        if option in query:
            builder = getattr(builder, option)(query[option])
    if "orderBy" in query:
        builder = builder.order_by(orderings(query))
    if query.get("withRowId"):
        builder = builder.with_row_id(True)
    # Not all of these builders have it.
    is_fast = query.get("fastSearch") and hasattr(builder, "fast_search")
    return (builder.fast_search() if is_fast else builder).to_arrow()


async def async_search(table, query):
    builder = table.query()
    # A filter before the search becomes one of both parts of a hybrid search.
    if "filter" in query:
        builder = builder.where(query["filter"])
    if "nearest" in query:
        builder = builder.nearest_to(vectors_of(query["nearest"]))
    if "text" in query:
        builder = builder.nearest_to_text(text_query(query["text"]), **given(query, columns="textColumns"))
    if "nearest" in query:
        column = query["nearest"].get("column")
        builder = tune(builder if column is None else builder.column(column), query)
    if query.get("postfilter"):
        builder = builder.postfilter()
    if query.get("rerank"):
        builder = builder.rerank(RRFReranker())
    builder = project(builder, query)
    for option in ("limit", "offset"):
        if option in query:
            builder = getattr(builder, option)(query[option])
    if "orderBy" in query:
        builder = builder.order_by(orderings(query))
    if query.get("withRowId"):
        builder = builder.with_row_id()
    return await (builder.fast_search() if query.get("fastSearch") else builder).to_arrow()


def take(table, query):
    method = table.take_row_ids if query["what"] == "rowIds" else table.take_offsets
    builder = project(method(query["places"]), query)
    return (builder.with_row_id() if query.get("withRowId") else builder).to_arrow()


def ask(tables, query):
    table, asynchronous = tables
    is_async = query["isAsync"]
    if query["what"] == "count":
        counted = (asynchronous if is_async else table).count_rows(query.get("filter"))
        return pa.table({"count": [LOOP.run_until_complete(counted) if is_async else counted]})
    if query["what"] != "rows":
        return LOOP.run_until_complete(take(asynchronous, query)) if is_async else take(table, query)
    return LOOP.run_until_complete(async_search(asynchronous, query)) if is_async else sync_search(table, query)


def open_tables(place, query):
    """
    The table of both interfaces: that for synchronous programs and the other. With a connection for each, because the tables of one
    name that a connection to a service opens share what is checked out.
    """
    uri, options = (FOLDER, {}) if place == "folder" else ("db://x", SERVICE)
    table = lancedb.connect(uri, **options).open_table(query["table"])
    connection = LOOP.run_until_complete(lancedb.connect_async(uri, **options))
    asynchronous = LOOP.run_until_complete(connection.open_table(query["table"]))
    if "version" in query:
        table.checkout(query["version"])
        LOOP.run_until_complete(asynchronous.checkout(query["version"]))
    return table, asynchronous


def describe(field):
    metadata = sorted((field.metadata or {}).items())
    return [field.name, f"{field.type}{'' if field.nullable else ' not null'} {metadata}"]


def answer(place, query):
    key = (place, query["table"], query.get("version"))
    try:
        if key not in opened:
            opened[key] = open_tables(place, query)
        table = ask(opened[key], query)
        cells = [[repr(cell) for cell in column.to_pylist()] for column in table.columns]
        rows = [list(row) for row in zip(*cells)] if cells else [[]] * table.num_rows
        return {"columns": [describe(field) for field in table.schema], "rows": rows}
    except BaseException as error:  # a panic of the engine is no Exception
        return {"error": f"{type(error).__name__}: {error}"}


opened = {}
for line in sys.stdin:
    task = json.loads(line)
    print(json.dumps(answer(task["place"], task["query"])), flush=True)
