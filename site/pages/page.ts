import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, join, posix } from "node:path";
import anchor from "markdown-it-anchor";
import MarkdownIt from "markdown-it";

/** A page of the site. */
export interface Page {
  /** In the repository, such as "docs/plans.md". */
  readonly source: string;
  /** In the site, where all pages are in one folder. */
  readonly path: string;
  readonly title: string;
  readonly headings: readonly Heading[];
  readonly html: string;
  /** Paths in the repository of the images and other files that the page links to. */
  readonly files: readonly string[];
}

interface Heading {
  readonly level: number;
  readonly id: string;
  readonly title: string;
}

export const pathOf = (source: string): string =>
  source === "README.md" ? "index.html" : `${basename(source, ".md").toLowerCase()}.html`;

/** Where the site has a file that is no page. Browsers show a source as a text. */
export const copyOf = (file: string): string =>
  file.startsWith("docs/images/") ? file.slice("docs/".length) : `files/${file}${/\.[jt]s$/.test(file) ? ".txt" : ""}`;

/** Makes the page of a text. Fails if it links to a file that does not exist. */
export function renderPage(root: string, source: string, sources: ReadonlySet<string>): Page {
  const markdown = new MarkdownIt({ html: true });
  const headings: Heading[] = [];
  const files: string[] = [];
  markdown.use(anchor, {
    slugify,
    tabIndex: false,
    permalink: anchor.permalink.headerLink(),
    callback: ({ tag }, { slug, title }) => headings.push({ level: Number(tag.slice(1)), id: slug, title }),
  });
  markdown.core.ruler.push("links", ({ tokens }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const attribute = { link_open: "href", image: "src" }[token.type];
      const to = attribute === undefined ? null : token.attrGet(attribute);
      if (attribute !== undefined && to !== null) token.attrSet(attribute, linked(String(to)));
    }
  });
  // A wide table scrolls by itself, and not the page around it.
  markdown.renderer.rules["table_open"] = () => `<div class="wide"><table>`;
  markdown.renderer.rules["table_close"] = () => "</table></div>";

  const text = readFileSync(join(root, source), "utf8");
  const html = markdown.render(text);
  const title = source === "README.md" ? "Overview" : (headings[0]?.title ?? basename(source));
  return { source, path: pathOf(source), title, headings, html, files };

  function linked(to: string): string {
    if (/^(https?:|#)/.test(to)) return to;
    const [path = "", heading] = to.split("#", 2);
    const file = posix.join(posix.dirname(source), path);
    if (!existsSync(join(root, file))) throw new Error(`${source}: ${to} does not exist`);
    if (sources.has(file)) return pathOf(file) + (heading === undefined ? "" : `#${heading}`);
    if (!statSync(join(root, file)).isFile()) throw new Error(`${source}: ${to} is no file`);
    files.push(file);
    return copyOf(file);
  }
}

/** The anchor of a heading, as GitHub makes it. */
function slugify(title: string): string {
  return title
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
    .replaceAll(" ", "-");
}
