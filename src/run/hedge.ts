/**
 * A call that an engine tries again and again by itself because others' commits come first: with each of its tries it is
 * further behind. The same call from what the table is now comes first more often than not, so it is sent beside.
 */
import type { Action } from "../schema/action.ts";
import { isFenced, type Sight } from "../targets/target.ts";
import { attempt, type Acting, type Calling, type Failure } from "./attempt.ts";

/** An engine that is alone needs some 10 ms in a folder, and a second at most on an object store. */
const pause = 500;
/** Then the engine is left to give up by itself, which it does after 30 s. */
const mostCalls = 10;

/**
 * As `attempt`. Of several calls one takes effect, for the engine refuses the others once it has. `stillThere` looks once
 * more and gives what it sees, or undefined where the call is not to be sent any more; after it nothing is awaited.
 */
export async function attemptHedged(
  action: Action,
  seen: Sight | undefined,
  acting: Calling & Pick<Acting, "clock">,
  stillThere: () => Promise<Sight | undefined>,
): Promise<Failure | undefined> {
  const { target, clock } = acting;
  const calls = [attempt(action, seen, acting)];
  if (!isMomentary(action) || !isFenced(action.kind, target.capabilities)) return await firstGood(calls);
  while (calls.length < mostCalls) {
    const isSlow = await Promise.race([firstGood(calls).then(() => false), clock.sleep(pause).then(() => true)]);
    const sight = isSlow ? await stillThere() : undefined;
    if (sight === undefined) break;
    calls.push(attempt(action, sight, acting));
  }
  return await firstGood(calls);
}

/** What changes names only; all else would be worked out twice. */
function isMomentary(action: Action): boolean {
  if (action.kind !== "alterColumns") return action.kind === "dropColumns";
  return action.alterations.every(({ type, nullable }) => type === undefined && nullable === undefined);
}

/** Undefined as soon as one was answered well, else the failure of the last that ended. */
async function firstGood(calls: readonly Promise<Failure | undefined>[]): Promise<Failure | undefined> {
  return await new Promise((resolve, reject) => {
    let left = calls.length;
    for (const call of calls)
      call.then((failure) => {
        if (failure === undefined || --left === 0) resolve(failure);
      }, reject);
  });
}
