"""Loads values from tables of results into a column that has none yet: one file of the column for each fragment.

`migrate` starts this, and writes a JSON object to the first line of its standard input:

- `table`, `options`: the address of the Lance table, and the options of its object store;
- `results`: the addresses of the tables of results;
- `column`, `mark`: the columns that are loaded; `key`: the column that identifies rows;
- `sql`: an SQL expression for `mark`, which is then loaded alone, without results;
- `source`: an SQL expression for what the mark of a row is now; `plain`: a regular expression for what a mark has besides;
- `where`: an SQL predicate for the rows that were computed, if not all were;
- `fragments`: only the files of these fragments are written, and not committed. Without it, those of all: a commit for each,
  or for several small ones.

Each line on standard output is a JSON object: `ask`, before a commit, which waits for the line "yes";
`loaded`, how many rows got values with a commit; `written`, a fragment, with its file that is not committed, if it needs one;
`missing`, why this Python is of no use; in the end `left`, how many fragments can't be loaded like this, and `problem`,
why the first one can't. When standard input ends, the script ends.

With `--check`, it reads nothing, and writes `missing`, or `version`, that of pylance.
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

if "--check" in sys.argv:
    tell(version=lance.__version__)
    sys.exit(0)

# How many rows of the table, and of a page of results, are in memory at a time.
ROWS = 1024
KEYS = 1000
TRIES = 5
# How often a file is committed whose fragment has only lost rows since.
COMMITS = 100
PASSES = 3
# Fragments with fewer rows are committed together, up to this number of rows.
SMALL = 10_000
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


class Page:
    """Results that are read together: those from an offset on of fragments that follow each other."""

    def __init__(self, number, offset):
        self.number, self.offset = number, offset
        self.fragments, self.rows = [], 0
        # The lowest and the highest address of their rows.
        self.low, self.high = float("inf"), -1

    def add(self, fragment, rows, low, high):
        if fragment not in self.fragments:
            self.fragments.append(fragment)
        self.rows += rows
        self.low, self.high = min(self.low, low), max(self.high, high)


def runs_of(numbers):
    """Yields each run of one number: the number, where it begins, and its length."""
    starts = [0, *(numpy.flatnonzero(numpy.diff(numbers)) + 1), len(numbers)]
    for first, end in zip(starts, starts[1:]):
        if first < end:
            yield numbers[first], int(first), int(end - first)


class Results:
    """Computed values. Those of neighbouring rows follow each other in a table of results."""

    def __init__(self, task):
        self.task = task
        self.tables = [lance.dataset(uri, storage_options=task["options"]) for uri in task["results"]]
        self.missed = 0
        self.indexed = False
        self.pages = [page for number in range(len(self.tables)) for page in self.pages_of(number)]
        self.lows = numpy.array([page.low for page in self.pages])
        self.highs = numpy.array([page.high for page in self.pages])
        self.read = OrderedDict()

    def pages_of(self, number):
        """Divides a table of results into parts of fragments and into small fragments that follow each other."""
        pages, fragment, offset = [], None, 0
        scanner = self.tables[number].scanner(
            columns=[ADDRESS], with_row_address=True, scan_in_order=True, batch_size=ROWS
        )
        for batch in scanner.to_batches():
            for own, first, length in runs_of(batch["_rowaddr"].to_numpy() >> 32):
                if own != fragment:
                    fragment, offset = own, 0
                found = compute.min_max(batch[ADDRESS].slice(first, length)).as_py()
                if not pages or pages[-1].rows + length > ROWS:
                    pages.append(Page(number, offset))
                pages[-1].add(int(own), length, found["min"], found["max"])
                offset += length
        return pages

    def plain(self, marks):
        return compute.replace_substring_regex(marks, pattern=self.task["plain"], replacement="")

    def results_in(self, page):
        if page not in self.read:
            table = self.tables[page.number]
            scanner = table.scanner(
                columns=[ADDRESS, self.task["key"], self.task["mark"], self.task["column"]],
                fragments=[table.get_fragment(one) for one in page.fragments],
                offset=page.offset,
                limit=page.rows,
            )
            self.read[page] = scanner.to_table()
            # Neighbouring rows may be in a page of each table.
            if len(self.read) > 2 * len(self.tables):
                self.read.popitem(last=False)
        self.read.move_to_end(page)
        return self.read[page]

    def at(self, rows):
        """Yields results for rows of the table by their addresses: which rows, a table, and where in it their results are."""
        addresses = rows["_rowaddr"].cast(pyarrow.int64())
        found = compute.min_max(addresses).as_py()
        for number in numpy.flatnonzero((self.lows <= found["max"]) & (self.highs >= found["min"])):
            results = self.results_in(self.pages[number])
            at = compute.index_in(addresses, value_set=results[ADDRESS].combine_chunks())
            known = numpy.flatnonzero(at.is_valid().to_numpy(zero_copy_only=False))
            yield known, results, at.combine_chunks().take(pyarrow.array(known)).to_numpy()

    def of(self, rows, wanted):
        """Yields results for rows that have moved since they were computed, by their keys."""
        key = self.task["key"]
        wanted = wanted[rows["key"].is_valid().combine_chunks().take(pyarrow.array(wanted)).to_numpy(zero_copy_only=False)]
        self.missed += len(wanted)
        if self.missed > KEYS and not self.indexed:
            self.indexed = True
            for table in self.tables:
                try:
                    table.create_scalar_index(key, "BTREE")
                except Exception:
                    # Another process may make it at the same time.
                    pass
        for first in range(0, len(wanted), KEYS):
            some = wanted[first : first + KEYS]
            keys = rows["key"].take(pyarrow.array(some))
            listed = ", ".join(sql_literal(one) for one in keys.to_pylist())
            for table in self.tables:
                found = table.to_table(filter=f"`{key}` in ({listed})").combine_chunks()
                at = compute.index_in(found[key], value_set=keys)
                yield some[at.to_numpy()], found, numpy.arange(len(found))


def sql_literal(key):
    return str(key) if isinstance(key, int) else "'" + key.replace("'", "''") + "'"


def usable(results, which, found, at, rows):
    """Those of these results that are of the same row, from the same sources."""
    own, others = rows.take(pyarrow.array(which)), found.select([results.task["key"], results.task["mark"]]).take(at)
    same = compute.and_(
        compute.equal(results.plain(others[results.task["mark"]]), own["source"]),
        compute.equal(others[results.task["key"]], own["key"]),
    )
    good = numpy.flatnonzero(same.fill_null(False).to_numpy(zero_copy_only=False))
    return which[good], at[good]


def results_of(rows, results):
    """For a batch of rows: a table of results, and for each row where its own is in that table, or -1."""
    place = numpy.full(len(rows), -1, dtype=numpy.int64)
    tables, length = [], 0

    def keep(which, found, at):
        nonlocal length
        which, at = usable(results, which, found, at, rows)
        if len(at) == 0:
            return
        first, end = int(at.min()), int(at.max()) + 1
        place[which] = length + at - first
        length += end - first
        tables.append(found.select([results.task["column"], results.task["mark"]]).slice(first, end - first))

    for which, found, at in results.at(rows):
        keep(which, found, at)
    moved = numpy.flatnonzero((place < 0) & rows["wanted"].to_numpy())
    if len(moved) > 0:
        for which, found, at in results.of(rows, moved):
            keep(which, found, at)
    return pyarrow.concat_tables(tables).combine_chunks() if length > 0 else None, place


class Column:
    """Writes the file of a fragment: a value for each of its rows, deleted ones included."""

    def __init__(self, table, fragment, task):
        names = names_of(task)
        self.schema = pyarrow.schema([table.schema.field(name) for name in names])
        ids = {field.name(): field.id() for field in table.lance_schema.fields()}
        major, minor = (int(part) for part in table.data_storage_version.split("."))
        name = f"{uuid.uuid4()}.lance"
        # As JSON: it may be committed elsewhere.
        self.file = {
            "path": name,
            "fields": [ids[own] for own in names],
            "column_indices": list(range(len(names))),
            "file_major_version": major,
            "file_minor_version": minor,
        }
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
        if found is None:
            columns = [pyarrow.nulls(len(place), field.type) for field in self.schema]
        else:
            columns = [taken(found[field.name].combine_chunks(), place).cast(field.type) for field in self.schema]
        self.writer.write_batch(pyarrow.record_batch(columns, schema=self.schema))
        self.written += len(place)

    def close(self):
        if self.written < self.physical:
            self.write(None, numpy.full(self.physical - self.written, -1, dtype=numpy.int64))
        self.writer.close()


def taken(values, place):
    """The values at these places, null for -1. Without a copy if they follow each other."""
    if place[0] >= 0 and (numpy.diff(place) == 1).all():
        return values.slice(place[0], len(place))
    return values.take(pyarrow.array(place, mask=place < 0))


def names_of(task):
    return (task["mark"],) if "sql" in task else (task["column"], task["mark"])


def wanted_of(task):
    if "sql" in task:
        return {"value": task["sql"]}
    where = f"({task.get('where') or 'true'}) is true"
    return {"key": f"`{task['key']}`", "source": task["source"], "wanted": where}


def made(rows, task):
    """As `results_of`, for values of SQL."""
    has_value = rows["value"].is_valid().to_numpy()
    return rows.select(["value"]).rename_columns([task["mark"]]), numpy.where(has_value, numpy.arange(len(rows)), -1)


def opened(task):
    return lance.dataset(task["table"], storage_options=task["options"])


def write(number, results, task, table):
    """Writes the file of one fragment. None if there is nothing to commit."""
    fragment = table.get_fragment(number)
    if fragment is None:
        return None
    if "sql" not in task:
        marked = fragment.count_rows(filter=f"`{task['mark']}` is not null")
        if marked == fragment.count_rows():
            return None
        if marked > 0:
            raise Mixed("some rows of a fragment have values already")
    column = Column(table, fragment, task)
    rows = table.scanner(
        columns=wanted_of(task),
        fragments=[fragment],
        with_row_address=True,
        scan_in_order=True,
        batch_size=ROWS,
    )
    loaded = 0
    for batch in rows.to_batches():
        batch = pyarrow.table(batch).combine_chunks()
        offsets = batch["_rowaddr"].to_numpy().astype(numpy.uint64) & numpy.uint64(0xFFFFFFFF)
        found, place = made(batch, task) if "sql" in task else results_of(batch, results)
        # Deleted rows have no result.
        wide = numpy.full(int(offsets[-1]) + 1 - column.written, -1, dtype=numpy.int64)
        wide[offsets.astype(numpy.int64) - column.written] = place
        column.write(found, wide)
        loaded += int((place >= 0).sum())
    column.close()
    if loaded == 0:
        return None
    written = {"number": number, "loaded": loaded, "version": table.version, "file": column.file}
    return {**written, "basis": basis_of(table, fragment, task)}


def basis_of(table, fragment, task):
    """What a file depends on: the files beside it, and the ids and types of its columns."""
    names = names_of(task)
    ids = [[field.name(), field.id()] for field in table.lance_schema.fields() if field.name() in names]
    types = [str(field.type) for field in table.schema if field.name in names]
    return [[file.path for file in fragment.data_files()], ids, types]


def commit(files, task):
    """Makes files part of the table, together. Returns the numbers of fragments whose files have to be written again."""
    changed = []
    for tried in range(1, COMMITS + 1):
        try:
            if files:
                commit_once(files, task)
            return changed
        except Exception as error:
            if tried == COMMITS or not is_conflict(error):
                raise
            table = opened(task)
            now = [renewed(written, table, task) for written in files]
            changed += [written["number"] for written, new in zip(files, now) if new is None]
            files = [new for new in now if new is not None]


def renewed(written, table, task):
    """A file as it is committed to the table now; None if values of its fragment have changed since they were read."""
    fragment = table.get_fragment(written["number"])
    if fragment is None or basis_of(table, fragment, task) != written["basis"]:
        return None
    # Rows that applications update or delete are only marked as deleted, and the file has values for these too.
    return {**written, "version": table.version, "loaded": min(written["loaded"], fragment.count_rows())}


def is_conflict(error):
    return any(words in str(error).lower() for words in ("conflict", "incompatible transaction", "too many concurrent"))


def commit_once(files, task):
    if not may_commit():
        raise Stopped()
    replacement = lance.LanceOperation.DataReplacementGroup
    groups = [replacement(written["number"], DataFile(**written["file"])) for written in files]
    operation = lance.LanceOperation.DataReplacement(groups)
    version = min(written["version"] for written in files)
    lance.LanceDataset.commit(task["table"], operation, read_version=version, storage_options=task["options"])
    tell(loaded=sum(written["loaded"] for written in files))


def load(numbers, results, task):
    """Loads fragments that applications may change meanwhile. Returns why some can't be loaded, a text for each."""
    problems = []
    for _ in range(TRIES):
        files, table = [], opened(task)
        for number in numbers:
            try:
                files.append(write(number, results, task, table))
            except Exception as error:
                problems.append(str(error))
        files = [written for written in files if written is not None]
        try:
            numbers = commit(files, task)
        except (Stopped, BrokenPipeError):
            raise
        except Exception as error:
            return problems + [str(error)] * len(files)
        if not numbers:
            return problems
    return problems + ["applications have changed its rows during each try"] * len(numbers)


def small_together(fragments):
    """Yields lists of the numbers of neighbouring fragments: small ones together."""
    numbers, rows = [], 0
    for one in fragments:
        if numbers and rows + one.physical_rows > SMALL:
            yield numbers
            numbers, rows = [], 0
        numbers.append(one.fragment_id)
        rows += one.physical_rows
    if numbers:
        yield numbers


def write_some(task):
    """Writes the files of some fragments. Those for which that fails are left to the process that commits."""
    results = Results(task)
    for number in task["fragments"]:
        try:
            tell(written={"number": number, **(write(number, results, task, opened(task)) or {})})
        except Exception as error:
            print(error, file=sys.stderr)


def load_all(task, done=()):
    """Loads all fragments but some that are done. Returns how many can't be loaded, and why the first one can't."""
    problems, seen, results = [], set(done), None
    for _ in range(PASSES):
        # Applications move rows to new fragments meanwhile.
        new = [one for one in opened(task).get_fragments() if one.fragment_id not in seen]
        for numbers in small_together(new):
            seen.update(numbers)
            results = results or Results(task)
            problems += load(numbers, results, task)
        if not new:
            break
    return len(problems), problems[0] if problems else None


def main():
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=listen, daemon=True).start()
    if "fragments" in task:
        write_some(task)
        return
    left, problem = load_all(task)
    tell(left=left, problem=problem)


if __name__ == "__main__":
    try:
        main()
    except (Stopped, BrokenPipeError):
        pass
    # Without waiting for the thread, which waits for its input.
    os._exit(0)
