"""Builds a vector index beside an application that joins files: trains it once, and builds it until it is accepted.

The engine refuses an index if files were joined while it was built, and training takes most of that time. With its model
given, the index is built in a fraction of it, on the newest version of the table.

`migrate` starts this, and writes a JSON object to the first line of its standard input:

- `table`, `options`: the address of the Lance table, and the options of its object store;
- `folder`: an empty one on this machine, for a sample; the run removes it;
- `column`: the path of the column; `dimension`: that of its vectors;
- `name`, `kind`, `metric`, `replace`: the name of the index, its kind as pylance calls it, its distance, and whether it
  takes the place of one of that name;
- `partitions`: how many it has, or null; then each has about `partition_size` of the rows;
- `sub_vectors`: into how many parts product quantization cuts a vector, and null without it; `bits`: those of each part;
- `sample_rate`, `max_iters`: how the centres of partitions are trained, and `code_max_iters` how the codes of parts are;
- `parameters`: what else pylance's create_index is given.

Each line on standard output is a JSON object: `ask`, before a try, which waits for the line "yes"; `preempted`, after a try
that the engine has refused because others came first; `built`, the version with the index; `problem`, why there is none;
`missing`, why this Python is of no use. When standard input ends, the script ends.
"""

import dataclasses
import json
import os
import sys
import threading

import load_column as loading
from load_column import lance, numpy, opened, pyarrow, tell

TRIES = 30
# Seconds.
LONGEST_PAUSE = 1
# How many vectors train each code of a part.
CODES = 256
# How many neighbouring rows are drawn together, and how many times that are read at a time.
BLOCK = 16
BLOCKS = 128


def partitions(table, task):
    """As many as the engine's client chooses."""
    return task["partitions"] or min(max(table.count_rows() // task["partition_size"], 1), 4096)


def sample(table, column, wanted, place):
    """A table at this place with this number of vectors, or with all that there are."""
    parts = [(one.fragment_id << 32, one.physical_rows) for one in table.get_fragments()]
    starts = numpy.concatenate([first + numpy.arange(0, rows, BLOCK) for first, rows in parts])
    ends = numpy.concatenate([numpy.full(-(-rows // BLOCK), first + rows) for first, rows in parts])
    order = numpy.random.default_rng().permutation(len(starts))
    take = lambda rows: table._take_rows(rows, columns={"v": column})

    def batches(left):
        for at in range(0, len(order), BLOCKS):
            some = numpy.sort(order[at : at + BLOCKS])
            rows = (starts[some, None] + numpy.arange(BLOCK)).ravel()
            # Those that are deleted are left out by the engine.
            found = take(rows[rows < numpy.repeat(ends[some], BLOCK)].tolist())
            found = found.filter(found["v"].is_valid())[:left]
            left -= found.num_rows
            yield from found.to_batches()
            if left == 0:
                return

    reader = pyarrow.RecordBatchReader.from_batches(take([]).schema, batches(wanted))
    return lance.write_dataset(reader, place)


def trained(table, task):
    """What create_index is given so that it trains nothing but the bounds of scalar quantization."""
    count = partitions(table, task)
    # The engine looks for each row of its sample by its position. With deleted rows, that takes long in a large fragment.
    if table.has_stable_row_ids or not any(one.num_deletions for one in table.get_fragments()):
        return trained_on(table, task["column"], count, task)
    wanted = max(count * task["sample_rate"], 0 if task["sub_vectors"] is None else CODES << task["bits"])
    place = os.path.join(task["folder"], "sample.lance")
    return trained_on(sample(table, task["column"], wanted, place), "v", count, task)


def trained_on(table, column, count, task):
    # Those of IndicesBuilder refuse tables with fewer rows than a full sample. The client takes all rows then.
    from lance.lance import indices

    what, metric = (table._ds, column, task["dimension"]), task["metric"]
    centres = indices.train_ivf_model(*what, count, metric, task["sample_rate"], task["max_iters"])
    model = {"num_partitions": count, "ivf_centroids": centres}
    parts = task["sub_vectors"]
    if parts is not None:
        # The client ignores the sample rate here.
        how = (metric, CODES, task["code_max_iters"], centres)
        codes = indices.train_pq_model(*what, parts, *how, num_bits=task["bits"])
        model.update(num_sub_vectors=parts, num_bits=task["bits"], pq_codebook=codes)
    return model


def noted(key, value):
    """A member of a map of texts, as protobuf writes it."""
    pair = b"".join(tag + bytes([len(text)]) + text.encode() for tag, text in ((b"\n", key), (b"\x12", str(value))))
    return bytes([len(pair)]) + pair


def build(model, task):
    """Returns the version with the index."""
    table, column, rate = opened(task), task["column"], task["sample_rate"]
    how = {
        "index_type": task["kind"],
        "name": task["name"],
        "metric": task["metric"],
        "replace": task["replace"],
        "max_iters": task["max_iters"],
        "storage_options": task["options"],
        **model,
        **task["parameters"],
    }
    if "pq_codebook" not in model:
        table.create_index(column, sample_rate=rate, **how)
        return table.version
    # The engine reads a sample although the codes are given, and notes its rate for those who build the index again.
    fragments = [one.fragment_id for one in table.get_fragments()]
    index = table.create_index_uncommitted(column, sample_rate=1, fragment_ids=fragments, **how)
    kind, details = index.index_details
    for key in ("lance.ivf.sample_rate", "lance.pq.sample_rate"):
        details = details.replace(noted(key, 1), noted(key, rate))
    index = dataclasses.replace(index, index_details=(kind, details))
    table.commit_existing_index_segments(task["name"], column, [index])
    return table.version


def main():
    task = json.loads(sys.stdin.readline())
    threading.Thread(target=loading.listen, daemon=True).start()
    try:
        model = trained(opened(task), task)
    except Exception as error:
        tell(problem=f"it can't be trained: {error}")
        return
    for tried in range(TRIES):
        # Not time.sleep, which fails under a clock that is set ahead.
        threading.Event().wait(min(tried and 0.02 * 2**tried, LONGEST_PAUSE))
        if not loading.may_commit():
            return
        try:
            tell(built=build(model, task))
            return
        except Exception as error:
            if not loading.is_conflict(error):
                raise
            tell(preempted=True)
    tell(problem=f"the files of the table were joined during each of {TRIES} tries")


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        pass
    except Exception as error:
        print(error, file=sys.stderr, flush=True)
        os._exit(1)
    # Without waiting for the thread, which waits for its input.
    os._exit(0)
