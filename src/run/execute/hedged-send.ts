/**
 * Repeats a call in parallel while the engine itself keeps retrying it because others' commits come first. Each try of
 * the engine takes longer than the one before. The same call on a new snapshot usually succeeds sooner.
 */
import type { Clock } from "../../time/clock.ts";
import type { Action } from "../../actions/model/action.ts";
import type { TableSnapshot, Target } from "../../targets/contract/target.ts";
import { sendAction, type ActionContext, type CallResult, type CallContext } from "./send-action.ts";

/**
 * Milliseconds after which a call is sent once more. A call without competitors takes about 10 ms in a folder. If one
 * takes longer than this, the second call is refused.
 */
const pause = 1_000;
/** After this many calls, the run waits until the engine gives up. */
const mostCalls = 10;

/** Whether the action is sent by `sendHedged`: a second call beside it would be refused, and repeat no work. */
export function mayBeHedged(action: Action, { capabilities }: Target): boolean {
  return isMomentary(action) && capabilities.fences;
}

/**
 * As `sendAction`. At most one of the calls takes effect, because the engine then refuses the others; they are left in
 * `pending`. `stillThere` describes the table again, or returns undefined if the call must not be sent any more.
 * Nothing is awaited between it and the call.
 */
export async function sendHedged(
  action: Action,
  seen: TableSnapshot | undefined,
  context: CallContext & Pick<ActionContext, "clock" | "pending">,
  stillThere: () => Promise<TableSnapshot | undefined>,
): Promise<CallResult> {
  const { clock, pending } = context;
  const calls = [sendAction(action, seen, context)];
  while (calls.length < mostCalls) {
    const ended = firstGood(calls);
    if (!(await isSlow(ended, clock))) break;
    // A description that fails or takes long must not delay an answer.
    const snapshot = await Promise.race([ended.then(() => undefined), stillThere().catch(() => undefined)]);
    if (snapshot === undefined) break;
    calls.push(sendAction(action, snapshot, context));
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
    // A pending timer would keep the process alive.
    waiting.abort();
  }
}

/** Whether the action only renames or drops columns. Otherwise a second call would repeat a cast or look for nulls. */
function isMomentary(action: Action): boolean {
  if (action.kind !== "alterColumns") return action.kind === "dropColumns";
  return action.alterations.every(({ type, nullable }) => type === undefined && nullable === undefined);
}

/** The first call that succeeds. If all fail, one that failed for another reason than a conflict, if there is one. */
async function firstGood(calls: readonly Promise<CallResult>[]): Promise<CallResult> {
  return await new Promise((resolve, reject) => {
    const failed: CallResult[] = [];
    for (const call of calls)
      call.then((called) => {
        if (called.failure === undefined) return resolve(called);
        failed.push(called);
        if (failed.length === calls.length)
          resolve(failed.find(({ failure }) => failure!.kind !== "conflict") ?? called);
      }, reject);
  });
}
