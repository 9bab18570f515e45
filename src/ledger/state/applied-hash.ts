/** The running hash over all applied migrations: equal for all runs with the same files and the same ledger. */
import { createHash, type Hash } from "node:crypto";
import { shortHash } from "../../migrations/checksum.ts";

export interface AppliedEntry {
  readonly version: number;
  readonly textHash: string;
}

/** A hash over entries in ascending order of version. The next entry can be added without hashing the others again. */
export interface AppliedHash {
  readonly value: string;
  /** The hash with entries added or replaced, and without the versions in `gone`. Cheap if it only appends entries. */
  with(changes: readonly AppliedEntry[], gone?: ReadonlySet<number | undefined>): AppliedHash;
}

/** `entries`: in ascending order of version. */
export function appliedHash(entries: readonly AppliedEntry[]): AppliedHash {
  const hash = createHash("sha256");
  add(hash, entries);
  return running(hash, [...entries], entries.length);
}

// Hashes that extend each other share `entries`, which only grows. Its first `length` entries belong to this hash.
function running(hash: Hash, entries: AppliedEntry[], length: number): AppliedHash {
  return {
    value: hash.copy().digest("hex"),
    with(changes, gone = new Set()) {
      const isNext = (entry: AppliedEntry, index: number) =>
        entry.version > ((index === 0 ? entries[length - 1] : changes[index - 1])?.version ?? -1);
      if (length === entries.length && changes.every(isNext) && gone.size === 0) {
        const next = hash.copy();
        add(next, changes);
        entries.push(...changes);
        return running(next, entries, entries.length);
      }
      const all = new Map([...entries.slice(0, length), ...changes].map((entry) => [entry.version, entry]));
      const left = [...all.values()].filter(({ version }) => !gone.has(version));
      return appliedHash(left.toSorted((one, other) => one.version - other.version));
    },
  };
}

function add(hash: Hash, entries: readonly AppliedEntry[]): void {
  // The short hash, so that the result is the same whether a journal stores whole hashes or short ones.
  hash.update(entries.map(({ version, textHash }) => `${version} ${shortHash(textHash)}\n`).join(""));
}
