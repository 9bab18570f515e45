/** Writes `schema.ts` from tables, if it passes the check that `generate` will read the same tables from it. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { basename } from "node:path";
import { move } from "../../../engine/folder/move.ts";
import { MigrateError } from "../../../errors/migrate-error.ts";
import { loadSchema } from "../../shared/load-schema.ts";
import { diff } from "../generate/diff-tables.ts";
import { sameTables, type Database } from "../../../schema/table.ts";
import { typeProblemIn } from "./check-generated.ts";
import { putInPlace, writeChecked } from "./create-migration.ts";
import type { Formatting } from "./format-draft.ts";
import { schemaComment, schemaText } from "./print-schema.ts";

interface NewSchema {
  readonly project: Formatting;
  readonly path: string;
  readonly tables: Database;
}

/**
 * Writes the file, then runs `work` and gives its result. If `work` fails, the file is removed. Throws ERR_FILE_EXISTS,
 * ERR_ADOPT_REFUSED, ERR_FORMAT.
 */
export async function createSchemaWith<Result>(
  { project, path, tables }: NewSchema,
  work: () => Promise<Result>,
): Promise<Result> {
  if (existsSync(path)) throw new MigrateError("ERR_FILE_EXISTS", { file: path });
  await writeSchema({ project, path, tables });
  try {
    return await work();
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}

/**
 * Writes the file, also in the place of one that holds nothing but the tables which it declares. Throws
 * ERR_ADOPT_REFUSED for any other file, unless `isSure`, and ERR_SCHEMA_INVALID, ERR_FORMAT.
 */
export async function rewriteSchema({ isSure, ...schema }: NewSchema & { readonly isSure: boolean }): Promise<void> {
  const { path } = schema;
  const isThere = !isSure && existsSync(path);
  const own = isThere ? ownLine(readFileSync(path, "utf8"), schemaText(await loadSchema(path))) : undefined;
  if (own !== undefined)
    throw new MigrateError("ERR_ADOPT_REFUSED", {
      problem: `${basename(path)} has a comment or code of its own in line ${own}, which would be lost`,
      hint: "migrate generate --check states what it lacks; to replace it anyway, pass --yes",
    });
  await writeSchema(schema, move);
}

/** The first line with something that is not in the expected text; undefined if there is none. */
function ownLine(text: string, expected: string): number | undefined {
  const [own, other] = [lettersOf(text), lettersOf(expected)];
  const at = own.findIndex(({ letter }, index) => letter !== other[index]?.letter);
  return at === -1 && own.length === other.length ? undefined : own.at(at)?.line;
}

/** Without the layout, the comment, which a file written by hand lacks, and the imported builders. */
function lettersOf(source: string) {
  const blank = (found: string) => found.replaceAll(/[^\n]/g, " ");
  const imports = /^import\s*\{[^}]*\}\s*from\s*["']lance-migrate["']/m;
  const lines = source.replace(schemaComment, blank).replace(imports, blank).split("\n");
  return lines.flatMap((line, index) =>
    [...line.replaceAll(/[\s,;"']/g, "")].map((letter) => ({ letter, line: index + 1 })),
  );
}

async function writeSchema({ project, path, tables }: NewSchema, put = putInPlace): Promise<void> {
  const check = async (draft: string, text: string) => {
    const wrong = await typeProblemIn(draft, text, project.folder);
    const problem = wrong ?? (await otherTables(draft, tables));
    if (problem !== undefined)
      throw new MigrateError("ERR_ADOPT_REFUSED", {
        problem: `${basename(path)} would be refused: ${problem}`,
        hint: "check whether tsconfig.json is stricter than the types of the builders",
      });
  };
  await writeChecked(path, schemaText(tables), project, check, put);
}

async function otherTables(draft: string, tables: Database): Promise<string | undefined> {
  const loaded = await loadSchema(draft);
  const { steps, impossible } = diff(tables, loaded);
  const plain = new Map([...tables].map(([name, table]) => [name, { ...table, indexes: undefined }]));
  const isSame = steps.length + impossible.length === 0 && sameTables(plain, loaded);
  return isSame ? undefined : "it declares other tables than the existing ones";
}
