"""What an application calls while migrations of lance-migrate change the embedding model of a column.

Copy this file into your application. It needs lancedb and pyarrow. Tables are those of lancedb's synchronous API, and may
be used in several threads. `models` maps the version that a migration states to a function, which gets a list of rows and
returns one vector for each. No version names the model of a column that no migration has computed: its key is "", or the
number of its dimensions.
"""

import random
import re
import threading

import pyarrow as pa

#: Metadata of a column: the version of the code that has computed its vectors.
MODEL_KEY = b"lance_migrate_version"

#: How the names of hidden columns begin. In those of kept marks, "kept_" and the name of the old column follow.
HIDDEN = "_lance_migrate_"
KEPT, NEXT, MARK = f"{HIDDEN}kept_", f"{HIDDEN}next_", f"{HIDDEN}source_"

#: How many keys are in one query.
MOST_KEYS = 1000

QUOTE = "'"

#: The engine reads it in SQL as the negation of a number that 64 bits don't hold.
LEAST = -(2**63)

#: The engine may panic if the schema changes while it writes.
CONFLICT = re.compile(
    "commit conflict|incompatible transaction|preempted by|too many concurrent writers|409 conflict|panicked",
    re.IGNORECASE,
)


def model_of(table, column):
    """The version of the model that the column has now; None if no migration has computed it."""
    return _look(table, column)[0][0]


def save(table, column, rows, *, key, models, from_=None, attempts=10):
    """Updates rows, and inserts those whose key is new, with vectors of the model that `column` has.

    If a migration switches the column meanwhile, the rows get vectors of its new model too. A row whose `from_` columns
    another writer has changed since keeps what that writer gave it. `from_`: the columns that the vector depends on, by
    default all columns of the rows but the key. `attempts`: how often the engine may refuse a write, because others have
    written or the schema has changed.
    """
    rows = list(rows)
    if not rows:
        return
    names = _columns_of(rows, column, key, from_ or ())
    _check_keys(rows, key)
    sources = [name for name in (names if from_ is None else dict.fromkeys(from_)) if name != key]
    known = {}  # by model, so that a repeated write does not embed again
    written = None
    failures = 0
    while True:
        model, schema = _look(table, column)
        if model == written:
            return
        if model not in known:
            known[model] = _embed(rows, column, model, models)
            continue  # The column may have been switched meanwhile.
        columns = [key, *sources] if written else names
        for name in columns:
            if name not in schema.names:
                raise ValueError(f"The table {table.name} has no column {name}.")
        values = [
            {**{name: row[name] for name in columns}, column: vector} for row, vector in zip(rows, known[model])
        ]
        try:
            data = pa.Table.from_pylist(values, schema=pa.schema([schema.field(name) for name in [*columns, column]]))
            _check_integers(data, rows, key)
            unchanged = None
            if not written:
                data, unchanged = _with_carried(data, table, key, schema)
            # Another thread may have refreshed the table, or it may be outdated when the engine commits. So the vectors
            # may get into a column of another model, which the next look finds.
            merge = table.merge_insert(key)
            if len(data.schema) < len(schema):
                # With an index, the engine would write whole files again to change some columns of a row, and no index
                # would cover them.
                merge = merge.use_index(False)
            if not written:
                merge = merge.when_matched_update_all(where=unchanged).when_not_matched_insert_all()
            else:  # Neither a newer text nor a deleted row is written again.
                merge = merge.when_matched_update_all(where=" and ".join(map(_is_same, sources)) or None)
            result = merge.execute(data)
            if unchanged and result.num_updated_rows + result.num_inserted_rows < len(rows):
                raise _RowsChanged("Others keep changing the rows that are saved.")
            written = model
        except Exception as error:
            failures += 1
            is_outdated = isinstance(error, _RowsChanged) or CONFLICT.search(str(error)) or _look(table, column) != (model, schema)
            if failures >= attempts or not is_outdated:
                raise
            # Where libfaketime gives tests another day, time.sleep fails.
            threading.Event().wait(min(2, 0.02 * 2**failures) * random.uniform(0.5, 1))


def search(table, column, query, *, models, run):
    """Embeds a query with the model that `column` has, and returns what `run` returns, which gets the search.

    If the column is switched before the results are there, it embeds and searches again. The models get the query in the
    place of a row: `search(table, "embedding", query, models=models, run=lambda found: found.limit(10).to_list())`.
    """
    while True:
        model, _ = _look(table, column)
        [vector] = _embed([query], column, model, models)
        found = failure = None
        try:
            found = run(table.search(vector, vector_column_name=column, query_type="vector"))
        except Exception as error:
            failure = error
        if _look(table, column)[0] != model:
            continue
        if failure is not None:
            raise failure
        return found


def _look(table, column):
    """The model of the column, as its version and its dimensions, and the schema, of the newest version of the table."""
    table.checkout_latest()
    schema = table.schema
    if column not in schema.names:
        raise ValueError(f"The table {table.name} has no column {column}.")
    field = schema.field(column)
    if not pa.types.is_fixed_size_list(field.type):
        raise ValueError(f"The column {column} of {table.name} does not hold vectors.")
    version = (field.metadata or {}).get(MODEL_KEY)
    return (version and version.decode(), field.type.list_size), schema


def _embed(rows, column, model, models):
    version, dimensions = model
    name = f"of {dimensions} dimensions without a version" if version is None else repr(version)
    key = next((one for one in (("", dimensions) if version is None else (version,)) if one in models), None)
    if key is None:
        known = ", ".join(map(repr, models))
        raise LookupError(f"The column {column} has the model {name}. The known models are: {known}.")
    vectors = [list(vector) for vector in models[key](list(rows))]
    if len(vectors) != len(rows):
        raise ValueError(f"The model {name} has returned {len(vectors)} vectors for {len(rows)} rows.")
    for vector in vectors:
        if len(vector) != dimensions:
            raise ValueError(
                f"The model {name} has returned a vector of {len(vector)} numbers."
                f" The column {column} holds vectors of {dimensions}."
            )
    return vectors


def _columns_of(rows, column, key, sources):
    """The columns that the rows have. A row that lacks one would lose the value that it has in the table."""
    names = [name for name in dict.fromkeys([key, *sources, *(name for row in rows for name in row)]) if name != column]
    for index, row in enumerate(rows):
        for name in names:
            if name not in row:
                raise ValueError(f"Row {index} has no {name}. All rows need the same columns.")
    return names


def _check_keys(rows, key):
    """The engine finds no row by a null, and inserts each of several rows with the same new key."""
    known = {}
    for index, row in enumerate(rows):
        own = row[key]
        if own is None:
            raise ValueError(f"Row {index} has no value in the key {key}. Give it one, by which later calls find the row.")
        if own in known:
            raise ValueError(f"Rows {known[own]} and {index} have the same {key}. Leave one of them out.")
        known[own] = index


def _check_integers(data, rows, key):
    """pyarrow makes 1.5 the integer 1: the key of another row."""
    if pa.types.is_integer(data.schema.field(key).type):
        for index, (written, row) in enumerate(zip(data[key].to_pylist(), rows)):
            if written != row[key]:
                type_ = data.schema.field(key).type
                raise ValueError(f"Row {index} has {row[key]} in the key {key}, which holds values of the type {type_}.")


class _RowsChanged(Exception):
    """Others have changed rows since their values were looked up."""


def _with_carried(data, table, key, schema):
    """The rows with the values of the columns that they lack, and a predicate for those that are still the same.

    To leave columns as they are, the engine reads them in all rows of the table. A new column that a migration is preparing
    gets nulls, which the migration computes again, as it does for any row that was changed. Old values that a rollback
    brings back have marks too, and are carried. Returns the rows as they are, and None, if others than migrations may
    change the columns, or if the rows can't be looked up: the key holds neither integers nor texts, or several rows have it.
    """
    lacking = [name for name in schema.names if name not in data.schema.names]
    prepared = [name for name in lacking if name.replace(MARK, NEXT, 1) in lacking and name.startswith((NEXT, MARK))]
    kept = [name for name in lacking if name not in prepared]
    of_migrations = all(name.startswith(HIDDEN) or f"{KEPT}{name}" in schema.names for name in kept)
    type_ = schema.field(key).type
    has_literals = pa.types.is_integer(type_) or pa.types.is_string(type_) or pa.types.is_large_string(type_)
    keys = data[key].to_pylist()
    if kept:
        if not of_migrations or not has_literals or LEAST in keys:
            return data, None
        found = []
        for first in range(0, len(keys), MOST_KEYS):
            some = {f"'{one.replace(QUOTE, QUOTE * 2)}'" if isinstance(one, str) else str(one) for one in keys[first:][:MOST_KEYS]}
            query = table.search().where(f"`{key}` in ({', '.join(some)})").select([key, *kept])
            found.append(query.limit(len(some) + 1).to_arrow())
        rows = pa.concat_tables(found).combine_chunks()
        places = {one: place for place, one in enumerate(rows[key].to_pylist())}
        if len(places) < rows.num_rows:
            return data, None
        at = pa.array([places.get(one) for one in keys], pa.int64())
    for name in lacking:
        field = schema.field(name)
        data = data.append_column(field, rows[name].take(at) if name in kept else pa.nulls(len(keys), field.type))
    return data.select(schema.names), " and ".join(
        _is_same(name) if pa.types.is_string(schema.field(name).type) else _is_same_presence(name) for name in kept
    ) or None


def _is_same(name):
    target, source = f"target.`{name}`", f"source.`{name}`"
    return f"({target} = {source} or ({target} is null and {source} is null))"


def _is_same_presence(name):
    """Each value that a migration writes has a mark, a text that changes with it. A value that is removed may keep it."""
    return f"((target.`{name}` is null) = (source.`{name}` is null))"
