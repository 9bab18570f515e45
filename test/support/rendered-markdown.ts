/** Markdown as sites for source code render it. */
import MarkdownIt from "markdown-it";

const markdown = new MarkdownIt({ html: true, linkify: true });

export interface RenderedMarkdown {
  readonly html: string;
  /** The name of each tag, once. */
  readonly tags: readonly string[];
  /** What is outside of code: there, sites make links of mentions and numbers of issues. */
  readonly loose: string;
  /** What people read of the cells of tables, row by row. */
  readonly rows: readonly (readonly string[])[];
}

export function renderedMarkdown(text: string): RenderedMarkdown {
  const html = markdown.render(text);
  const withoutComments = html.replaceAll(/<!--[^]*?-->/g, "");
  return {
    html,
    tags: [...new Set([...withoutComments.matchAll(/<([a-z]\w*)/g)].map(([, tag]) => tag!))].toSorted(),
    loose: textOf(withoutComments.replaceAll(/<code[^]*?<\/code>/g, "")),
    rows: [...withoutComments.matchAll(/<tr>([^]*?)<\/tr>/g)].map(([, row]) =>
      [...row!.matchAll(/<t[hd]>([^]*?)<\/t[hd]>/g)].map(([, cell]) => textOf(cell!)),
    ),
  };
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };

function textOf(html: string): string {
  return html
    .replaceAll("\u00a0", " ")
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(/&(\w+);/g, (_, name: string) => entities[name]!);
}
