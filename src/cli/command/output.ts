/** Prints results to stdout, and progress and errors to stderr. */
import { styleText } from "node:util";
import type { z } from "zod";
import type { Printed } from "../json/shared.ts";
import { bytesWithoutKnownSecrets, cleaned, withoutKnownSecrets } from "../../secrets/redact.ts";
import { breaksIn, cut } from "./fit.ts";
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
  /** Whether progress goes to a terminal, where a line can replace another. */
  readonly live: boolean;
  /** The width of the terminal that shows results; undefined if there is none. */
  readonly columns: number | undefined;
  /** A line of the result, for people. Silent under --json. */
  result(line: Line): void;
  /** The same for many lines, in one write: each write finds out what is secret. They are not wrapped. */
  results(lines: readonly Line[]): void;
  /** A line of the result that GitHub Actions reads. Silent under --json. */
  annotation(finding: Annotation): void;
  /** A part of the result for programs: one document, or one event per line. Silent without --json. */
  data<Shape extends z.ZodType = never>(document: NoInfer<Printed<Shape>>): void;
  /** A line of progress. Silent under --quiet and --json. */
  progress(line: Line): void;
  /** A line that the next line of progress replaces. Only on a terminal. A line that is too long keeps its end. */
  passing(line: string, end?: string): void;
  /** A warning or an error. Never silent. */
  problem(line: Line): void;
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
  const toError = (line: Line) => {
    process.stderr.write(
      `${passing ? eraseLine : ""}${rendered(wrapped(line, process.stderr), color, process.stderr)}\n`,
    );
    passing = false;
  };
  return {
    json,
    verbose,
    live: looking,
    columns: columnsOf(process.stdout),
    result: (line) => toResult(rendered(wrapped(line, process.stdout), color, process.stdout)),
    results: (lines) => {
      if (lines.length > 0) toResult(lines.map((line) => rendered(partsOf(line), color, process.stdout)).join("\n"));
    },
    annotation: (finding) => toResult(workflowCommand(finding)),
    data: (value) => {
      if (json) process.stdout.write(`${printable(JSON.stringify(cleaned(value)))}\n`);
    },
    progress: (line) => {
      if (!quiet && !json) toError(line);
    },
    passing: (line, end) => {
      if (!looking) return;
      // A line that wraps could not be erased again.
      const most = (columnsOf(process.stderr) ?? usualColumns) - 1;
      process.stderr.write(`${eraseLine}${cut(printableLine(line), most, end)}`);
      passing = true;
    },
    problem: toError,
    question: printableLine,
  };
}

const eraseLine = "\r\u001b[K";
const usualColumns = 80;

function columnsOf({ isTTY, columns }: NodeJS.WriteStream): number | undefined {
  // 0 stands for an unknown width.
  return isTTY && columns > 0 ? columns : undefined;
}

/** The parts of a line, made printable. */
function partsOf(line: Line): readonly (Partial<Styled> & Pick<Styled, "text">)[] {
  if (typeof line === "string") return [{ text: printableLine(line) }];
  return [line].flat().map((part) => {
    const { text, ...style } = typeof part === "string" ? { text: part } : part;
    return { ...style, text: printableLine(text) };
  });
}

/** On a terminal, the line with breaks between words. */
function wrapped(line: Line, stream: NodeJS.WriteStream): ReturnType<typeof partsOf> {
  const columns = columnsOf(stream);
  if (columns === undefined) return partsOf(line);
  // The stream would no longer recognise a secret with a break in it.
  const parts = partsOf(line).map(({ text, ...style }) => ({ ...style, text: withoutKnownSecrets(text) }));
  const whole = parts.map(({ text }) => text).join("");
  const indent = whole.length - whole.trimStart().length + 2;
  const breaks = breaksIn(whole, columns, indent);
  const lineBreak = `\n${" ".repeat(indent)}`;
  let start = 0;
  return parts.map(({ text, ...style }) => {
    const offset = start;
    start += text.length;
    const shown = text.replaceAll(" ", (space, at: number) => (breaks.has(offset + at) ? lineBreak : space));
    return { ...style, text: shown };
  });
}

function rendered(parts: ReturnType<typeof partsOf>, color: boolean, stream: NodeJS.WriteStream): string {
  // styleText itself checks NO_COLOR, FORCE_COLOR and whether the stream is a terminal.
  return parts
    .map(({ style, text }) => (style === undefined || !color ? text : styleText(style, text, { stream })))
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
