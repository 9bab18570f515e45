"""Computes vectors with an embedding function of LanceDB's registry, as a command of backfillColumn and reembedColumn.

    with: { command: [".venv/bin/python", "node_modules/lance-migrate/python/embed.py", "sentence-transformers", "name=BAAI/bge-small-en-v1.5"] }

The arguments are the name under which the function is registered, and the options of its `create`, each of which is JSON or
text. `--import MODULE` imports a module of the project first, which registers a function of its own. `from` must name one
column. Rows in which it is null get no vector.
"""

import argparse
import importlib
import json
import sys

from lancedb.embeddings import get_registry


def option(text):
    name, separator, value = text.partition("=")
    if separator == "":
        raise argparse.ArgumentTypeError(f'"{text}" is no option: write NAME=VALUE, such as name=BAAI/bge-small-en-v1.5')
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def vectors_of(function, rows):
    """One vector, or None, for each row."""
    values = [value for row in rows for value in row.values()]
    if len(values) != len(rows):
        raise ValueError(f"`from` names several columns ({', '.join(rows[0])}), but an embedding function takes one: name one column in `from`")
    texts = [value for value in values if value is not None]
    found = iter(function.compute_source_embeddings(texts) if texts else [])
    vectors = [None if value is None else next(found) for value in values]
    return [None if vector is None else [float(number) for number in vector] for vector in vectors]


def answer_to(function, rows):
    try:
        # JSON has no NaN.
        return json.dumps({"values": vectors_of(function, rows)}, allow_nan=False)
    except Exception as error:  # A provider raises errors of its own classes.
        status = getattr(error, "status_code", None)
        return json.dumps({"error": f"{type(error).__name__}: {error}", **({"status": status} if status else {})})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--import", dest="modules", action="append", default=[], metavar="MODULE")
    parser.add_argument("name")
    parser.add_argument("options", nargs="*", type=option, metavar="NAME=VALUE")
    given = parser.parse_args()
    # Modules of the project, whose folder is the working directory.
    sys.path.insert(0, "")
    for module in given.modules:
        importlib.import_module(module)
    function = get_registry().get(given.name).create(**dict(given.options))
    for line in sys.stdin:
        call = json.loads(line)
        print(f'{{"id": {json.dumps(call["id"])}, {answer_to(function, call["rows"])[1:]}', flush=True)


main()
