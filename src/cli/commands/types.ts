import { existsSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { z } from "zod";
import { typesPattern } from "../../session/config.ts";
import { MigrateError } from "../../errors/migrate-error.ts";
import { momentsOf } from "../../run/schema-history.ts";
import {
  applicationFile,
  checkOurs,
  historyFile,
  isWritten,
  writeTypes,
  type TypesFile,
} from "../../scaffold/types/types-file.ts";
import { commonSchema, parseFlags, switchFlag, withSession, type Command } from "../command/command.ts";
import { done, somethingPending } from "../command/exit-code.ts";
import type { Output } from "../command/output.ts";
import { applicationPath } from "../project/update-types.ts";
import { authoring } from "../project/write-migration.ts";

const out = "--out must be a .ts file for the application, outside the migrations folder";

const typesFlags = commonSchema.extend({
  check: switchFlag,
  out: z.string("--out is given twice or without a value").regex(typesPattern, out).optional(),
});

export const typesCommand: Command = {
  usage: "types",
  describe: "write TypeScript types of the tables after each migration, and of their rows",
  switches: { check: "write nothing; exit 3 when a file is not as the migrations are" },
  flags: (cli) =>
    cli.option("out", { type: "string", describe: "a file for row types and Arrow schemas, such as src/db.ts" }),
  async run(context) {
    const { flags, output, underWay } = context;
    const { check, out: path } = parseFlags(typesFlags, flags);
    return await withSession(context, {}, async (session) => {
      const { folder: migrations } = session;
      // --out takes precedence over the configuration.
      const file = path === undefined ? applicationPath(session) : resolve(path);
      if (file !== undefined && dirname(file) === migrations) throw new MigrateError("ERR_USAGE", { problem: out });
      const moments = await momentsOf(authoring(session));
      const files = [historyFile(migrations, moments), ...(file === undefined ? [] : [applicationFile(file, moments)])];
      const stale = files.filter((one) => !isWritten(one));
      for (const one of stale) checkOurs(one);
      if (check === true) return report(files, stale, path, output);
      underWay(true);
      for (const one of stale) writeTypes(one);
      output.data({ files: files.map(placeOf), written: stale.map(placeOf) });
      for (const one of stale) output.result(`wrote ${placeOf(one)}`);
      if (stale.length === 0) output.result(`nothing to do: ${listOf(files)} as the migrations are`);
      return done;
    });
  },
};

function report(files: readonly TypesFile[], stale: readonly TypesFile[], out: string | undefined, output: Output) {
  output.data({ files: files.map(placeOf), stale: stale.map(placeOf) });
  if (stale.length === 0) {
    output.result(`equal: ${listOf(files)} as the migrations are`);
    return done;
  }
  const next = `migrate types${out === undefined ? "" : ` --out ${out}`}`;
  const missing = stale.filter(({ path }) => !existsSync(path));
  const other = stale.filter((one) => !missing.includes(one));
  const words = [
    ...(missing.length === 0 ? [] : [`${listOf(missing)} not there`]),
    ...(other.length === 0 ? [] : [`${listOf(other)} not as the migrations are`]),
  ];
  output.problem(`${words.join(", ")}; ${next} rewrites ${stale.length === 1 ? "it" : "them"}`);
  return somethingPending;
}

function placeOf({ path }: TypesFile): string {
  return relative(process.cwd(), path);
}

function listOf(files: readonly TypesFile[]): string {
  return `${files.map(placeOf).join(" and ")} ${files.length === 1 ? "is" : "are"}`;
}
