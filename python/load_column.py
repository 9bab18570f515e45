"""Loads values from tables of results into a column that has none yet: one file of the column for each fragment.

`migrate` starts this, and writes a JSON object to the first line of its standard input:

- `table`, `options`: the address of the Lance table, and the options of its object store;
- `results`: the addresses of the tables of results;
- `column`, `mark`: the columns that are loaded; `key`: the column that identifies rows;
- `source`: an SQL expression for what the mark of a row is now; `plain`: a regular expression for what a mark has besides;
- `where`: an SQL predicate for the rows that were computed, if not all were.

Each line on standard output is a JSON object: `ask`, before a commit, which waits for the line "yes";
`loaded`, how many rows a fragment got; `missing`, why this Python is of no use; in the end `left`, how many fragments
can't be loaded like this, and `problem`, why the first one can't. When standard input ends, the script ends.
"""

import json
import os
import queue
import sys
import threading
import uuid
from collections import OrderedDict


def tell(**what):
    print(json.dumps(what), flush=True)


try:
    import lance
    import numpy
    import pyarrow
    from lance.file import LanceFileWriter
    from lance.fragment import DataFile
    from pyarrow import compute
except ImportError as error:
    tell(missing=f"it lacks a package: {error}; install it with pip install 'pylance==14.*'")
    sys.exit(0)

# Other versions may write texts of numbers and times otherwise than the client, and what they commit was not tried.
VERSION = "14"
if lance.__version__.split(".")[0] != VERSION:
    tell(missing=f"it has pylance {lance.__version__}, and {VERSION} is needed")
    sys.exit(0)

# How many rows of the table, and of results, are in memory at a time.
ROWS = 2048
KEYS = 1000
TRIES = 5
PASSES = 3
ADDRESS = "_lance_migrate_address"

answers = queue.Queue()


def listen():
    """Ends the script when the run that started it has ended, whatever it does."""
    for line in sys.stdin:
        answers.put(line.strip())
    os._exit(1)


def may_commit():
    tell(ask="commit")
    return answers.get() == "yes"


class Stopped(Exception):
    """The run that started this may not write any more."""


class Mixed(Exception):
    """A file of the fragment would have to hold the values that are there as well."""


class Results:
    """Computed values. Those of neighbouring rows follow each other in a table of results."""

    def __init__(self, task):
        self.task = task
        self.tables = [lance.dataset(uri, storage_options=task["options"]) for uri in task["results"]]
        self.missed = 0
        self.indexed = False
        # By where some results are: the lowest and the highest address of their rows.
        self.ranges = {}
        self.read = OrderedDict()
        for number, table in enumerate(self.tables):
            for fragment in table.get_fragments():
                addresses = fragment.to_table(columns=[ADDRESS])[ADDRESS]
                for start in range(0, len(addresses), ROWS):
                    found = compute.min_max(addresses.slice(start, ROWS)).as_py()
                    if found["min"] is not None:
                        self.ranges[number, fragment.fragment_id, start] = (found["min"], found["max"])

    def plain(self, marks):
        return compute.replace_substring_regex(marks, pattern=self.task["plain"], replacement="")

    def page(self, place):
        if place not in self.read:
            number, fragment, start = place
            part = self.tables[number].get_fragment(fragment).scanner(offset=start, limit=ROWS)
            self.read[place] = part.to_table().combine_chunks()
            # Neighbouring rows may be in a page of each table.
            if len(self.read) > 2 * len(self.tables):
                self.read.popitem(last=False)
        self.read.move_to_end(place)
        return self.read[place]

    def at(self, rows):
        """Yields results for rows of the table by their addresses: which rows, and a table of their results."""
        addresses = rows["_rowaddr"].cast(pyarrow.int64())
        found = compute.min_max(addresses).as_py()
        for place, (low, high) in self.ranges.items():
            if low > found["max"] or high < found["min"]:
                continue
            page = self.page(place)
            at = compute.index_in(addresses, value_set=page[ADDRESS].combine_chunks())
            known = numpy.flatnonzero(at.is_valid().to_numpy(zero_copy_only=False))
            yield known, page.take(at.take(pyarrow.array(known)))

    def of(self, rows, wanted):
        """Yields results for rows that have moved since they were computed, by their keys."""
        key = self.task["key"]
        wanted = wanted[rows["key"].is_valid().combine_chunks().take(pyarrow.array(wanted)).to_numpy(zero_copy_only=False)]
        self.missed += len(wanted)
        if self.missed > KEYS and not self.indexed:
            for table in self.tables:
                table.create_scalar_index(key, "BTREE")
            self.indexed = True
        for first in range(0, len(wanted), KEYS):
            some = wanted[first : first + KEYS]
            keys = rows["key"].take(pyarrow.array(some))
            listed = ", ".join(sql_literal(one) for one in keys.to_pylist())
            for table in self.tables:
                found = table.to_table(filter=f"`{key}` in ({listed})").combine_chunks()
                at = compute.index_in(found[key], value_set=keys)
                yield some[at.to_numpy()], found


def sql_literal(key):
    return str(key) if isinstance(key, int) else "'" + key.replace("'", "''") + "'"


def usable(results, which, found, rows):
    """Those of these results that are of the same row, from the same sources."""
    at = pyarrow.array(which)
    same = compute.and_(
        compute.equal(results.plain(found[results.task["mark"]]), rows["source"].take(at)),
        compute.equal(found[results.task["key"]], rows["key"].take(at)),
    )
    good = numpy.flatnonzero(same.fill_null(False).to_numpy(zero_copy_only=False))
    return which[good], found.take(pyarrow.array(good))


def results_of(rows, results):
    """For a batch of rows: a table of results, and for each row where its own is in that table, or -1."""
    place = numpy.full(len(rows), -1, dtype=numpy.int64)
    tables, length = [], 0

    def keep(which, found):
        nonlocal length
        which, found = usable(results, which, found, rows)
        place[which] = length + numpy.arange(len(which))
        length += len(which)
        tables.append(found)

    for which, found in results.at(rows):
        keep(which, found)
    moved = numpy.flatnonzero((place < 0) & rows["wanted"].to_numpy())
    if len(moved) > 0:
        for which, found in results.of(rows, moved):
            keep(which, found)
    return pyarrow.concat_tables(tables).combine_chunks() if length > 0 else None, place


class Column:
    """Writes the file of a fragment: a value for each of its rows, deleted ones included."""

    def __init__(self, table, fragment, task):
        names = (task["column"], task["mark"])
        self.schema = pyarrow.schema([table.schema.field(name) for name in names])
        ids = {field.name(): field.id() for field in table.lance_schema.fields()}
        major, minor = (int(part) for part in table.data_storage_version.split("."))
        name = f"{uuid.uuid4()}.lance"
        self.file = DataFile(name, [ids[own] for own in names], [0, 1], major, minor)
        self.writer = LanceFileWriter(
            f"{task['table']}/data/{name}",
            self.schema,
            version=table.data_storage_version,
            storage_options=task["options"],
        )
        self.physical = fragment.physical_rows
        self.written = 0

    def write(self, found, place):
        for start in range(0, len(place), ROWS):
            self.write_some(found, place[start : start + ROWS])

    def write_some(self, found, place):
        index = pyarrow.array(place, mask=place < 0)
        if found is None:
            columns = [pyarrow.nulls(len(place), field.type) for field in self.schema]
        else:
            columns = [found[field.name].combine_chunks().take(index).cast(field.type) for field in self.schema]
        self.writer.write_batch(pyarrow.record_batch(columns, schema=self.schema))
        self.written += len(place)

    def close(self):
        if self.written < self.physical:
            self.write(None, numpy.full(self.physical - self.written, -1, dtype=numpy.int64))
        self.writer.close()


def load(number, results, task):
    """Loads one fragment. Returns how many of its rows got a value."""
    table = lance.dataset(task["table"], storage_options=task["options"])
    fragment = table.get_fragment(number)
    if fragment is None:
        return 0
    marked = fragment.count_rows(filter=f"`{task['mark']}` is not null")
    if marked > 0:
        if marked < fragment.count_rows():
            raise Mixed("some rows of a fragment have values already")
        return 0
    column = Column(table, fragment, task)
    rows = table.scanner(
        columns={
            "key": f"`{task['key']}`",
            "source": task["source"],
            "wanted": f"({task.get('where') or 'true'}) is true",
        },
        fragments=[fragment],
        with_row_address=True,
        scan_in_order=True,
        batch_size=ROWS,
    )
    loaded = 0
    for batch in rows.to_batches():
        batch = pyarrow.table(batch).combine_chunks()
        offsets = batch["_rowaddr"].to_numpy().astype(numpy.uint64) & numpy.uint64(0xFFFFFFFF)
        found, place = results_of(batch, results)
        # Deleted rows have no result.
        wide = numpy.full(int(offsets[-1]) + 1 - column.written, -1, dtype=numpy.int64)
        wide[offsets.astype(numpy.int64) - column.written] = place
        column.write(found, wide)
        loaded += int((place >= 0).sum())
    column.close()
    if loaded > 0:
        if not may_commit():
            raise Stopped()
        group = lance.LanceOperation.DataReplacementGroup(number, column.file)
        operation = lance.LanceOperation.DataReplacement([group])
        lance.LanceDataset.commit(
            task["table"], operation, read_version=table.version, storage_options=task["options"]
        )
    return loaded


def main():
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=listen, daemon=True).start()
    results = Results(task)
    left, problem, seen = 0, None, set()
    for _ in range(PASSES):
        table = lance.dataset(task["table"], storage_options=task["options"])
        # Applications move rows to new fragments meanwhile.
        new = [one.fragment_id for one in table.get_fragments() if one.fragment_id not in seen]
        for number in new:
            seen.add(number)
            try:
                load_again(number, results, task)
            except (Stopped, BrokenPipeError):
                return
            except Exception as error:
                left += 1
                problem = problem or str(error)
        if not new:
            break
    tell(left=left, problem=problem)


def load_again(number, results, task):
    """Loads a fragment that an application may change meanwhile."""
    for tried in range(1, TRIES + 1):
        try:
            loaded = load(number, results, task)
        except Exception as error:
            if tried == TRIES or "conflict" not in str(error).lower():
                raise
        else:
            if loaded > 0:
                tell(loaded=loaded)
            return


main()
# Without waiting for the thread, which waits for its input.
os._exit(0)
