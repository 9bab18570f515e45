import type { Run } from "./screen.ts";

/** The lines of a screen. */
export type Lines = readonly (readonly Run[])[];

interface Size {
  /** What the picture shows, for those who can't see it. */
  readonly title: string;
  readonly columns: number;
}

const fontSize = 14;
const characterWidth = 8.4;
const lineHeight = 20;
const margin = 18;
const bar = 34;

const css = `
text { font: ${fontSize}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; fill: #1f2328 }
.title { font-size: 12px; fill: #656d76 }
.window { fill: #fbfcfd; stroke: #d0d7de }
.bar { fill: #eaeef2 }
.button { fill: #c4ccd4 }
.bold { font-weight: bold }
.dim { fill: #656d76 }
.red { fill: #cf222e } .green { fill: #1a7f37 } .yellow { fill: #8a5a00 }
.blue { fill: #0969da } .magenta { fill: #8250df } .cyan { fill: #1b7c83 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.title, .dim { fill: #8d96a0 }
.window { fill: #0d1117; stroke: #30363d }
.bar { fill: #1c2129 }
.button { fill: #444c56 }
.red { fill: #ff7b72 } .green { fill: #56d364 } .yellow { fill: #e3b341 }
.blue { fill: #79c0ff } .magenta { fill: #d2a8ff } .cyan { fill: #56d4dd }
}
`;

export function windowSvg({ lines, ...size }: Size & { readonly lines: Lines }): string {
  return framed({ ...size, rows: lines.length }, lines.flatMap(textsOf).join("\n"));
}

/** A picture of a terminal window. It contains no fonts, so the texts give their widths. */
export function framed(
  { title, columns, rows, style = "" }: Size & { readonly rows: number; readonly style?: string },
  content: string,
): string {
  const width = Math.ceil(columns * characterWidth + 2 * margin);
  const height = bar + rows * lineHeight + 2 * margin - 6;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escaped(title)}</title>
<style>${css}${style}</style>
<clipPath id="frame"><rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/></clipPath>
<g clip-path="url(#frame)"><rect class="window" width="${width}" height="${height}"/><rect class="bar" width="${width}" height="${bar}"/></g>
<rect class="window" style="fill: none" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${[20, 38, 56].map((x) => `<circle class="button" cx="${x}" cy="${bar / 2}" r="5.5"/>`).join("")}
<text class="title" x="${width / 2}" y="${bar / 2 + 4}" text-anchor="middle">my-project</text>
${content}
</svg>
`;
}

export function textsOf(line: readonly Run[], row: number): readonly string[] {
  const baseline = bar + margin + row * lineHeight + fontSize - 3;
  return placed(line).map(({ text, style, column }) => {
    const x = round(margin + column * characterWidth);
    const length = round(text.length * characterWidth);
    const shown = style === "" ? "" : ` class="${style}"`;
    return `<text x="${x}" y="${baseline}" textLength="${length}"${shown}>${escaped(text)}</text>`;
  });
}

/** The texts of a line with the columns where they begin. Two spaces end a text: they separate columns. */
function placed(line: readonly Run[]): readonly (Run & { readonly column: number })[] {
  let start = 0;
  return line.flatMap(({ text, style }) => {
    const parts = [...text.matchAll(/\S+(?: \S+)*/g)].map((part) => ({
      text: part[0],
      style,
      column: start + part.index,
    }));
    start += text.length;
    return parts;
  });
}

const round = (value: number) => Math.round(value * 10) / 10;

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
