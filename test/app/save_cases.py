"""Cases of lance_migrate_app, which python.test.ts runs: the column is switched at chosen moments."""

import os
import sys

import lancedb
import pyarrow as pa
import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../python"))
from lance_migrate_app import model_of, save, search  # noqa: E402

VECTORS = pa.list_(pa.float32(), 2)


def old(rows):
    return [[len(row["title"] or ""), 0] for row in rows]


def new(rows):
    return [[len(row["title"] or ""), 1] for row in rows]


MODELS = {"": old, "bge": new}
DOCUMENTS = [{"id": 1, "title": "one"}, {"id": 2, "title": None}]


class Hooked:
    """The table, with a function that is called before each write."""

    def __init__(self, table, hook):
        self._table, self._hook = table, hook

    def __getattr__(self, name):
        value = getattr(self._table, name)
        if name == "execute":
            self._hook()
        if name in ("merge_insert", "use_index") or name.startswith("when_"):
            return lambda *args, **options: Hooked(value(*args, **options), self._hook)
        return value


class Scene:
    def __init__(self, folder):
        self.db = lancedb.connect(folder)
        schema = pa.schema([("id", pa.int64()), ("title", pa.string()), ("note", pa.string()), ("embedding", VECTORS)])
        rows = [{**one, "note": "a", "embedding": old([one])[0]} for one in DOCUMENTS]
        self.table = self.db.create_table("docs", pa.Table.from_pylist(rows, schema=schema))
        self.other = self.db.open_table("docs")
        self.other.add_columns(pa.field("next", VECTORS, metadata={"lance_migrate_version": "bge"}))
        self.calls = 0

    def switch(self):
        self.other.checkout_latest()
        self.other.alter_columns(
            {"path": "embedding", "rename": "embedding_old"}, {"path": "next", "rename": "embedding"}
        )

    def on_first_write(self, *hooks):
        def hook():
            self.calls += 1
            if self.calls == 1:
                for one in hooks:
                    one()

        return Hooked(self.table, hook)

    def documents(self):
        rows = self.db.open_table("docs").to_arrow().to_pylist()
        return {row["id"]: (row["title"], row["embedding"]) for row in rows}


@pytest.fixture
def scene(tmp_path):
    return Scene(str(tmp_path))


CHANGED = [{"id": 1, "title": "other"}, {"id": 2, "title": None}, {"id": 3, "title": "three"}]
SAVED = {1: ("other", [5, 1]), 2: (None, [0, 1]), 3: ("three", [5, 1])}


def test_outdated_table(scene):
    assert model_of(scene.table, "embedding") is None
    save(scene.on_first_write(scene.switch), "embedding", CHANGED, key="id", models=MODELS)
    assert model_of(scene.table, "embedding") == "bge"
    assert scene.documents() == SAVED
    assert scene.calls == 2


def test_refreshed_table(scene):
    table = scene.on_first_write(scene.switch, lambda: scene.table.checkout_latest())
    save(table, "embedding", CHANGED, key="id", models=MODELS)
    assert scene.documents() == SAVED


def test_newer_saves_and_deleted_rows(scene):
    def slow(rows):
        if scene.calls == 1:
            save(scene.other, "embedding", [{"id": 1, "title": "newest"}], key="id", models=MODELS)
            scene.other.delete("id = 3")
        return new(rows)

    save(scene.on_first_write(scene.switch), "embedding", CHANGED, key="id", models={"": old, "bge": slow})
    assert scene.documents() == {1: ("newest", [6, 1]), 2: (None, [0, 1])}


def test_from(scene):
    def slow(rows):
        scene.other.update(where="id = 1", values={"note": "newer"})
        return new(rows)

    row = {"id": 1, "title": "other", "note": "older"}
    table = scene.on_first_write(scene.switch)
    # The key may be among these columns.
    save(table, "embedding", [row], key="id", from_=["title", "id"], models={"": old, "bge": slow})
    assert scene.documents()[1] == ("other", [5, 1])
    assert scene.db.open_table("docs").search().where("id = 1").to_list()[0]["note"] == "newer"


def failing(message):
    def fail():
        raise RuntimeError(message)

    return fail


def test_conflict(scene):
    table = scene.on_first_write(failing("Retryable commit conflict for version 7"))
    save(table, "embedding", CHANGED, key="id", models=MODELS)
    assert scene.calls == 2
    assert len(scene.documents()) == 3


def test_other_error(scene):
    with pytest.raises(RuntimeError, match="the disk is full"):
        save(scene.on_first_write(failing("the disk is full")), "embedding", CHANGED, key="id", models=MODELS)
    assert scene.calls == 1


@pytest.mark.parametrize(
    "options, problem",
    [
        ({"models": {"e5": old}}, "The column embedding has the model 'bge'. The known models are: 'e5'."),
        ({"models": {"bge": lambda rows: [[1, 2, 3]]}}, "has returned a vector of 3 numbers."),
        ({"models": {"bge": lambda rows: []}}, "has returned 0 vectors for 1 rows."),
        ({"rows": [{"id": 1, "title": "one"}, {"id": 2}]}, "Row 1 has no title."),
        ({"rows": [{"id": 1, "body": "text"}]}, "The table docs has no column body."),
        ({"rows": [{"id": id_, "title": "new"} for id_ in (5, 6, 5)]}, "Rows 0 and 2 have the same id. Leave one of them out."),
        ({"rows": [{"id": None, "title": "new"}]}, "Row 0 has no value in the key id. Give it one,"),
        ({"rows": [{"id": 1.5, "title": "new"}]}, "Row 0 has 1.5 in the key id, which holds values of the type int64."),
    ],
)
def test_refused(scene, options, problem):
    scene.switch()
    before = scene.documents()
    given = {"rows": DOCUMENTS[:1], "models": {"bge": lambda rows: [[1, 1]] * len(rows)}, **options}
    with pytest.raises((LookupError, ValueError), match=problem):
        save(scene.table, "embedding", key="id", **given)
    assert scene.documents() == before


def test_dimensions(scene):
    save(scene.table, "embedding", [{"id": 1, "title": "other"}], key="id", models={2: old})
    assert scene.documents()[1] == ("other", [5, 0])


def test_search(scene):
    def run(found):
        scene.calls += 1
        if scene.calls == 1:
            scene.switch()
            save(scene.table, "embedding", DOCUMENTS, key="id", models=MODELS)
        return found.limit(1).to_list()

    [found] = search(scene.table, "embedding", {"title": "one"}, models=MODELS, run=run)
    assert (found["id"], found["_distance"]) == (1, 0)
    assert scene.calls == 2

    def fail(found):
        return found.where("nothing = 1").to_list()

    with pytest.raises(Exception, match="nothing"):
        search(scene.table, "embedding", {"title": "one"}, models=MODELS, run=fail)


def test_indexes_cover_the_rows_beside_those_that_are_saved(scene):
    scene.other.create_scalar_index("id")
    scene.other.create_scalar_index("note", index_type="BITMAP")
    save(scene.table, "embedding", [{"id": 1, "title": "another", "note": "b"}], key="id", models=MODELS)
    names = [index.name for index in scene.table.list_indices()]
    assert [scene.table.index_stats(name).num_unindexed_rows for name in names] == [1, 1]


def migrated(tmp_path, key=pa.int64(), keys=(1, 2)):
    """A table with a hidden column and its marks, and one that a migration keeps, with its marks."""
    rows = [
        {
            "id": one,
            "title": "a",
            "embedding_old": [0.1, at],
            "embedding": [at, 0],
            "_lance_migrate_kept_embedding_old": f"kept {at}",
            "_lance_migrate_next_embedding": None if at == 0 else [at, 1],
            "_lance_migrate_source_embedding": f"mark {at}",
        }
        for at, one in enumerate(keys)
    ]
    types = [key, pa.string(), VECTORS, VECTORS, pa.string(), VECTORS, pa.string()]
    data = pa.Table.from_pylist(rows, schema=pa.schema(list(zip(rows[0], types))))
    return lancedb.connect(str(tmp_path)).create_table("docs", data), data


class Watched:
    """The table, or a merge, with a list of the conditions of its updates."""

    def __init__(self, inner, conditions):
        self._inner, self._conditions = inner, conditions

    def __getattr__(self, name):
        value = getattr(self._inner, name)
        if name not in ("merge_insert", "use_index") and not name.startswith("when_"):
            return value

        def call(*args, **options):
            if name == "when_matched_update_all":
                self._conditions.append(options.get("where"))
            return Watched(value(*args, **options), self._conditions)

        return call


@pytest.mark.parametrize("key, keys, fresh", [(pa.int64(), (1, 2), 3), (pa.string(), ("a' or 'b", "\u00e4\\`"), "c")])
def test_columns_of_migrations_are_carried(tmp_path, key, keys, fresh):
    table, before = migrated(tmp_path, key, keys)
    conditions = []
    rows = [{"id": one, "title": "new"} for one in (keys[1], fresh)]
    save(Watched(table, conditions), "embedding", rows, key="id", models=MODELS)
    kept = before.to_pylist()
    none = dict.fromkeys(before.schema.names)
    prepared = {"_lance_migrate_next_embedding": None, "_lance_migrate_source_embedding": None}
    saved = {"title": "new", "embedding": [3, 0], **prepared}
    wanted = [kept[0], {**kept[1], **saved}, {**none, "id": fresh, **saved}]
    assert sorted(table.to_arrow().to_pylist(), key=str) == sorted(wanted, key=str)
    assert len(conditions) == 1 and "target.`_lance_migrate_kept_embedding_old` = source." in conditions[0]


def test_the_least_integer_may_be_a_key(tmp_path):
    table, before = migrated(tmp_path, keys=(-(2**63),))
    save(table, "embedding", [{"id": -(2**63), "title": "new"}], key="id", models=MODELS)
    [found] = table.to_arrow().to_pylist()
    assert (found["title"], found["embedding_old"]) == ("new", before["embedding_old"][0].as_py())


def test_columns_of_migrations_that_change_before_the_write_stay(tmp_path):
    table, _ = migrated(tmp_path)
    other = lancedb.connect(str(tmp_path)).open_table("docs")
    calls = []

    def change():
        calls.append(1)
        if len(calls) == 1:
            other.update(where="id = 1", values_sql={"embedding_old": "null"})
            other.update(where="id = 2", values={"_lance_migrate_kept_embedding_old": "newer"})

    rows = [{"id": one, "title": "new"} for one in (1, 2)]
    save(Hooked(table, change), "embedding", rows, key="id", models=MODELS)
    found = {row["id"]: row for row in table.to_arrow().to_pylist()}
    assert (found[1]["title"], found[1]["embedding_old"], found[1]["embedding"]) == ("new", None, [3, 0])
    assert (found[2]["title"], found[2]["_lance_migrate_kept_embedding_old"]) == ("new", "newer")

    def keep_changing():
        calls.append(1)
        other.update(where="id = 2", values={"_lance_migrate_kept_embedding_old": str(len(calls))})

    with pytest.raises(Exception, match="Others keep changing the rows that are saved."):
        save(Hooked(table, keep_changing), "embedding", rows, key="id", models=MODELS, attempts=3)


@pytest.mark.parametrize("key, keys", [(pa.int64(), (1, 2)), (pa.float64(), (1.5, 2.5))])
def test_what_a_migration_prepares_is_computed_again_for_saved_rows(tmp_path, key, keys):
    table, _ = migrated(tmp_path, key, keys)
    table.drop_columns(["embedding_old", "_lance_migrate_kept_embedding_old"])
    before = table.to_arrow().to_pylist()
    conditions = []
    save(Watched(table, conditions), "embedding", [{"id": keys[1], "title": "new"}], key="id", models=MODELS)
    prepared = {"_lance_migrate_next_embedding": None, "_lance_migrate_source_embedding": None}
    wanted = [before[0], {"id": keys[1], "title": "new", "embedding": [3, 0], **prepared}]
    assert sorted(table.to_arrow().to_pylist(), key=str) == sorted(wanted, key=str)
    assert conditions == [None]


def test_marks_of_old_values_are_carried(tmp_path):
    table, _ = migrated(tmp_path)
    table.drop_columns(["_lance_migrate_next_embedding"])
    save(table, "embedding", [{"id": 2, "title": "new"}], key="id", models=MODELS)
    found = {row["id"]: row["_lance_migrate_source_embedding"] for row in table.to_arrow().to_pylist()}
    assert found == {1: "mark 0", 2: "mark 1"}


@pytest.mark.parametrize("how", ["another column", "type of the key", "repeated key"])
def test_other_columns_are_left_to_the_engine(tmp_path, how):
    keys = {"type of the key": (1.5, 2.5), "repeated key": (1, 1)}.get(how, (1, 2))
    table, _ = migrated(tmp_path, pa.float64() if how == "type of the key" else pa.int64(), keys)
    if how == "another column":
        table.add_columns({"note": "concat('note ', title)"})
    before = table.to_arrow().to_pylist()
    conditions = []
    save(Watched(table, conditions), "embedding", [{"id": keys[0], "title": "new"}], key="id", models=MODELS)
    saved = {"title": "new", "embedding": [3, 0]}
    wanted = [{**one, **saved} if one["id"] == keys[0] else one for one in before]
    assert sorted(table.to_arrow().to_pylist(), key=str) == sorted(wanted, key=str)
    assert conditions == [None]
