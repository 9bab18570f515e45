import type { Page } from "./page.ts";

/** The pages of each section, in the order of the navigation. */
export type Navigation = readonly (readonly [section: string, pages: readonly Page[]])[];

/** The document of a page, with the navigation beside it. */
export function documentOf(page: Page, navigation: Navigation): string {
  const links = navigation.map(([section, pages]) => {
    const items = pages.map((one) => `<li>${linkTo(one, one === page)}</li>`);
    return `<h2>${section}</h2>\n<ul>\n${items.join("\n")}\n</ul>`;
  });
  // Phones show the navigation when it is opened; no script is needed.
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.path === "index.html" ? "lance-migrate" : `${escaped(page.title)} · lance-migrate`}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="style.css">
</head>
<body>
<header><a href="index.html">lance-migrate</a><label for="menu">Menu</label></header>
<input type="checkbox" id="menu" aria-label="Show the menu">
<nav>
${links.join("\n")}
</nav>
<main>
${page.html}</main>
</body>
</html>
`;
}

/** The link to a page; below that of the current one, its parts. */
function linkTo({ path, title, headings }: Page, isCurrent: boolean): string {
  const link = `<a href="${path}"${isCurrent ? ` aria-current="page"` : ""}>${escaped(title)}</a>`;
  const parts = headings.filter(({ level }) => level === 2);
  if (!isCurrent || parts.length === 0) return link;
  return `${link}\n<ul>\n${parts.map((part) => `<li><a href="#${part.id}">${escaped(part.title)}</a></li>`).join("\n")}\n</ul>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
