"""What pylance reads of the tables of a folder, and finds by their indexes. `python seen.py FOLDER`"""

import json
import sys

import lance


def ids(found):
    return found["id"].to_pylist()


def seen(path, sample):
    data = lance.dataset(path)
    numbers = ", ".join(map(str, sample["ids"]))
    nearest = [{"column": "vector", "q": vector, "k": 1, "nprobes": 1000} for vector in sample["vectors"]]
    rows = data.to_table().to_pylist()
    return {
        "count": data.count_rows(),
        "rows": [[row["id"], row["value"], row["text"], row["vector"]] for row in rows],
        "byId": ids(data.to_table(columns=["id"], filter=f"id IN ({numbers})")),
        "byWord": ids(data.to_table(columns=["id"], full_text_query=sample["word"])),
        "nearest": [one for query in nearest for one in ids(data.to_table(columns=["id"], nearest=query))],
    }


samples = json.load(sys.stdin)
print(json.dumps({name: seen(f"{sys.argv[1]}/{name}.lance", sample) for name, sample in samples.items()}))
