/** Ends a command from outside: Ctrl-C, SIGTERM, SIGHUP, --timeout, and errors that nothing catches. */
import { firstLine, interruptedEarly, isMigrateError, MigrateError } from "../errors/migrate-error.ts";
import type { Command, Context } from "../cli/command/command.ts";
import { endProcess } from "./end-process.ts";
import type { CommandResult } from "../cli/command/exit-code.ts";

/** Milliseconds in which a command with no work in progress may end by itself. */
const grace = 2_000;
/** Milliseconds in which work in progress may reach a safe point after an error, since the error may be why it never will. */
const graceOfWork = 30_000;

// Windows has no SIGTERM: a program that ends another one politely sends what Ctrl-Break sends.
const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"] as const;

/** An error that ends the command. `done`: what the command had done until then, if it could still state it. */
export type Fatal = (done?: string) => MigrateError;

/**
 * The first Ctrl-C, --timeout or a fatal error stops the command at its next safe point. With no work in progress, that
 * is any point, even while it waits for an answer that never comes. The second Ctrl-C stops it at once. `onFatal`: gets
 * what to call with fatal errors, and undefined when the command has ended.
 */
export async function interruptible(
  { output, ...context }: Omit<Context, "signal" | "underWay">,
  command: Command,
  onFatal: (stopWith: ((fatal: Fatal) => void) | undefined) => void,
): Promise<CommandResult> {
  const { timeout } = context.flags;
  const { stopping = "stopping" } = command;
  const controller = new AbortController();
  let underWay = false;
  let signalled = false;
  let overdue: number | undefined;
  let fatal: Fatal | undefined;
  const timers: NodeJS.Timeout[] = [];
  const ended = Promise.withResolvers<never>();
  const stop = () => {
    controller.abort();
    timers.push(setTimeout(() => underWay || ended.reject(interruptedEarly()), grace));
  };
  const onSignal = (signal: NodeJS.Signals) => {
    // When a terminal is closed, the kernel and the shell each send one.
    if (signalled && signal === "SIGHUP") return;
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
  const stopWith = (error: Fatal) => {
    if (fatal !== undefined) return;
    fatal = error;
    stop();
    timers.push(setTimeout(() => ended.reject(stuck()), graceOfWork));
  };
  if (timeout !== undefined) timers.push(setTimeout(onTime, timeout * 1000));
  for (const signal of signals) process.on(signal, onSignal);
  onFatal(stopWith);
  const run = command.run({ ...context, output, signal: controller.signal, underWay: (yes) => (underWay = yes) });
  const [outcome] = await Promise.allSettled([Promise.race([run, ended.promise])]);
  onFatal(undefined);
  for (const signal of signals) process.off(signal, onSignal);
  timers.forEach(clearTimeout);
  if (outcome.status === "fulfilled" && fatal === undefined) return outcome.value;
  const error: unknown = outcome.status === "fulfilled" ? undefined : outcome.reason;
  // A run knows only that it must stop, and not why.
  const done = isMigrateError(error, "ERR_INTERRUPTED") ? error.details.done : undefined;
  if (fatal === undefined) {
    if (done === undefined || overdue === undefined) throw error;
    throw new MigrateError("ERR_TIMEOUT", { seconds: overdue, done });
  }
  // What went wrong in a run is stated beside what has stopped it.
  if (underWay && error !== undefined && done === undefined) output.problem(firstLine(error));
  throw (fatal as Fatal)(done);
}

function stuck(): MigrateError {
  const done = `no safe point was reached in ${graceOfWork / 1_000} seconds; run the command again: it finds out what was done`;
  return new MigrateError("ERR_INTERRUPTED", { done });
}
