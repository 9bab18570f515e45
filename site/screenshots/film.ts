/** A moving picture of a terminal: an SVG without scripts, which browsers also play in an image. */
import { screenAfter } from "./screen.ts";
import { framed, textsOf, type Lines } from "./svg.ts";

/** What a terminal shows for some time. */
export interface Frame {
  readonly lines: Lines;
  readonly milliseconds: number;
}

/** Lines that replace each other are shown at most this often in the output of one command. */
const mostReplaced = 12;
const eraseLine = "\r\u001b[K";

/** The frames of one command below what the screen shows before: how it is typed, then what it prints. */
export function framesOf(before: Lines, typed: Lines, sent: string): readonly Frame[] {
  const frame = (lines: Lines, milliseconds: number) => ({ lines: [...before, ...lines], milliseconds });
  const typing = typed.flatMap(([run], row) =>
    [...run!.text.matchAll(/.{1,4}/g)].map(({ 0: part, index }) =>
      frame([...typed.slice(0, row), [{ ...run!, text: run!.text.slice(0, index + part.length) }]], 80),
    ),
  );
  const pieces = sent.split(eraseLine);
  const replacing = pieces.slice(1).map((_, index) => pieces.slice(0, index + 1).join(eraseLine));
  const every = Math.ceil(replacing.length / mostReplaced);
  const passing = replacing.filter((_, index) => index % every === 0).map(screenAfter);
  const printed = screenAfter(sent);
  return [
    ...typing,
    frame(typed, 400),
    ...passing.map((lines) => frame([...typed, ...lines], 300)),
    // Time to read it.
    frame([...typed, ...printed], 1_200 + 350 * printed.length),
  ];
}

/** Plays the frames again and again. Where nothing may move, it shows the last one. */
export function filmSvg(title: string, columns: number, frames: readonly Frame[]): string {
  const ends = frames.map((_, index) => sum(frames.slice(0, index + 1).map(({ milliseconds }) => milliseconds)));
  const total = ends.at(-1)!;
  const percent = (frame: number) => `${Math.round(((ends[frame - 1] ?? 0) / total) * 100_000) / 1_000}%`;
  const shown = intervals(frames);
  const keyframes = [...shown.values()].map(({ from, to }) => {
    const moments = [
      ...(from === 0 ? [] : ["0%{visibility:hidden}"]),
      `${percent(from)}{visibility:visible}`,
      ...(to === frames.length ? [] : [`${percent(to)}{visibility:hidden}`]),
    ];
    return `@keyframes ${nameOf({ from, to })}{${moments.join("")}}`;
  });
  const style = `.frame { visibility: hidden } .last { visibility: visible }
@media (prefers-reduced-motion: no-preference) { .frame { animation: ${total}ms step-end infinite } }
${keyframes.join("\n")}
`;
  const groups = [...shown.values()].map(({ from, to, texts }) => {
    const last = to === frames.length ? " last" : "";
    return `<g class="frame${last}" style="animation-name: ${nameOf({ from, to })}">\n${texts.join("\n")}\n</g>`;
  });
  const rows = Math.max(...frames.map(({ lines }) => lines.length));
  return framed({ title, columns, rows, style }, groups.join("\n"));
}

interface Interval {
  /** The first frame, and the one after the last. */
  readonly from: number;
  readonly to: number;
}

const nameOf = ({ from, to }: Interval) => `f${from}-${to}`;

/** The texts of all lines, by the frames that show them: a line that stays is drawn once. */
function intervals(frames: readonly Frame[]): ReadonlyMap<string, Interval & { readonly texts: string[] }> {
  const found = new Map<string, Interval & { readonly texts: string[] }>();
  const linesIn = ({ lines }: Frame) => lines.map((line, row) => textsOf(line, row).join("\n"));
  const screens = frames.map(linesIn);
  for (const [from, screen] of screens.entries())
    for (const [row, text] of screen.entries()) {
      if (text === "" || screens[from - 1]?.[row] === text) continue;
      const after = screens.slice(from).findIndex((later) => later[row] !== text);
      const interval = { from, to: after === -1 ? frames.length : from + after };
      const name = nameOf(interval);
      found.set(name, found.get(name) ?? { ...interval, texts: [] });
      found.get(name)!.texts.push(text);
    }
  return found;
}

const sum = (numbers: readonly number[]) => numbers.reduce((one, other) => one + other, 0);
