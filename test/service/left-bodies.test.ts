/** What a killed service leaves of large bodies, and who removes it. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openDataFolder } from "../../src/features/serve/tables/data-folder.ts";
import { folderOfBodies } from "../../src/features/serve/work/body.ts";
import { keepBodies, removeLeftBodies } from "../../src/features/serve/work/left-bodies.ts";
import { temporaryFolder } from "../support/project.ts";
import { holdOpen } from "./raw.ts";
import { apiKey, startCommand } from "./served.ts";

const never = new AbortController().signal;

/** Begins to send a large body, and waits until the service has written some of it. */
async function uploadTo(url: string, folder: string): Promise<void> {
  const before = entries(folder);
  const head = [
    "POST /v1/tables/t HTTP/1.1",
    "host: x",
    `x-api-key: ${apiKey}`,
    "content-type: application/vnd.apache.arrow.stream",
    "content-length: 9000000",
  ];
  const socket = holdOpen(url, `${head.join("\r\n")}\r\n\r\n${"x".repeat(1_000_000)}`);
  onTestFinished(() => void socket.destroy());
  await expect.poll(() => entries(folder).length).toBe(before.length + 1);
}

function entries(folder: string): readonly string[] {
  const place = join(folder, ".lance-migrate");
  return existsSync(place) ? readdirSync(place) : [];
}

test("bodies that a killed service leaves are removed, those of one that runs are not", async () => {
  const folder = temporaryFolder();
  const [killed, running] = [await startCommand(folder, []), await startCommand(folder, [])];
  onTestFinished(async () => void (await running.close()));
  await uploadTo(killed.url, folder);
  process.kill(killed.pid, "SIGKILL");
  const [left] = entries(folder);
  await uploadTo(running.url, folder);
  expect(left).toMatch(/^bodies-/);
  // As the second service does, but more often than it would.
  const other = entries(folder).find((name) => name !== left)!;
  const kept = keepBodies({ ...openDataFolder(folder), bodies: other }, 20);
  await removeLeftBodies(openDataFolder(folder), never, 500);
  expect(entries(folder)).toEqual([other]);
  kept.end();
});

test("a service that ends in the middle of an upload leaves nothing", async () => {
  const folder = temporaryFolder();
  const service = await startCommand(folder, []);
  await uploadTo(service.url, folder);
  expect(entries(folder)).toHaveLength(1);
  expect(await service.close()).toBe(0);
  expect(readdirSync(folder)).toEqual([]);
});

test("nothing else in the private folder is removed", async () => {
  const folder = temporaryFolder();
  const data = openDataFolder(folder);
  const place = join(folder, ".lance-migrate");
  const uuid = "00000000-0000-4000-8000-000000000000";
  for (const name of [uuid, "bodies-mine", `dropped-${uuid}`]) mkdirSync(join(place, name), { recursive: true });
  for (const name of [`body-${uuid}`, `bodies-${uuid}`]) writeFileSync(join(place, name), "");
  mkdirSync(folderOfBodies(data));
  await removeLeftBodies(data, never, 1);
  await sleep(10);
  expect(entries(folder)).toHaveLength(6);
});
