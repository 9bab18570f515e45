/** Prints results to stdout, and progress and errors to stderr. */
import { styleText } from "node:util";
import { bytesWithoutKnownSecrets, cleaned, withoutKnownSecrets } from "../../secrets/redact.ts";

type Style = Parameters<typeof styleText>[0];

export interface Output {
  readonly json: boolean;
  readonly verbose: boolean;
  /** A line of the result, for people. Silent under --json. */
  result(line: string): void;
  /** A part of the result for programs: one document, or one event per line. Silent without --json. */
  data(value: unknown): void;
  /** A line of progress. Silent under --quiet and --json. */
  progress(line: string): void;
  /** A line that the next line of progress replaces. Only on a terminal. */
  passing(line: string): void;
  /** A warning or an error. Never silent. */
  problem(line: string): void;
  /** Text with a style, if colours are wanted. */
  styled(style: Style, text: string): string;
}

export interface OutputOptions {
  readonly json?: boolean | undefined;
  readonly quiet?: boolean | undefined;
  readonly verbose?: boolean | undefined;
  readonly color?: boolean | undefined;
}

/**
 * Removes known secrets from everything that is written to the stream from now on, including what a migration or a
 * configuration prints itself.
 */
export function keepSecretsOut(stream: NodeJS.WriteStream): void {
  for (const name of ["write", "end"] as const) {
    const original = stream[name].bind(stream) as (...args: readonly unknown[]) => never;
    stream[name] = (chunk?: unknown, ...rest: readonly unknown[]) => original(withoutKnown(chunk), ...rest);
  }
}

/** Anything but a chunk is left to the stream: a callback, nothing at all, or a mistake. */
function withoutKnown(chunk: unknown): unknown {
  if (typeof chunk === "string") return withoutKnownSecrets(chunk);
  return ArrayBuffer.isView(chunk) ? bytesWithoutKnownSecrets(chunk) : chunk;
}

export function createOutput({ json = false, quiet = false, verbose = false, color = true }: OutputOptions): Output {
  const looking = process.stderr.isTTY && !quiet && !json;
  let passing = false;
  const toError = (line: string) => {
    process.stderr.write(`${passing ? "\r\u001b[K" : ""}${line}\n`);
    passing = false;
  };
  return {
    json,
    verbose,
    result: (line) => {
      if (!json) process.stdout.write(`${line}\n`);
    },
    data: (value) => {
      if (json) process.stdout.write(`${JSON.stringify(cleaned(value))}\n`);
    },
    progress: (line) => {
      if (!quiet && !json) toError(line);
    },
    passing: (line) => {
      if (!looking) return;
      // A line that wraps could not be erased again.
      process.stderr.write(`\r\u001b[K${line.slice(0, process.stderr.columns - 1)}`);
      passing = true;
    },
    problem: toError,
    // styleText itself checks NO_COLOR and whether the stream is a terminal.
    styled: (style, text) => (color ? styleText(style, text, { stream: process.stdout }) : text),
  };
}
