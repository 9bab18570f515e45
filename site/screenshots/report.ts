/** Pictures of the pages of `migrate report`, in a browser. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { webpOf } from "./webp.ts";
import { aBrowser, aPage, desktop, openFile, type PageChoice } from "../../test/support/browser.ts";
import { fleetProject } from "./fleet-project.ts";
import { Project } from "./project.ts";
import { projectWithAPast } from "./report-project.ts";

interface Picture extends PageChoice {
  readonly name: string;
  /** Whether it is the page about many databases. */
  readonly fleet?: boolean;
  /** The section at the top of the picture; the top of the page by default. */
  readonly section?: string;
}

export const pictures: readonly Picture[] = [
  { name: "report-light" },
  { name: "report-dark", dark: true, section: "columns" },
  { name: "report-phone-light", phone: true },
  { name: "report-phone-dark", dark: true, phone: true, section: "columns" },
  { name: "fleet-light", fleet: true },
  { name: "fleet-phone-light", fleet: true, phone: true, section: "databases" },
];

/** Writes the pictures to the folder. */
export async function takeReport(wanted: readonly Picture[], folder: string): Promise<void> {
  const browser = await aBrowser();
  try {
    const [ofAll, ofOne] = [true, false].map((isFleet) => wanted.filter(({ fleet = false }) => fleet === isFleet));
    if (ofOne!.length > 0)
      await inProject(projectWithAPast, async (project) => {
        project.migrate("report");
        for (const picture of ofOne!) await takePicture(browser, picture, project, folder);
      });
    if (ofAll!.length > 0)
      await inProject(fleetProject, async (project) => {
        // One of the databases can't be read.
        project.migrate("report --fleet", 6);
        // Its error has the path of a temporary folder.
        const page = join(project.folder, "report.html");
        writeFileSync(page, readFileSync(page, "utf8").replaceAll(project.folder, "/srv/app"));
        for (const picture of ofAll!) await takePicture(browser, picture, project, folder);
      });
  } finally {
    await browser.close();
  }
}

async function inProject(
  arrange: (project: Project) => Promise<void>,
  work: (project: Project) => Promise<void>,
): Promise<void> {
  const project = new Project();
  try {
    await arrange(project);
    await work(project);
  } finally {
    project.remove();
  }
}

async function takePicture(
  browser: Browser,
  { name, section, fleet, ...choice }: Picture,
  project: Project,
  folder: string,
): Promise<void> {
  const page = await aPage(browser, choice);
  const strange = await openFile(page, join(project.folder, "report.html"));
  if (strange.length > 0) throw new Error(strange.join("\n"));
  if (section === undefined && choice.phone !== true) await page.setViewportSize({ ...desktop, height: 1_250 });
  if (section !== undefined) {
    if (fleet !== true) await page.locator(`#${section} .column:has(.former) summary`).first().click();
    await page.mouse.move(0, 0);
    await page.evaluate(`document.getElementById("${section}").scrollIntoView()`);
  }
  // What needs attention, at the top.
  if (fleet === true) for (const name of ["Pending", "Problems"]) await page.getByRole("button", { name }).click();
  writeFileSync(join(folder, `${name}.webp`), await webpOf(page));
  await page.context().close();
}
