import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { screenshots } from "../../site/screenshots/scenes.ts";
import { screenAfter } from "../../site/screenshots/screen.ts";
import { windowSvg } from "../../site/screenshots/svg.ts";
import { take } from "../../site/screenshots/take.ts";
import { root } from "../support/project.ts";
import { masked } from "./console.ts";

const texts = (svg: string) => [...svg.matchAll(/<text x[^>]*>([^<]*)/g)].map(([, text]) => masked(text!));
const saved = (name: string) => readFileSync(join(root, "docs/images", `${name}.svg`), "utf8");

test.each(screenshots)("the screenshot $name shows what the command prints now", async (screenshot) => {
  const svg = windowSvg({ title: "", columns: screenshot.columns, lines: await take(screenshot) });
  // How fast rows are computed differs.
  const words = (text: string) => text.replaceAll(/compute.* …|[\d,]+ of|[\d,]+\/s/g, "…");
  expect(texts(svg).map(words), "npm run screenshots").toEqual(texts(saved(screenshot.name)).map(words));
});

test("a screenshot is small and loads nothing", () => {
  for (const { name } of screenshots) {
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
