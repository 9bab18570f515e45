/** The functions of the configuration that a run calls before and after its migrations. */
import { firstLine, linesWithCause, MigrateError, someOf } from "../errors/migrate-error.ts";
import { formatMigration, type MigrationName } from "../migrations/file-name.ts";
import { settled } from "../migrations/evaluate.ts";
import type { Direction } from "../plan/compile/compile.ts";
import type { Clock } from "../time/clock.ts";
import type { Emit, RunEvent } from "./events.ts";

/** Published in docs/hooks.md. Each is awaited. */
export interface Hooks {
  /**
   * Called when the run has something to do, before anything changes. If it throws, the run ends and changes nothing.
   */
  readonly beforeRun?: (run: HookRun) => unknown;
  /** Called at the end of a run whose `beforeRun` has returned, also if the run has failed. */
  readonly afterRun?: (run: EndedRun) => unknown;
  /** If it throws, the run ends before this migration. */
  readonly beforeMigration?: (migration: HookMigration) => unknown;
  /** Called when the migration is recorded as applied or rolled back. If it throws, the run ends after this migration. */
  readonly afterMigration?: (migration: EndedMigration) => unknown;
}

interface HookPlace {
  /** The target's name in the configuration. */
  readonly target: string;
  /** The database, if the target has several. */
  readonly database?: string | undefined;
  readonly direction: Direction;
  /** Aborted when the run has been asked to stop. */
  readonly signal?: AbortSignal | undefined;
}

export interface HookRun extends HookPlace {
  /** In the order in which they run. */
  readonly migrations: readonly MigrationName[];
}

export interface EndedRun extends HookRun {
  /** The migrations that this run applied or rolled back completely. */
  readonly ended: readonly MigrationName[];
  /** Milliseconds, without the time of the hooks before and after the run. */
  readonly duration: number;
  /** Why the run ended early. */
  readonly error?: Error | undefined;
}

export interface HookMigration extends HookPlace, MigrationName {}

export interface EndedMigration extends HookMigration {
  /** Milliseconds. */
  readonly duration: number;
}

/** The hooks of a configuration, and where they are called. */
export interface PlacedHooks extends Pick<HookPlace, "target" | "database"> {
  readonly hooks: Hooks;
}

/** Whether each migration must run on its own, so that a hook can come between two of them. */
export function needsEachMigration(placed: PlacedHooks | undefined): boolean {
  const { beforeMigration, afterMigration } = placed?.hooks ?? {};
  return beforeMigration !== undefined || afterMigration !== undefined;
}

/** The hooks of one run. */
export interface RunHooks {
  /** Does the work between `beforeRun` and `afterRun`. Throws ERR_HOOK_REFUSED, ERR_HOOK_FAILED. */
  around<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Throws ERR_HOOK_REFUSED. */
  before(migration: MigrationName): Promise<void>;
  /** Throws ERR_HOOK_FAILED. */
  after(migrations: readonly Pick<EndedMigration, "version" | "name" | "duration">[]): Promise<void>;
}

interface HookContext {
  readonly hooks?: PlacedHooks | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly clock: Clock;
  readonly emit: Emit;
}

/** `migrations`: those of the run, in their order. */
export function hooksOf(
  { hooks: placed, signal, clock, emit }: HookContext,
  direction: Direction,
  migrations: readonly MigrationName[],
): RunHooks | undefined {
  if (placed === undefined || migrations.length === 0) return undefined;
  const { hooks, target, database } = placed;
  const place: HookPlace = { target, ...(database !== undefined && { database }), direction, signal };
  const ended: MigrationName[] = [];
  /** A hook that has ended because the run was asked to stop. */
  const interrupted = (problem: string) => {
    const done = ended.length === 0 ? "nothing" : someOf(ended.map(formatMigration));
    const verb = direction === "up" ? "applied" : "rolled back";
    return new MigrateError("ERR_INTERRUPTED", {
      done: `this run has ${verb} ${done} (a hook ended with: ${problem}); run migrate ${direction} to continue`,
    });
  };
  /** Calls a hook. `migration`: the one that it is about, if any. */
  const calling = async (
    code: "ERR_HOOK_REFUSED" | "ERR_HOOK_FAILED",
    hook: keyof Hooks,
    call: () => unknown,
    migration?: MigrationName,
  ) => {
    try {
      await settled(async () => await call(), Infinity);
    } catch (cause) {
      if (signal?.aborted === true && hook !== "afterRun") throw interrupted(linesWithCause(cause));
      const about = migration === undefined ? {} : { migration: formatMigration(migration) };
      const left = migrations.length - ended.length;
      const details = {
        hook,
        problem: linesWithCause(cause),
        direction,
        ended: ended.map(formatMigration),
        left,
        ...about,
      };
      throw new MigrateError(code, details, { cause });
    }
  };
  const afterRun = async (duration: number, error?: Error) => {
    const run = { ...place, migrations, ended: [...ended], duration, ...(error !== undefined && { error }) };
    await calling("ERR_HOOK_FAILED", "afterRun", () => hooks.afterRun?.(run));
  };
  return {
    async around(work) {
      await calling("ERR_HOOK_REFUSED", "beforeRun", () => hooks.beforeRun?.({ ...place, migrations }));
      const started = clock.steady();
      const duration = () => Math.round(clock.steady() - started);
      let result;
      try {
        result = await work();
      } catch (error) {
        // The run's own error is the one to throw.
        await afterRun(duration(), error as Error).catch((failed: unknown) => emit(hookFailedEvent(failed)));
        throw error;
      }
      await afterRun(duration());
      return result;
    },
    async before({ version, name }) {
      const migration = { version, name };
      const call = () => hooks.beforeMigration?.({ ...place, ...migration });
      // Refused means that nothing was changed.
      const code = ended.length === 0 ? "ERR_HOOK_REFUSED" : "ERR_HOOK_FAILED";
      await calling(code, "beforeMigration", call, migration);
    },
    async after(migrations) {
      // Those of a group are applied together, whatever a hook does.
      ended.push(...migrations.map(({ version, name }) => ({ version, name })));
      const calls = await Promise.allSettled(
        migrations.map(async (one) => {
          await calling("ERR_HOOK_FAILED", "afterMigration", () => hooks.afterMigration?.({ ...place, ...one }), one);
        }),
      );
      const failed = calls.find((call) => call.status === "rejected");
      if (failed !== undefined) throw failed.reason;
    },
  };
}

/** A hook has failed after the run had failed for another reason, which is the one that is thrown. */
export function hookFailedEvent(error: unknown): RunEvent {
  return { event: "hookFailed", problem: firstLine(error) };
}
