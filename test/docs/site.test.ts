import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { buildSite } from "../../site/pages/build.ts";
import { sections } from "../../site/pages/sections.ts";
import { root, temporaryFolderOfFile } from "../support/project.ts";

const folder = join(temporaryFolderOfFile(), "site");
const pages = new Map<string, string>();
const attributes = (html: string, names: string) =>
  [...html.matchAll(new RegExp(` (?:${names})="([^"]*)"`, "g"))].map(([, value]) => value!);

beforeAll(() => {
  buildSite(folder);
  for (const name of readdirSync(folder).filter((name) => name.endsWith(".html")))
    pages.set(name, readFileSync(join(folder, name), "utf8"));
});

test("the navigation has every page of docs once", () => {
  const listed = Object.values(sections).flat();
  const docs = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".md"),
  );
  expect(listed.filter((path) => path.startsWith("docs/")).toSorted()).toEqual(
    docs.map((name) => `docs/${name}`).toSorted(),
  );
  expect(pages.size).toBe(listed.length);
});

test("every link leads to a file of the site, and every anchor to a heading", () => {
  const dead = [...pages].flatMap(([page, html]) =>
    attributes(html, "href|src")
      .filter((link) => !/^(https?:|data:,$)/.test(link) && !leads(page, link))
      .map((link) => `${page}: ${link}`),
  );
  expect(dead).toEqual([]);

  function leads(page: string, link: string): boolean {
    const [path = "", heading] = link.split("#", 2);
    const file = path === "" ? page : path;
    if (!existsSync(join(folder, file))) return false;
    return heading === undefined || attributes(pages.get(file) ?? "", "id").includes(decodeURIComponent(heading));
  }
});

test("no two headings of a page have the same anchor", () => {
  for (const [page, html] of pages)
    expect(new Set(attributes(html, "id")).size, page).toBe(attributes(html, "id").length);
});

test("a page loads its style and its images from the site, and runs no script", () => {
  for (const [page, html] of pages) {
    const loaded = [...html.matchAll(/<(?:link|img|script|iframe)\b[^>]*>/g)].map(([tag]) => tag);
    expect(
      loaded.filter((tag) => /https?:|<script|<iframe/.test(tag)),
      page,
    ).toEqual([]);
  }
  expect(readFileSync(join(folder, "style.css"), "utf8")).not.toMatch(/@import|url\(/);
});

test("comments of the texts are not shown", () => {
  expect([...pages].filter(([, html]) => /(?<!<code>)&lt;!--/.test(html)).map(([page]) => page)).toEqual([]);
});
