/** Writes `schema.ts` from tables, if it passes the check that `generate` will read the same tables from it. */
import { existsSync, rmSync } from "node:fs";
import { basename } from "node:path";
import { MigrateError } from "../errors/migrate-error.ts";
import { loadSchema } from "../migrations/load-schema.ts";
import { diff } from "../commands/generate/diff-tables.ts";
import { sameTables, type Database } from "../schema/table.ts";
import { typeProblem } from "./check-generated.ts";
import { writeChecked } from "./create-migration.ts";
import type { Formatting } from "./format-draft.ts";
import { schemaText } from "./print-schema.ts";

interface NewSchema {
  readonly project: Formatting;
  readonly path: string;
  readonly tables: Database;
}

/**
 * Writes the file, then runs `work` and gives its result. If `work` fails, the file is removed. Throws ERR_FILE_EXISTS,
 * ERR_ADOPT_REFUSED, ERR_FORMAT.
 */
export async function createSchemaWith(
  { project, path, tables }: NewSchema,
  work: () => Promise<string>,
): Promise<string> {
  if (existsSync(path)) throw new MigrateError("ERR_FILE_EXISTS", { file: path });
  await writeChecked(path, schemaText(tables), project, async (draft, text) => {
    const wrong = draft.endsWith("ts") ? typeProblem(draft, text, project.folder) : undefined;
    const problem = wrong ?? (await otherTables(draft, tables));
    if (problem !== undefined)
      throw new MigrateError("ERR_ADOPT_REFUSED", {
        problem: `${basename(path)} would be refused: ${problem}`,
        hint: "check whether tsconfig.json is stricter than the types of the builders",
      });
  });
  try {
    return await work();
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}

async function otherTables(draft: string, tables: Database): Promise<string | undefined> {
  const loaded = await loadSchema(draft);
  const { steps, impossible } = diff(tables, loaded);
  const isSame = steps.length + impossible.length === 0 && sameTables(withoutIndexes(tables), loaded);
  return isSame ? undefined : "it declares other tables than the existing ones";
}

function withoutIndexes(tables: Database): Database {
  return new Map([...tables].map(([name, table]) => [name, { ...table, indexes: undefined }]));
}
