/** The package manager of a project, and its commands. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface PackageManager {
  readonly name: string;
  readonly locks: readonly string[];
  /** The command that installs packages, without their names. */
  readonly add: string;
  /** What a package's name begins with there. */
  readonly prefix?: string;
  /** The command that runs `migrate`, without its arguments. */
  readonly run: string;
  /** The same where no person answers, if it differs: without downloading a package of that name. */
  readonly runInCi?: string;
  /** The command that installs all packages as they are locked. */
  readonly install: string;
}

const managers: readonly PackageManager[] = [
  {
    name: "npm",
    locks: ["package-lock.json"],
    add: "npm install",
    run: "npx migrate",
    runInCi: "npx --no migrate",
    install: "npm ci",
  },
  {
    name: "pnpm",
    locks: ["pnpm-lock.yaml"],
    add: "pnpm add",
    run: "pnpm exec migrate",
    install: "pnpm install --frozen-lockfile",
  },
  {
    name: "yarn",
    locks: ["yarn.lock"],
    add: "yarn add",
    run: "yarn migrate",
    install: "yarn install --frozen-lockfile",
  },
  {
    name: "bun",
    locks: ["bun.lock", "bun.lockb"],
    add: "bun add",
    run: "bun run migrate",
    install: "bun install --frozen-lockfile",
  },
  {
    name: "deno",
    locks: ["deno.lock", "deno.json", "deno.jsonc"],
    add: "deno add",
    prefix: "npm:",
    run: "deno run -A npm:lance-migrate/migrate",
    install: "deno install --frozen",
  },
];

/** The one whose lock file is nearest, or that package.json names, or that has started this process; npm otherwise. */
export function packageManagerOf(folder: string): PackageManager {
  const found = foldersAbove(folder).flatMap((one) => managerIn(one) ?? [])[0];
  return found ?? managerNamed(process.env["npm_config_user_agent"]) ?? managers[0]!;
}

function managerIn(folder: string): PackageManager | undefined {
  const locked = managers.find(({ locks }) => locks.some((lock) => existsSync(join(folder, lock))));
  return locked ?? managerNamed(packageAt(folder)?.packageManager);
}

/** `text`: such as "pnpm@10.1.0", or "bun/1.4.5 npm/? node/v24". */
function managerNamed(text: unknown): PackageManager | undefined {
  return managers.find(({ name }) => typeof text === "string" && new RegExp(`^${name}[@/]`).test(text));
}

interface Package {
  readonly type?: unknown;
  readonly packageManager?: unknown;
  readonly dependencies?: Readonly<Record<string, unknown>>;
  readonly devDependencies?: Readonly<Record<string, unknown>>;
}

/** Undefined if the file is missing or holds no object. */
export function packageAt(folder: string): Package | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The folder, and those that it is in. */
export function foldersAbove(folder: string): readonly string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersAbove(parent)];
}
