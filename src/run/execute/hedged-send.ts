/**
 * A call that an engine tries again and again by itself because others' commits come first: with each of its tries it is
 * further behind. The same call from what the table is now comes first more often than not, so it is sent beside.
 */
import type { Clock } from "../../time/clock.ts";
import type { Action } from "../../actions/model/action.ts";
import type { TableSnapshot } from "../../targets/contract/target.ts";
import { attempt, type Acting, type Called, type Calling } from "./send-action.ts";

/** A call that nobody comes before takes some 10 ms in a folder. Where it takes longer than this, the second is refused. */
const pause = 1_000;
/** Then the engine is left to give up by itself. */
const mostCalls = 10;

/**
 * As `attempt`. Of several calls one takes effect, for the engine refuses the others once it has; they are left in
 * `pending`. `stillThere` looks once more and gives what it sees, or undefined where the call is not to be sent any more;
 * after it nothing is awaited.
 */
export async function attemptHedged(
  action: Action,
  seen: TableSnapshot | undefined,
  acting: Calling & Pick<Acting, "clock" | "pending">,
  stillThere: () => Promise<TableSnapshot | undefined>,
): Promise<Called> {
  const { target, clock, pending } = acting;
  const calls = [attempt(action, seen, acting)];
  if (!isMomentary(action) || !target.capabilities.fences) return await firstGood(calls);
  while (calls.length < mostCalls) {
    const ended = firstGood(calls);
    if (!(await isSlow(ended, clock))) break;
    // A look that fails or takes long is no reason to wait for no answer any more.
    const sight = await Promise.race([ended.then(() => undefined), stillThere().catch(() => undefined)]);
    if (sight === undefined) break;
    calls.push(attempt(action, sight, acting));
  }
  pending.push(...calls);
  return await firstGood(calls);
}

async function isSlow(ended: Promise<unknown>, clock: Clock): Promise<boolean> {
  const waiting = new AbortController();
  const waited = clock.sleep(pause, waiting.signal).then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([ended.then(() => false), waited]);
  } finally {
    // A process does not end before its timers.
    waiting.abort();
  }
}

/** What changes names only, or drops columns; a cast would be worked out twice, and "not null" be looked for. */
function isMomentary(action: Action): boolean {
  if (action.kind !== "alterColumns") return action.kind === "dropColumns";
  return action.alterations.every(({ type, nullable }) => type === undefined && nullable === undefined);
}

/** The first that was answered well; when all have failed, a failure, if there is one of another kind than a conflict. */
async function firstGood(calls: readonly Promise<Called>[]): Promise<Called> {
  return await new Promise((resolve, reject) => {
    const failed: Called[] = [];
    for (const call of calls)
      call.then((called) => {
        if (called.failure === undefined) return resolve(called);
        failed.push(called);
        if (failed.length === calls.length)
          resolve(failed.find(({ failure }) => failure!.kind !== "conflict") ?? called);
      }, reject);
  });
}
