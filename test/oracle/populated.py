"""Judges a table of words that was populated from a table of documents: reads both with pylance, one task in each line."""

import json
import sys
from collections import defaultdict

import lance

for line in sys.stdin:
    task = json.loads(line)
    documents = lance.dataset(task["documents"]).to_table(columns=["id", "text"]).to_pylist()
    words = lance.dataset(task["words"]).to_table().to_pylist()
    of = defaultdict(list)
    for row in words:
        of[row["document"]].append(row)
    problems = []
    for document in documents:
        own = sorted(of.pop(document["id"], []), key=lambda row: row["place"])
        wanted = list(enumerate((document["text"] or "").split(" ")))
        if [(row["place"], row["word"]) for row in own] != wanted:
            problems.append(f"document {document['id']} has {[row['word'] for row in own]}")
        if len({row["made_from"] for row in own}) != 1:
            problems.append(f"document {document['id']} has several marks")
    applications = [row["word"] for row in of.pop(None, [])]
    problems += [f"document {gone} is gone" for gone in of]
    print(json.dumps({"problems": problems, "own": applications, "documents": len(documents)}), flush=True)
