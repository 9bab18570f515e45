/** The comment on a pull request, with the looks that a site for source code gives it. */
import { execFileSync } from "node:child_process";
import MarkdownIt from "markdown-it";
import { chromium } from "playwright-core";
import { webpOf } from "./webp.ts";
import { screenshots } from "./scenes.ts";
import { inProject } from "./take.ts";

const style = `
  body { margin: 0; padding: 16px; width: 860px; background: #fff; color: #1f2328; font: 14px/1.5 "Liberation Sans", Arial, sans-serif; }
  .comment { border: 1px solid #d1d9e0; border-radius: 6px; }
  header { padding: 8px 16px; background: #f6f8fa; border-bottom: 1px solid #d1d9e0; border-radius: 6px 6px 0 0; color: #59636e; }
  main { padding: 16px; }
  h3 { font-size: 18px; margin: 0 0 16px; }
  code { background: #eff1f3; border-radius: 6px; padding: .2em .4em; font: 85% "DejaVu Sans Mono", monospace; }
  table { border-collapse: collapse; margin: 16px 0; }
  th, td { border: 1px solid #d1d9e0; padding: 6px 13px; text-align: left; vertical-align: top; }
  tr:nth-child(2n) td { background: #f6f8fa; }
  blockquote { margin: 0; padding: 8px 16px; border-left: 4px solid #d1242f; }
  blockquote b { color: #d1242f; }
  blockquote ul { margin: 4px 0 0; padding-left: 20px; }
  summary { margin: 8px 0; }
  sub { color: #59636e; font-size: 12px; vertical-align: baseline; }
`;

/** In the format WebP. */
export async function commentPicture(): Promise<Buffer> {
  const { prepare } = screenshots.find(({ name }) => name === "plan")!;
  const markdown = await inProject(prepare, (project) => project.migrate("plan --format markdown", 4));
  const comment = new MarkdownIt({ html: true }).render(markdown).replace("<p>[!CAUTION]</p>", "<b>Caution</b>");
  return await pictureOf(
    `<!doctype html><style>${style}</style><div class="comment"><header><b>github-actions</b> bot commented</header><main>${comment}</main></div>`,
  );
}

async function pictureOf(html: string): Promise<Buffer> {
  const executablePath = execFileSync("which", ["chromium"], { encoding: "utf8" }).trim();
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage({ viewport: { width: 892, height: 100 }, deviceScaleFactor: 1.5 });
    await page.setContent(html);
    const height = await page.evaluate<number>("document.documentElement.scrollHeight");
    await page.setViewportSize({ width: 892, height });
    return await webpOf(page);
  } finally {
    await browser.close();
  }
}
