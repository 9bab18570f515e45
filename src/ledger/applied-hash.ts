/** The running hash over what is applied: the same for everyone who has the same files and the same ledger. */
import { createHash, type Hash } from "node:crypto";

export interface AppliedEntry {
  readonly version: number;
  readonly textHash: string;
}

/** A hash over entries by ascending version, to which the next one can be added without reading the others again. */
export interface AppliedHash {
  readonly value: string;
  /** With one more entry, or an entry changed; cheap when its version is the highest. */
  with(entry: AppliedEntry): AppliedHash;
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
    with(entry) {
      const last = entries[length - 1];
      if (length === entries.length && (last === undefined || entry.version > last.version)) {
        const next = hash.copy();
        add(next, entry);
        entries.push(entry);
        return running(next, entries, length + 1);
      }
      const others = entries.slice(0, length).filter(({ version }) => version !== entry.version);
      return appliedHash([...others, entry].toSorted((one, other) => one.version - other.version));
    },
  };
}

function add(hash: Hash, { version, textHash }: AppliedEntry): void {
  hash.update(`${version} ${textHash}\n`);
}
