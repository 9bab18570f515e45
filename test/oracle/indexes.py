"""Answers, for each line of JSON with the folder of a table and the name of an index, what pylance knows of its model."""

import json
import sys

import lance

for line in sys.stdin:
    task = json.loads(line)
    index = lance.dataset(task["place"]).stats.index_stats(task["name"])["indices"][0]
    known = ("num_bits", "nbits", "num_sub_vectors", "dimension", "params", "rotation_type", "index_type")
    model = {name: value for name, value in index["sub_index"].items() if name in known}
    print(json.dumps([index["num_partitions"], model]), flush=True)
