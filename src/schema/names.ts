/** Which names the engine accepts without breaking a table (measured; docs/internals/engine.md), and which name was meant. */

/** Names that the engine reserves. A table with a column of such a name can't be read any more. */
const reservedColumns: ReadonlySet<string> = new Set([
  "_rowid",
  "_rowaddr",
  "_rowoffset",
  "_row_created_at_version",
  "_row_last_updated_at_version",
]);

/**
 * Names of columns that a search adds to its result. If a table has one, the search fails or hides the column's values.
 */
const searchColumns: ReadonlySet<string> = new Set(["_distance", "_score", "_relevance_score"]);

/** The temporary name of a column or a field that is being built. */
export const madeName = "_lance_migrate_new";

const longestTableName = 249;

/** What is wrong with a column's name, or undefined. */
export function columnNameProblem(name: string): string | undefined {
  if (name === "") return "is empty";
  if (name.includes(".")) return 'holds a dot, which separates the parts of a path; use "_"';
  if (name.includes("`")) return "holds a backtick, which breaks the table";
  // oxlint-disable-next-line no-control-regex -- control characters are what this looks for
  if (/[\u0000-\u001f\u007f]/.test(name)) return "holds a control character";
  if (/\p{Surrogate}/u.test(name)) return "holds half a character (a lone surrogate)";
  if (name === "*") return "means all columns to the engine";
  if (reservedColumns.has(name)) return "is reserved by the engine and would make the table unreadable";
  if (searchColumns.has(name)) return "is the name of a column that a search adds, and searches would fail or hide it";
  return undefined;
}

/** What is wrong with a table's name, or undefined. */
export function tableNameProblem(name: string): string | undefined {
  if (name === "") return "is empty";
  if (name === "." || name === "..") return "is a folder's name";
  if (name.length > longestTableName) return `is longer than ${longestTableName} characters`;
  if (!/^[A-Za-z0-9_.-]+$/.test(name)) return 'may hold only letters, digits, "_", "-" and "."';
  return undefined;
}

/** What is wrong with an index's name, or undefined. */
export function indexNameProblem(name: string): string | undefined {
  return name.startsWith("__lance_")
    ? "can't begin with __lance_, which the engine's own indexes do: it could not use the table any more"
    : undefined;
}

/** The known name nearest to a mistyped one, or undefined when none is near. */
export function similarName(name: string, known: Iterable<string>): string | undefined {
  const wanted = name.toLowerCase();
  // Names of one letter all differ by one letter.
  const most = name.length === 1 ? 0 : Math.max(1, Math.floor(name.length / 3));
  let best: { name: string; distance: number } | undefined;
  for (const candidate of known) {
    const other = candidate.toLowerCase();
    // It would be further away in any case, and a name from a request may have a million letters.
    if (Math.abs(wanted.length - other.length) > most) continue;
    const distance = editDistance(wanted, other);
    if (distance <= most && distance < (best?.distance ?? Infinity)) best = { name: candidate, distance };
  }
  return best?.name;
}

function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  let before: number[] = [];
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const change = row[j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1);
      // Two swapped neighbouring letters count as one change.
      const swapped = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swap = i > 1 && j > 1 && swapped ? before[j - 2]! + 1 : Infinity;
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1, swap));
    }
    before = row;
    row = next;
  }
  return row[other.length]!;
}
