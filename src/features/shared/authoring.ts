import { existsSync } from "node:fs";
import type { MigrationSource } from "../../migrations/source.ts";
import type { Session } from "../../session/session.ts";

/** The session's options, with no migrations if their folder does not exist. */
export function authoring({ options, folder }: Session): Session["options"] {
  const list: MigrationSource["list"] = (refuse) => (existsSync(folder) ? options.migrations.list(refuse) : []);
  return { ...options, migrations: { ...options.migrations, list } };
}
