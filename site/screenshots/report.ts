/** Pictures of the page of `migrate report`, in a browser. */
import { join } from "node:path";
import { aBrowser, aPage, desktop, openFile, type PageChoice } from "../../test/support/browser.ts";
import { Project } from "./project.ts";
import { projectWithAPast } from "./report-project.ts";

interface Picture extends PageChoice {
  readonly name: string;
  /** The section at the top of the picture; the top of the page by default. */
  readonly section?: string;
}

export const pictures: readonly Picture[] = [
  { name: "report-light" },
  { name: "report-dark", dark: true, section: "columns" },
  { name: "report-phone-light", phone: true },
  { name: "report-phone-dark", dark: true, phone: true, section: "columns" },
];

/** Writes the pictures to the folder. */
export async function takeReport(wanted: readonly Picture[], folder: string): Promise<void> {
  const project = new Project();
  const browser = await aBrowser();
  try {
    await projectWithAPast(project);
    project.migrate("report");
    for (const { name, section, ...choice } of wanted) {
      const page = await aPage(browser, choice);
      const strange = await openFile(page, join(project.folder, "report.html"));
      if (strange.length > 0) throw new Error(strange.join("\n"));
      if (section === undefined && choice.phone !== true) await page.setViewportSize({ ...desktop, height: 1_250 });
      if (section !== undefined) {
        await page.locator(`#${section} .column:has(.former) summary`).first().click();
        await page.mouse.move(0, 0);
        await page.evaluate(`document.getElementById("${section}").scrollIntoView()`);
      }
      await page.screenshot({ path: join(folder, `${name}.png`) });
      await page.context().close();
    }
  } finally {
    await browser.close();
    project.remove();
  }
}
