/** Prints results to stdout, and progress and errors to stderr. */
import { styleText } from "node:util";
import { bytesWithoutKnownSecrets, cleaned, withoutKnownSecrets } from "../../secrets/redact.ts";
import { printable, printableLine } from "./printable.ts";

/** A text in a style, if colours are wanted. */
export interface Styled {
  readonly style: Parameters<typeof styleText>[0];
  readonly text: string;
}

/** One line, or its parts. A line break in it is printed as an escape, as is everything else that is not plain text. */
export type Line = string | Styled | readonly (string | Styled)[];

/** A finding for GitHub Actions. */
export interface Annotation {
  readonly level: "error" | "warning" | "notice";
  readonly properties: Readonly<Record<string, string | number>>;
  readonly message: string;
}

/** All that commands print goes through here, and is made printable. */
export interface Output {
  readonly json: boolean;
  readonly verbose: boolean;
  /** A line of the result, for people. Silent under --json. */
  result(line: Line): void;
  /** The same for many lines, in one write: each write finds out what is secret. */
  results(lines: readonly Line[]): void;
  /** A line of the result that GitHub Actions reads. Silent under --json. */
  annotation(finding: Annotation): void;
  /** A part of the result for programs: one document, or one event per line. Silent without --json. */
  data(value: unknown): void;
  /** A line of progress. Silent under --quiet and --json. */
  progress(line: string): void;
  /** A line that the next line of progress replaces. Only on a terminal. */
  passing(line: string): void;
  /** A warning or an error. Never silent. */
  problem(line: string): void;
  /** The text of a question to the user, made printable. */
  question(text: string): string;
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
  const toResult = (line: string) => {
    if (!json) process.stdout.write(`${line}\n`);
  };
  const toError = (line: string) => {
    process.stderr.write(`${passing ? eraseLine : ""}${printableLine(line)}\n`);
    passing = false;
  };
  return {
    json,
    verbose,
    result: (line) => toResult(rendered(line, color)),
    results: (lines) => {
      if (lines.length > 0) toResult(lines.map((line) => rendered(line, color)).join("\n"));
    },
    annotation: (finding) => toResult(workflowCommand(finding)),
    data: (value) => {
      if (json) process.stdout.write(`${printable(JSON.stringify(cleaned(value)))}\n`);
    },
    progress: (line) => {
      if (!quiet && !json) toError(line);
    },
    passing: (line) => {
      if (!looking) return;
      // A line that wraps could not be erased again.
      process.stderr.write(`${eraseLine}${printableLine(line).slice(0, process.stderr.columns - 1)}`);
      passing = true;
    },
    problem: toError,
    question: printableLine,
  };
}

const eraseLine = "\r\u001b[K";

function rendered(line: Line, color: boolean): string {
  if (typeof line === "string") return printableLine(line);
  const parts = [line].flat().map((part) => (typeof part === "string" ? { style: undefined, text: part } : part));
  return parts
    .map(({ style, text }) => {
      const shown = printableLine(text);
      // styleText itself checks NO_COLOR and whether the stream is a terminal.
      return style === undefined || !color ? shown : styleText(style, shown, { stream: process.stdout });
    })
    .join("");
}

/** In this form, a value can't end its property, and a message can't end its line. */
function workflowCommand({ level, properties, message }: Annotation): string {
  const text = (value: string | number) =>
    printable(String(value).replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A"));
  const shown = Object.entries(properties).map(
    ([name, value]) => `${name}=${text(value).replaceAll(":", "%3A").replaceAll(",", "%2C")}`,
  );
  return `::${level} ${shown.join(",")}::${text(message)}`;
}
