/** The running hash over what is applied: the same for everyone who has the same files and the same ledger. */
import { createHash, type Hash } from "node:crypto";
import { shortHash } from "../../migrations/checksum.ts";

export interface AppliedEntry {
  readonly version: number;
  readonly textHash: string;
}

/** A hash over entries by ascending version, to which the next one can be added without reading the others again. */
export interface AppliedHash {
  readonly value: string;
  /** With more entries, or entries changed, and without some versions; cheap where it only adds some above all others. */
  with(changes: readonly AppliedEntry[], gone?: ReadonlySet<number | undefined>): AppliedHash;
}

/** `entries` by ascending version. */
export function appliedHash(entries: readonly AppliedEntry[]): AppliedHash {
  const hash = createHash("sha256");
  for (const entry of entries) add(hash, entry);
  return running(hash, [...entries], entries.length);
}

// The list behind is shared and only ever grows; `length` says how much of it belongs to this hash.
function running(hash: Hash, entries: AppliedEntry[], length: number): AppliedHash {
  return {
    value: hash.copy().digest("hex"),
    with(changes, gone = new Set()) {
      const isNext = (entry: AppliedEntry, index: number) =>
        entry.version > ((index === 0 ? entries[length - 1] : changes[index - 1])?.version ?? -1);
      if (length === entries.length && changes.every(isNext) && gone.size === 0) {
        const next = hash.copy();
        for (const entry of changes) add(next, entry);
        entries.push(...changes);
        return running(next, entries, entries.length);
      }
      const all = new Map([...entries.slice(0, length), ...changes].map((entry) => [entry.version, entry]));
      const left = [...all.values()].filter(({ version }) => !gone.has(version));
      return appliedHash(left.toSorted((one, other) => one.version - other.version));
    },
  };
}

function add(hash: Hash, { version, textHash }: AppliedEntry): void {
  // Short, so that it is the same whatever a journal has room for.
  hash.update(`${version} ${shortHash(textHash)}\n`);
}
