/** Databases for tests: each is a copy of a template, to which the migrations were applied once. */
import { createHash, randomUUID } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { constants, cp, mkdtemp, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text, wholeNumber, yesOrNo, type Shape } from "../../checks/check.ts";
import { up } from "../../commands/up.ts";
import { move } from "../../engine/folder/move.ts";
import { userFolder } from "../../engine/folder/user-folder.ts";
import { engineVersion } from "../../engine/package/find-engine.ts";
import { thisRunner, type MigratorOptions } from "../../run/run-context.ts";
import type { LanceTarget } from "../../targets/index.ts";
import { openTarget, targetNamed } from "../../session/open-target.ts";
import { checkOptions, openProject, type Project } from "../../session/session.ts";
import { computingIn, type SessionFeature } from "../../session/session-feature.ts";
import type { MigratedDatabase, MigratedDatabaseOptions } from "./options.ts";

const shape: Shape<MigratedDatabaseOptions> = {
  folder: text("must be a folder's path"),
  config: text("must be a file's path"),
  target: text("must be the name of a target"),
  to: wholeNumber(0, "must be the number of a migration"),
  cache: yesOrNo,
};

/** See src/features/testing/testing.ts. */
export async function migratedDatabase(
  wanted: MigratedDatabaseOptions,
  features: readonly SessionFeature[],
): Promise<MigratedDatabase> {
  checkOptions(wanted, shape);
  const uri = await mkdtemp(join(tmpdir(), "lance-migrate-test-"));
  const drop = async () => await rm(uri, { recursive: true, force: true, maxRetries: 5 });
  try {
    await fill(uri, wanted, features);
  } catch (error) {
    await drop();
    throw error;
  }
  return { uri, drop, [Symbol.asyncDispose]: drop };
}

async function fill(uri: string, wanted: MigratedDatabaseOptions, features: readonly SessionFeature[]): Promise<void> {
  const project = await openProject(wanted, features);
  const settings = settingsOf(project, wanted);
  const home = wanted.cache === false ? undefined : userFolder("templates");
  const computing = computingIn(features);
  const fillIn = async (folder: string) => await migrate(project, settings, { uri: folder, to: wanted.to, computing });
  if (home === undefined) return await fillIn(uri);
  const name = templateName(project, settings, wanted.to);
  const template = await templateAt(join(home, name), async (folder) => {
    await removeOld(home);
    await fillIn(folder);
  });
  await cp(template, uri, { recursive: true, mode: constants.COPYFILE_FICLONE });
}

/** The settings of the chosen target that a folder can have. */
function settingsOf({ config }: Project, wanted: MigratedDatabaseOptions): Partial<LanceTarget> {
  const target = config.targets[targetNamed(config, wanted.target)]!;
  return target.kind === "lance" ? { newTables: (target as LanceTarget).newTables } : {};
}

interface Filling extends Pick<MigratorOptions, "computing"> {
  readonly uri: string;
  readonly to: number | undefined;
}

async function migrate(
  project: Project,
  settings: Partial<LanceTarget>,
  { uri, to, computing }: Filling,
): Promise<void> {
  const { config, migrations } = project;
  const name = "test";
  const given: LanceTarget = { kind: "lance", ...settings, uri };
  const target = await openTarget({ ...config, targets: { [name]: given } }, name);
  const { ledger, folder, leaseSeconds, waitSeconds } = config;
  const lease = { duration: leaseSeconds * 1000, patience: waitSeconds * 1000 };
  try {
    await up({ target, migrations, ledger, folder, lease, computing }, { to });
  } finally {
    await target.close();
  }
}

/** Everything that the template depends on, except code that the migrations import from outside their folder. */
function templateName({ config, folder }: Project, settings: object, to: number | undefined): string {
  const hash = createHash("sha256");
  const add = (...texts: readonly (string | Buffer)[]) => {
    for (const one of texts) hash.update(`${one.length}:`).update(one);
  };
  add(thisRunner().tool, engineVersion(), process.version, config.ledger, JSON.stringify([settings, to ?? null]));
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).toSorted()) {
    const path = join(folder, name);
    if (statSync(path).isFile()) add(name, readFileSync(path));
  }
  return hash.digest("hex").slice(0, 32);
}

/** Templates that this process is making. */
const underWay = new Map<string, Promise<string>>();

/** The template, which is complete if it exists, also while another process makes it. */
async function templateAt(path: string, make: (folder: string) => Promise<void>): Promise<string> {
  if (existsSync(path)) {
    const now = new Date();
    await utimes(path, now, now);
    return path;
  }
  const making = underWay.get(path) ?? makeTemplate(path, make).finally(() => underWay.delete(path));
  underWay.set(path, making);
  return await making;
}

async function makeTemplate(path: string, make: (folder: string) => Promise<void>): Promise<string> {
  const folder = `${path}-${randomUUID()}`;
  mkdirSync(folder);
  try {
    await make(folder);
    move(folder, path);
  } catch (error) {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    // Another process was faster.
    if (!existsSync(path)) throw error;
  }
  return path;
}

const week = 7 * 24 * 3600 * 1000;

/** Removes the templates that nobody has used for a week. */
async function removeOld(home: string): Promise<void> {
  const paths = readdirSync(home).map((name) => join(home, name));
  const old = paths.filter(
    (path) => (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) < Date.now() - week,
  );
  await Promise.all(old.map(async (path) => await rm(path, { recursive: true, force: true })));
}
