"""Builds a vector index beside an application that joins files: trains it once, and builds it until it is accepted.

The engine refuses an index if files were joined while it was built, and training takes most of that time. With its model
given, the index is built in a fraction of it, on the newest version of the table.

`migrate` starts this, and writes a JSON object to the first line of its standard input:

- `table`, `options`: the address of the Lance table, and the options of its object store;
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

import json
import os
import sys
import threading

import load_column as loading
from load_column import opened, tell

TRIES = 30
# Seconds.
LONGEST_PAUSE = 1


def partitions(table, task):
    """As many as the engine's client chooses."""
    return task["partitions"] or min(max(table.count_rows() // task["partition_size"], 1), 4096)


def trained(table, task):
    """What create_index is given so that it trains nothing but the bounds of scalar quantization."""
    # Those of IndicesBuilder refuse tables with fewer rows than a full sample. The client takes all rows then.
    from lance.lance import indices

    column, dimension, metric = task["column"], task["dimension"], task["metric"]
    what = (table._ds, column, dimension)
    count = partitions(table, task)
    centres = indices.train_ivf_model(*what, count, metric, task["sample_rate"], task["max_iters"])
    model = {"num_partitions": count, "ivf_centroids": centres}
    parts = task["sub_vectors"]
    if parts is not None:
        # The client ignores the sample rate here.
        how = (metric, 256, task["code_max_iters"], centres)
        codes = indices.train_pq_model(*what, parts, *how, num_bits=task["bits"])
        model.update(num_sub_vectors=parts, num_bits=task["bits"], pq_codebook=codes)
    return model


def build(model, task):
    """Returns the version with the index."""
    table = opened(task)
    table.create_index(
        task["column"],
        task["kind"],
        name=task["name"],
        metric=task["metric"],
        replace=task["replace"],
        storage_options=task["options"],
        sample_rate=task["sample_rate"],
        max_iters=task["max_iters"],
        **model,
        **task["parameters"],
    )
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
