import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { isGone, withProcess } from "../../../../../src/features/embed/prepare/process-identity.ts";

/** The id of a run, with other parts in places counted from 1 after the run: boot, namespace, process, start. */
const changed = (parts: Readonly<Record<number, string>>) =>
  withProcess("run")
    .split(" of ")
    .map((part, at) => parts[at] ?? part)
    .join(" of ");

/** The number of a process that has ended. */
async function endedProcess(): Promise<string> {
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  return String(child.pid);
}

test("a process of this machine is gone when there is none of its number, or a newer one", async () => {
  expect(isGone(withProcess("run"))).toBe(false);
  expect(isGone(changed({ 4: "1" }))).toBe(true);
  expect(isGone(changed({ 3: await endedProcess() }))).toBe(true);
});

test("nothing is known of processes of other machines and containers, and of those that state nothing", async () => {
  const pid = await endedProcess();
  expect(isGone(changed({ 1: "another", 3: pid }))).toBe(false);
  expect(isGone(changed({ 2: "pid:[1]", 3: pid }))).toBe(false);
  expect(isGone("run")).toBe(false);
});
