/** Pages in a real Chromium. */
import { accessSync, constants, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { chromium, type Browser, type Page } from "playwright-core";

export interface PageChoice {
  readonly dark?: boolean;
  readonly phone?: boolean;
  /** Lets tests run their own scripts in pages that forbid all but theirs. */
  readonly bypassCSP?: boolean;
}

export const desktop = { width: 1280, height: 900 };
export const phone = { width: 390, height: 844 };

/** Why there is no browser; undefined if there is one. */
export function whyNoBrowser(): string | undefined {
  return browserPath() === undefined ? "there is no chromium and no google-chrome in PATH" : undefined;
}

export async function aBrowser(): Promise<Browser> {
  // It does not work with another clock (test/environments).
  const { LD_PRELOAD: _, ...env } = process.env;
  return await chromium.launch({
    executablePath: browserPath(),
    args: ["--no-sandbox"],
    env: env as typeof process.env,
  });
}

/** A new page, with nothing of other pages in it. */
export async function aPage(browser: Browser, choice: PageChoice = {}): Promise<Page> {
  const context = await browser.newContext({
    colorScheme: choice.dark === true ? "dark" : "light",
    viewport: choice.phone === true ? phone : desktop,
    bypassCSP: choice.bypassCSP ?? false,
  });
  // A busy machine takes as long as it takes.
  context.setDefaultTimeout(0);
  return await context.newPage();
}

/** Opens a file. Returns a list that everything is added to that a page must not do: errors, messages and requests. */
export async function openFile(page: Page, path: string): Promise<readonly string[]> {
  const strange: string[] = [];
  const url = pathToFileURL(path).href;
  page.on("console", (message) => strange.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => strange.push(`error: ${String(error)}`));
  page.on("request", (request) => {
    if (request.url() !== url && !request.url().startsWith("data:")) strange.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  return strange;
}

/** Waits until something is painted. Asked from outside: the pages forbid Playwright's own wait to evaluate text in them. */
export async function painted(page: Page): Promise<void> {
  while ((await page.evaluate("performance.getEntriesByName('first-contentful-paint').length")) === 0) await sleep(10);
}

/**
 * Reads how many seconds the page's own thread has computed. Call this before the page is opened: a session of the protocol
 * counts from its own beginning.
 */
export async function processorClock(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "ThreadTime")!.value;
  };
}

/** What axe finds on the page, which must be one with `bypassCSP`. */
export async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  await page.evaluate(readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
  return await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html.slice(0, 300)}`);
  });
}

function browserPath(): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return ["chromium", "google-chrome"]
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => isExecutable(path));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
