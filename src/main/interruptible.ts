/** Ends a command from outside: Ctrl-C, SIGTERM, --timeout. */
import { interruptedEarly, isMigrateError, MigrateError } from "../errors/migrate-error.ts";
import type { Command, Context } from "../cli/command/command.ts";
import { endProcess } from "./end-process.ts";
import type { CommandResult } from "../cli/command/exit-code.ts";

/** Milliseconds in which a command with no work in progress may end by itself. */
const grace = 2_000;

/**
 * The first Ctrl-C, or --timeout, stops the command at its next safe point. With no work in progress, that is any
 * point, even while it waits for an answer that never comes. The second Ctrl-C stops it at once.
 */
export async function interruptible(
  { output, ...context }: Omit<Context, "signal" | "underWay">,
  command: Command,
): Promise<CommandResult> {
  const { timeout } = context.flags;
  const { stopping = "stopping" } = command;
  const controller = new AbortController();
  let underWay = false;
  let signalled = false;
  let overdue: number | undefined;
  const timers: NodeJS.Timeout[] = [];
  const ended = Promise.withResolvers<never>();
  const stop = () => {
    controller.abort();
    timers.push(setTimeout(() => underWay || ended.reject(interruptedEarly()), grace));
  };
  const onSignal = () => {
    if (signalled) endProcess(130);
    signalled = true;
    output.problem(`${stopping}; interrupt again to stop at once`);
    stop();
  };
  const onTime = () => {
    if (controller.signal.aborted) return;
    if (underWay) output.problem(`--timeout ${timeout} has passed: ${stopping}`);
    overdue = timeout;
    stop();
  };
  if (timeout !== undefined) timers.push(setTimeout(onTime, timeout * 1000));
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  try {
    const run = command.run({ ...context, output, signal: controller.signal, underWay: (yes) => (underWay = yes) });
    return await Promise.race([run, ended.promise]);
  } catch (error) {
    // A run knows only that it must stop, and not why.
    if (overdue === undefined || !isMigrateError(error, "ERR_INTERRUPTED")) throw error;
    throw new MigrateError("ERR_TIMEOUT", { seconds: overdue, ...error.details });
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    timers.forEach(clearTimeout);
  }
}
