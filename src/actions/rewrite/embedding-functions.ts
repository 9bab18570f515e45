/** The embedding functions that LanceDB's clients keep in the metadata of a table's schema. */
import { parsePath } from "../../schema/path.ts";
import type { Risk } from "../model/risk.ts";
import type { Table } from "../../schema/table.ts";

interface EmbeddingFunction {
  readonly name: string;
  /** The columns that it reads and writes. */
  readonly columns: readonly string[];
}

const key = "embedding_functions";

/** The embedding functions that stop working when these columns are renamed or dropped. */
export function risksForEmbeddings(table: string, { metadata }: Table, paths: readonly string[]): readonly Risk[] {
  const embeddings = parse(metadata?.[key] ?? "[]");
  return paths.flatMap((path) => {
    const [column, ...inside] = parsePath(path);
    const broken = embeddings.filter(({ columns }) => inside.length === 0 && columns.includes(column!));
    return broken.map(({ name }): Risk => ({
      kind: "embedding",
      text: `embedding function "${name}" of ${table} refers to ${column}: after this, clients that use it can't add rows, and no call changes the schema's metadata; let them compute vectors without it, or copy the rows to a new table`,
    }));
  });
}

/** The embedding functions that keep computing values of the old model after a column has got those of another one. */
export function risksOfAnotherModel(table: string, { metadata }: Table, column: string): readonly Risk[] {
  const own = parse(metadata?.[key] ?? "[]").filter(({ columns }) => columns.includes(column));
  return own.map(({ name }): Risk => ({
    kind: "embedding",
    text: `embedding function "${name}" of ${table} refers to ${column}, and no call changes the schema's metadata: after this, clients that use it compute vectors of the old model, so let them compute vectors without it`,
  }));
}

function parse(json: string): readonly EmbeddingFunction[] {
  let found: unknown;
  try {
    found = JSON.parse(json);
  } catch {
    return [];
  }
  return Array.isArray(found) ? found.map(embeddingOf) : [];
}

/** The Python client writes `source_column`, the JavaScript client `sourceColumn`; both read both. */
function embeddingOf(entry: unknown): EmbeddingFunction {
  const given = (entry ?? {}) as Readonly<Record<string, unknown>>;
  const columns = [
    given["source_column"] ?? given["sourceColumn"],
    given["vector_column"] ?? given["vectorColumn"],
  ].filter((column) => typeof column === "string");
  return { name: String(given["name"]), columns };
}
