/** Migrations up and down on an object store whose requests meet drawn faults. */
import { expect } from "vitest";
import type { Chance } from "../simulate/seeded-random.ts";
import { leaping, type Environment, type Finished } from "../support/project.ts";
import { aProxy, type Fate, type Proxy } from "../support/proxy.ts";
import type { Store } from "../support/stores/store.ts";
import {
  afterAllOfThem,
  afterFew,
  aProjectIn,
  contentOf,
  requireMigrated,
  writeAll,
  writeFew,
  type StoreProject,
} from "./scene.ts";

/** An answer of a store as it refuses or fails. */
export function answerOf(status: number, code: string): Fate {
  return { status, body: `<Error><Code>${code}</Code></Error>` };
}

export const conflict = answerOf(409, "ConditionalRequestConflict");

const fates = {
  lost: "lost",
  reset: "unsent",
  cut: "cut",
  "500": answerOf(500, "InternalError"),
  "503": answerOf(503, "SlowDown"),
  conflict,
  "expired token": answerOf(400, "ExpiredToken"),
  "403": answerOf(403, "AccessDenied"),
} as const satisfies Readonly<Record<string, Fate>>;

interface Fault {
  /** The run's request, counted from 1. */
  readonly at: number;
  readonly kind: keyof typeof fates | "killed";
  /** How many requests meet it. */
  readonly length: number;
}

const kinds = [...Object.keys(fates), "killed"] as readonly Fault["kind"][];

/** A run makes about 250 requests. */
function drawnFaults(chance: Chance): readonly Fault[] {
  return Array.from({ length: 1 + chance.below(4) }, () => {
    const kind = chance.pick(kinds);
    // A token that has expired stays so.
    const length = kind === "expired token" || chance.next() < 0.2 ? Infinity : 1 + chance.below(3);
    return { at: Math.ceil(250 * chance.next()), kind, length };
  });
}

/** From which migration on the requests of runs meet faults, and what the tables hold before it and after all. */
const scenes = [
  { write: writeFew, from: 0, before: {}, after: afterFew },
  { write: writeAll, from: 3, before: afterFew, after: afterAllOfThem },
] as const;

/** Runs migrations up and back, each time under faults until a last time without. */
export async function tryWithFaults(store: Store, chance: Chance): Promise<void> {
  const { write, from, before, after } = chance.pick(scenes);
  const proxy = await aProxy(new URL(store.endpoint).origin);
  const client_max_retries = chance.pick(["0", "1", "3"]);
  const project = aProjectIn(store, { options: { ...store.through(proxy.url), client_max_retries } });
  const clock = leaping();
  write(project);
  if (from > 0) await project.run("up", "--to", String(from));
  const said: string[] = [`client_max_retries: ${client_max_retries}`];
  const through = async (...command: readonly string[]) => {
    const args = [...command];
    for (let runs = 1 + chance.below(2); runs > 0; runs--) {
      const faults = drawnFaults(chance);
      const ended = await underFaults(project, proxy, args, faults, clock);
      const last = ended.stderr.trim().split("\n").at(-1)!;
      said.push(`${args.join(" ")} under ${JSON.stringify(faults)}: ${ended.code}, ${last}`);
      if (isUnknown(ended)) {
        args.push("--accept", "lossy");
        continue;
      }
      expect([0, 6, null], said.join("\n")).toContain(ended.code);
      if (ended.code === 6) expect(last, said.join("\n")).toMatch(/^target store can't be reached: /);
    }
    proxy.fate = () => "passes";
    let ended = await project.migrate(args, clock);
    if (isUnknown(ended)) ended = await project.migrate([...args, "--accept", "lossy"], clock);
    expect(ended.code, [...said, ended.stderr].join("\n")).toBe(0);
  };
  try {
    await through("up");
    await requireMigrated(store, project, after);
    await through("down", "--to", String(from));
    expect(await contentOf(store, project.uri)).toEqual(before);
    await project.run("verify");
    await project.run("verify", "--ledger");
  } catch (error) {
    throw new Error(said.join("\n"), { cause: error });
  }
}

/** After a kill, nothing shows that no one else has written, so `down` needs consent. */
function isUnknown({ code, stderr }: Finished): boolean {
  return code === 4 && /it is unknown what was written|an unknown number was written since/.test(stderr);
}

async function underFaults(
  project: StoreProject,
  proxy: Proxy,
  args: readonly string[],
  faults: readonly Fault[],
  clock: Environment,
): Promise<Finished> {
  let requests = 0;
  const found = () => {
    requests++;
    return faults.find(({ at, length }) => requests >= at && requests < at + length)?.kind;
  };
  if (!faults.some(({ kind }) => kind === "killed")) {
    proxy.fate = () => fates[(found() ?? "") as keyof typeof fates] ?? "passes";
    return await project.migrate(args, clock);
  }
  const { process, finished } = project.start(args, clock);
  proxy.fate = () => {
    const kind = found();
    if (kind === "killed") process.kill("SIGKILL");
    return kind === undefined ? "passes" : kind === "killed" ? "unsent" : fates[kind];
  };
  return await finished;
}
