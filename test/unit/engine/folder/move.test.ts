import { existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { move } from "../../../../src/engine/folder/move.ts";
import { temporaryFolder } from "../../../support/project.ts";

/** As `rename` answers on Windows while another program has the file open. */
function refusing(code: string, times: number) {
  let tries = 0;
  return (from: Parameters<typeof renameSync>[0], to: Parameters<typeof renameSync>[1]) => {
    if (tries++ < times) throw Object.assign(new Error(code), { code });
    renameSync(from, to);
  };
}

test.each(["EPERM", "EACCES", "EBUSY"])("a file that is held for a moment (%s) is moved a little later", (code) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "draft"), "");
  move(join(folder, "draft"), join(folder, "lock.json"), refusing(code, 3), true);
  expect(existsSync(join(folder, "lock.json"))).toBe(true);
});

test("what refuses a move every time is reported", () => {
  expect(() => move("draft", "lock.json", refusing("EPERM", Infinity), true)).toThrow("EPERM");
});

test("a move that can't succeed later is not tried again", () => {
  expect(() => move("draft", "lock.json", refusing("ENOTEMPTY", 1), true)).toThrow("ENOTEMPTY");
  expect(() => move("draft", "lock.json", refusing("EACCES", 1), false)).toThrow("EACCES");
});
