/** Text in one style. */
export interface Run {
  readonly text: string;
  /** Such as "bold red"; empty for plain text. */
  readonly style: string;
}

interface Cell {
  readonly character: string;
  readonly style: string;
}

const styles: Readonly<Record<number, string>> = {
  1: "bold",
  2: "dim",
  31: "red",
  32: "green",
  33: "yellow",
  34: "blue",
  35: "magenta",
  36: "cyan",
};

/** The codes that end a style, and which styles they end. */
const ends: Readonly<Record<number, RegExp>> = { 0: /./, 22: /^(bold|dim)$/, 39: /^(?!bold|dim)/ };

/** The lines that a terminal shows after it was sent this. Knows the escape sequences that the command uses. */
export function screenAfter(sent: string): readonly (readonly Run[])[] {
  const lines: Cell[][] = [[]];
  let [row, column] = [0, 0];
  let active: readonly string[] = [];
  // oxlint-disable-next-line no-control-regex -- they begin the sequences
  for (const [piece, codes, other] of sent.matchAll(/\u001b\[([\d;]*)m|\u001b\[([\d;?]*[A-Za-z])|[^]/gu)) {
    if (codes !== undefined) active = codes.split(";").map(Number).reduce(styled, active);
    else if (other === "K" || other === "0K") lines[row]!.length = column;
    else if (other !== undefined) throw new Error(`the screenshots know no escape sequence ${other}`);
    else if (piece === "\r") column = 0;
    else if (piece === "\n") [row, column] = [row + 1, 0];
    else lines[row]![column++] = { character: piece, style: active.join(" ") };
    lines[row] ??= [];
  }
  const last = lines.findLastIndex(({ length }) => length > 0);
  return lines.slice(0, last + 1).map(runsOf);
}

function styled(active: readonly string[], code: number): readonly string[] {
  const end = ends[code];
  if (end !== undefined) return active.filter((style) => !end.test(style));
  const style = styles[code];
  if (style === undefined) throw new Error(`the screenshots know no style ${code}`);
  return [...active.filter((one) => one !== style), style];
}

function runsOf(cells: readonly Cell[]): readonly Run[] {
  const runs: Run[] = [];
  for (const { character, style } of cells) {
    const last = runs.at(-1);
    if (last?.style === style) runs[runs.length - 1] = { text: last.text + character, style };
    else runs.push({ text: character, style });
  }
  return runs;
}
