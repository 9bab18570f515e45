import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { filmSvg, framesOf } from "../../site/screenshots/film.ts";
import { recording, screenshots } from "../../site/screenshots/scenes.ts";
import { screenAfter, type Run } from "../../site/screenshots/screen.ts";
import { windowSvg } from "../../site/screenshots/svg.ts";
import { film, take } from "../../site/screenshots/take.ts";
import { root } from "../support/project.ts";
import { ofThisCommit } from "../support/rounds.ts";
import { masked } from "./console.ts";

const texts = (svg: string) => [...svg.matchAll(/<text x[^>]*>([^<]*)/g)].map(([, text]) => masked(text!));
const saved = (name: string) => readFileSync(join(root, "docs/images", `${name}.svg`), "utf8");

test.each(ofThisCommit(screenshots, 2))(
  "the screenshot $name shows what the command prints now",
  async (screenshot) => {
    const svg = windowSvg({ title: "", columns: screenshot.columns, lines: await take(screenshot) });
    // How fast rows are computed differs.
    const words = (text: string) => text.replaceAll(/compute.* …|[\d,]+ of|[\d,]+\/s/g, "…");
    expect(texts(svg).map(words), "npm run screenshots").toEqual(texts(saved(screenshot.name)).map(words));
  },
);

test.each(ofThisCommit([recording], 2))("the $name shows what the commands print now", async (recording) => {
  const svg = filmSvg("", recording.columns, await film(recording));
  // How often progress is printed, and how much of an action's line it leaves, differs.
  const isLasting = (text: string) => !/^(add|compute) .*[^)]$|rows computed|^TIME$/.test(text);
  const words = (picture: string) => texts(picture).filter(isLasting);
  expect(words(svg), "npm run screenshots recording").toEqual(words(saved(recording.name)));
  for (const picture of [svg, saved(recording.name)])
    expect(picture).toMatch(/of 8,000 rows computed, [\d,]+\/s, about [\d.]+ s left/);
});

test("a recording draws a line once for the time that it stays, and at rest shows the last frame", () => {
  const line = (text: string): readonly Run[] => [{ text, style: "" }];
  const first = framesOf([], [line("$ go")], "  1 s\r\u001b[K  2 s\r\u001b[Kdone\r\n");
  expect(first.map(({ lines }) => lines.map(([run]) => run?.text))).toEqual([
    ["$ go"],
    ["$ go"],
    ["$ go", "  1 s"],
    ["$ go", "  2 s"],
    ["$ go", "done"],
  ]);
  const svg = filmSvg(
    "",
    20,
    first.map(({ lines }) => ({ lines, milliseconds: 100 })),
  );
  expect(texts(svg)).toEqual(["$ go", "1 s", "2 s", "done"].map(masked));
  expect(svg).toContain("@keyframes f0-5{0%{visibility:visible}}");
  expect(svg).toContain("@keyframes f2-3{0%{visibility:hidden}40%{visibility:visible}60%{visibility:hidden}}");
  const atRest = svg.split("<g class=").filter((group) => group.startsWith('"frame last"'));
  expect(atRest.flatMap(texts)).toEqual(["$ go", "done"]);
});

test("a picture is small and loads nothing", () => {
  for (const { name } of [...screenshots, recording]) {
    expect(saved(name).length).toBeLessThan(30_000);
    expect(saved(name).replace(/xmlns="[^"]*"/, "")).not.toMatch(/https?:|@import|url\((?!#)|href/);
  }
});

test("a terminal shows the last of the lines that replaced each other, with their styles", () => {
  const sent = "\u001b[1mone\u001b[22m\r\n  50%\r\u001b[K  \u001b[2m\u001b[31m100%\u001b[39m done\u001b[22m\r\n\r\n";
  expect(screenAfter(sent)).toEqual([
    [{ text: "one", style: "bold" }],
    [
      { text: "  ", style: "" },
      { text: "100%", style: "dim red" },
      { text: " done", style: "dim" },
    ],
  ]);
});

test("characters that SVG reserves are escaped", () => {
  const svg = windowSvg({ title: "a & b", columns: 20, lines: [[{ text: "list<int64>  &", style: "" }]] });
  expect(texts(svg)).toEqual(["list&lt;int64&gt;", "&amp;"]);
  expect(svg).toContain("<title>a &amp; b</title>");
});
