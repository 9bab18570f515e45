/** What people type who know other migration tools, such as `rollback`, `db push` or `migrate:latest`. */

/** By our command, verbs of other tools for the same. */
const otherVerbs: Readonly<Record<string, readonly string[]>> = {
  up: ["apply", "deploy", "migrate", "run", "latest", "upgrade", "update", "execute", "sync", "forward", "goto"],
  down: ["rollback", "revert", "undo", "downgrade"],
  "down, then migrate up": ["redo"],
  reset: ["refresh", "fresh"],
  new: ["create", "make", "add", "revision", "generate-migration"],
  "new --insert-rows": ["seed"],
  generate: ["makemigrations", "autogenerate"],
  plan: ["preview", "dry-run", "sql", "sqlmigrate"],
  "verify or migrate generate --check": ["drift"],
  dev: ["watch"],
  inspect: ["describe", "tables", "schema"],
  "lint or migrate verify": ["check", "validate", "test"],
  status: ["list", "ls", "info", "show", "current", "heads", "state", "pending", "version", "showmigrations"],
  history: ["log"],
  baseline: ["adopt", "stamp"],
  "baseline or migrate resolve": ["force", "mark"],
  rebase: ["merge"],
  pull: ["introspect"],
};

/** Words that stand before the verb in other tools. */
const groups: ReadonlySet<string> = new Set(["migrate", "migration", "migrations", "db", "database", "schema"]);

/** Our command for the first of these words, or for two of them, as text; undefined if none is known. */
export function ourCommand(
  words: readonly string[],
  isCommand: (word: string) => boolean,
): { readonly typed: string; readonly ours: string } | undefined {
  const [first = "", next] = words;
  const [group = "", verb = next] = first.split(":");
  const oursOf = (word: string) =>
    isCommand(word) ? word : Object.entries(otherVerbs).find(([, verbs]) => verbs.includes(word))?.[0];
  const behind = groups.has(group) && verb !== undefined ? oursOf(verb) : undefined;
  if (behind !== undefined) return { typed: first === group ? `${group} ${verb}` : first, ours: behind };
  const ours = oursOf(group);
  return ours === undefined ? undefined : { typed: first, ours };
}
