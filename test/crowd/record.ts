/** What a client knows of its rows in one table, whatever became of its requests. */

/** A row's value; undefined where there is no row. */
export type Value = number | undefined;

export type Outcome = "acknowledged" | "unknown" | "refused";

export interface Found {
  readonly id: number;
  /** Null where a retype has lost it. */
  readonly value: number | null;
  readonly text: string;
}

export interface Problem {
  readonly kind: "lost" | "doubled" | "wrong" | "other";
  readonly words: string;
}

export type RowRecord = ReturnType<typeof createRecord>;

/** `textOf` gives the text that belongs to a value. */
export function createRecord(table: string, textOf: (value: number) => string) {
  /** The values that each row may have. */
  const rows = new Map<number, ReadonlySet<Value>>();

  const readOne = (id: number, found: readonly Found[]): Problem | undefined => {
    const may = rows.get(id) ?? new Set([undefined]);
    const words = (what: string) => `row ${id} of ${table} ${what}; it may be: ${[...may].join(", ")}`;
    if (found.length > 1) return { kind: "doubled", words: words(`is there ${found.length} times`) };
    const [row] = found;
    const value = row?.value ?? undefined;
    if (row === undefined && !may.has(undefined)) return { kind: "lost", words: words("is missing") };
    if (row !== undefined && (value === undefined || !may.has(value)))
      return { kind: "wrong", words: words(`is ${row.value}`) };
    if (row !== undefined && row.text !== textOf(row.value!))
      return { kind: "wrong", words: words(`is ${row.value}, and its text is ${row.text}`) };
    // It stays so: what was unknown is known now.
    rows.set(id, new Set([value]));
    return undefined;
  };

  return {
    ids: () => [...rows.keys()],
    /** A request that was to make of each row's value another one. */
    wrote(ids: readonly number[], change: (before: Value) => Value, outcome: Outcome): void {
      if (outcome === "refused") return;
      for (const id of ids) {
        const before = [...(rows.get(id) ?? [undefined])];
        const after = before.map(change);
        rows.set(id, new Set(outcome === "acknowledged" ? after : [...before, ...after]));
      }
    },
    /** All rows of the client that the table has. Gives what may not be. */
    read(found: readonly Found[]): readonly Problem[] {
      const byId = Map.groupBy(found, ({ id }) => id);
      const ids = new Set([...rows.keys(), ...byId.keys()]);
      return [...ids].map((id) => readOne(id, byId.get(id) ?? [])).filter((problem) => problem !== undefined);
    },
    /** The fewest and the most rows that there may be. */
    bounds(): readonly [number, number] {
      const all = [...rows.values()];
      return [
        all.filter((may) => !may.has(undefined)).length,
        all.filter((may) => [...may].some((value) => value !== undefined)).length,
      ];
    },
  };
}
