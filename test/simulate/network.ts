/** The way between a machine and the tables: requests and answers that get lost, take long, or come in another order. */
import { MigrateError } from "../../src/errors/migrate-error.ts";
import type { Action, ActionKind } from "../../src/actions/model/action.ts";
import type { Carry, Model } from "./target/carry.ts";
import { readsRows } from "./target/stale-handles.ts";
import type { Cut } from "./draw-faults.ts";
import type { Chance } from "./seeded-random.ts";
import type { Machine } from "./machine.ts";
import type { Watcher } from "./observer.ts";
import type { World } from "./virtual-time.ts";

/** How likely each trouble is, for one request. */
export interface Weather {
  /** The request never reaches the tables. */
  readonly lost: number;
  /** They act, and the answer never reaches the machine. */
  readonly answerLost: number;
  /** Throttled: 429, with a pause. */
  readonly throttled: number;
  /** Refused because another writer came first, though none did. */
  readonly conflict: number;
  /** Somebody's append comes first, where appends are not kept out. */
  readonly crowded: number;
  /** 5xx, before or after acting. */
  readonly failing: number;
  /** The way there, the work there or the way back takes up to a quarter of the lease. */
  readonly slow: number;
  /** An action on rows takes up to three leases, as a retype of a large table does. */
  readonly long: number;
}

export interface NetworkOptions {
  readonly world: World;
  readonly chance: Chance;
  readonly model: Model;
  readonly weather: Weather;
  /** Milliseconds of the lease, by which what is long is measured. */
  readonly lease: number;
  /** Milliseconds after which a machine no longer waits for an answer. */
  readonly limit: number;
  /** Whether the data stands in an action's way. */
  readonly refuses: (action: Action) => boolean;
  /** Whether it can't be done on a table to which somebody appends meanwhile. */
  readonly meetsAppends: (action: Action) => boolean;
  /** Told when somebody decides to send an action; gives who is told when that reaches the tables. */
  readonly decided: (action: Action) => () => Call;
  readonly cut: Cut;
  readonly watcher: Watcher;
}

/** What becomes of an action that has reached the tables. */
export interface Call {
  /** Right before it takes effect, and right after. */
  ends(): void;
  /** Whether its sender waits for it no more. */
  done(isGivenUp: boolean): void;
}

/** The others just write what a table is, in no time. */
const onRows: ReadonlySet<ActionKind> = new Set([
  "addColumns",
  "alterColumns",
  "createIndex",
  "deleteRows",
  "insertRows",
  "refreshColumn",
  "updateRows",
]);

/** A rename just writes what a table is. */
function takesLong(action: Action): boolean {
  return onRows.has(action.kind) && readsRows(action);
}

export function carryFor(machine: Machine, options: NetworkOptions): Carry {
  const { world, chance, model, weather, lease, limit, refuses, meetsAppends, decided, cut, watcher } = options;
  const { tell, count } = watcher;
  const troubled = (trouble: Exclude<keyof Weather, "slow" | "long">) => {
    const happens = chance.happens(weather[trouble]);
    if (happens) count(trouble);
    return happens;
  };
  const isEmbedded = model === "embedded";
  const leg = () => (chance.happens(weather.slow) ? chance.between(0, lease / 4) : chance.between(0.1, 10));
  const work = (action: Action | undefined) => {
    if (action !== undefined && takesLong(action) && chance.happens(weather.long)) return chance.between(0, 3 * lease);
    return chance.happens(weather.slow) ? chance.between(0, lease / 4) : chance.between(0.1, 20);
  };
  const unanswered = (what: string) =>
    isEmbedded
      ? new Error(`input/output error: ${what}`)
      : new MigrateError("ERR_TARGET_UNREACHABLE", { target: machine.name, problem: `no answer to: ${what}` });
  const answered = (status: number, what: string, problem: string, more: { conflict?: boolean; pause?: number } = {}) =>
    new MigrateError("ERR_ANSWER", { target: machine.name, request: what, status, problem, ...more });

  const failed = (what: string, when: string) =>
    isEmbedded ? new Error(`panicked ${when}: ${what}`) : answered(500, what, when);
  // An engine in the same process stands still with it, and dies with it.
  const here = isEmbedded ? machine.hear : (work: () => void) => work();

  return <Result>({ what, action, arrive, changes, records }: Parameters<Carry>[0]) =>
    new Promise<Result>((resolve, reject) => {
      const arrived = action && decided(action);
      let settled = false;
      const hear = (settle: () => void, said: string) =>
        machine.hear(
          () => {
            if (settled) return;
            settled = true;
            tell(() => `${machine.name} <- ${what}: ${said}`);
            settle();
          },
          changes === true || action !== undefined ? "answers" : records === true ? "recorded" : undefined,
        );
      const fail = (problem: () => Error, delay: number) =>
        world.after(delay, () => {
          if (settled) return;
          const error = problem();
          hear(() => reject(error), error.message);
        });

      const send = () => {
        tell(() => `${machine.name} -> ${what}`);
        // An engine in the same process always ends its call.
        if (!isEmbedded) fail(() => unanswered(what), limit);
        if (troubled("lost")) {
          // Cut at once, or never heard of again.
          if (isEmbedded || chance.happens(0.7)) fail(() => unanswered(what), leg());
          return;
        }
        const left = action && cut(action);
        if (left === undefined) return world.after(leg(), reach);
        count("answerLost");
        fail(() => unanswered(what), 0);
        world.after(left, () => reach(true));
      };
      const reach = (isCut = false) => {
        if (!isEmbedded && troubled("throttled"))
          return fail(() => answered(429, what, "slow down", { pause: chance.between(0, 2_000) }), leg());
        if (action !== undefined && (troubled("conflict") || (meetsAppends(action) && troubled("crowded"))))
          return fail(() => answered(409, what, "another writer came first", { conflict: true }), leg());
        const failing = troubled("failing");
        if (failing && chance.happens(0.5)) return fail(() => failed(what, "before it acted"), leg());
        if (action !== undefined && refuses(action))
          return fail(() => answered(400, what, "the data stands in its way"), leg());
        const call = arrived?.();
        const end = (arrive as () => () => Result)();
        world.after(isCut ? 0 : work(action), () => here(() => finish(end, call, failing)));
      };
      const finish = (end: () => Result, call: Call | undefined, failing: boolean) => {
        let result: Result;
        call?.ends();
        try {
          result = end();
        } catch (error) {
          return fail(() => error as Error, leg());
        }
        tell(() => `   ${machine.name}: ${what} is done`);
        call?.done(settled);
        if (failing) return fail(() => failed(what, "after it acted"), leg());
        if (troubled("answerLost")) {
          if (isEmbedded || chance.happens(0.7)) fail(() => unanswered(what), leg());
          return;
        }
        world.after(leg(), () => hear(() => resolve(result), "ok"));
      };
      // It may be stopped between the decision and the call.
      world.after(0, () => machine.hear(send, action ? "actions" : records === true ? "records" : undefined));
    });
}
