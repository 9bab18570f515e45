/**
 * What some tests need that not every machine has, or that takes minutes. `test.skipIf(lacks(…))` is the only way to skip a
 * test: it prints the reason, and throws where the variable of the need is 1. Every night all of these variables are 1, so
 * no test is skipped everywhere; test/unit/needs.test.ts checks both.
 */
import { spawnSync } from "node:child_process";

interface Description {
  readonly what: string;
  /** Only where it is asked for, because it takes minutes. */
  readonly onRequest?: true;
  readonly command?: string;
}

const descriptions = {
  long: { what: "several minutes each", onRequest: true },
  python: { what: "Python packages, which the tests install", onRequest: true },
  ray: { what: "Ray, which the tests install (300 MB)", onRequest: true },
  model: { what: "an embedding model, which the test downloads (110 MB)", onRequest: true },
  stores: { what: "servers for S3 and Azure, which the tests install" },
  managers: { what: "pnpm, Bun and Yarn, which the tests install", onRequest: true },
  containers: { what: "a container engine" },
  chromium: { what: "Chromium or Chrome" },
  terminal: { what: "`script` of util-linux", command: "script" },
  zsh: { what: "zsh", command: "zsh" },
  fish: { what: "fish", command: "fish" },
  old_node: { what: "a Node older than 22.19 in `PATH`" },
  disk: { what: "mounting a small disk, as root or with `sudo`" },
  user: { what: "a user besides root who can read the repository" },
} satisfies Readonly<Record<string, Description>>;

export type Need = keyof typeof descriptions;
export const needs: ReadonlyMap<Need, Description> = new Map(Object.entries(descriptions) as [Need, Description][]);

export function variableOf(need: Need): string {
  return need === "long" ? "MIGRATE_LONG" : `REQUIRE_${need.toUpperCase()}`;
}

/** Whether tests with this need are skipped. `missing`: why it is not there, if the need does not know that itself. */
export function lacks(need: Need, missing?: string): boolean {
  const variable = variableOf(need);
  const isRequired = process.env[variable] === "1";
  const why = missing ?? whyMissing(needs.get(need)!, isRequired, variable);
  if (why === undefined) return false;
  if (isRequired) throw new Error(`${variable}=1, but ${why}`);
  console.warn(`skipped: ${why}`);
  return true;
}

function whyMissing({ what, command, onRequest }: Description, isRequired: boolean, variable: string) {
  if (onRequest && !isRequired) return `it needs ${what}; set ${variable}=1`;
  if (command === undefined || spawnSync(command, ["--version"]).status === 0) return undefined;
  return `there is no command ${command}`;
}
