import type { Page } from "playwright-core";

/** What the browser's window shows, in the format WebP. Playwright itself writes PNG, which takes five times the bytes. */
export async function webpOf(page: Page): Promise<Buffer> {
  const browser = await page.context().newCDPSession(page);
  const { data } = await browser.send("Page.captureScreenshot", { format: "webp", quality: 80 });
  return Buffer.from(data, "base64");
}
