/** Only the command itself ends its process. */
let exit: (...code: readonly number[]) => void = process.exit;

/**
 * Code of the project that calls `process.exit` gets an error: it would end a run in the middle, and with success if it
 * gives 0.
 */
export function keepExit(): void {
  exit = process.exit.bind(process);
  process.exit = ((code?: number | string | null): never => {
    throw new Error(`process.exit(${code ?? ""}) would end migrate in the middle of its work; throw an error instead`);
  }) as typeof process.exit;
}

/** Without a code, that of `process.exitCode`. */
export function endProcess(...code: readonly [number] | readonly []): void {
  exit(...code);
}
