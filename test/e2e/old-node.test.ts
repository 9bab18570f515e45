/** A Node that is too old gets one sentence, not a syntax error. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, test } from "vitest";
import { lacks } from "../support/needs.ts";
import { root } from "../support/project.ts";

const bin = join(root, "dist", "bin.js");

/** A Node on the PATH that is older than 22.19, or why there is none. */
function findOldNode(): { readonly path?: string; readonly missing?: string } {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => !folder.includes("node_modules"));
  const found = folders.map((folder) => join(folder, "node")).filter((path) => existsSync(path));
  const versions = found.map((path) => execFileSync(path, ["--version"], { encoding: "utf8" }).trim());
  const at = versions.findIndex((version) => {
    const [major = 0, minor = 0] = version.slice(1).split(".").map(Number);
    return major < 22 || (major === 22 && minor < 19);
  });
  const path = found[at];
  if (path !== undefined) return { path };
  return { missing: `no Node older than 22.19 on the PATH (found: ${versions.join(", ") || "none"})` };
}

const old = findOldNode();

test
  .skipIf(lacks("old_node", old.missing))
  .each([[["up"]], [["--help"]], [["--version"]], [["up", "--json"]]] as const)(
  "migrate %j on an old Node is one sentence and 2",
  (args) => {
    const { status, stdout, stderr } = spawnSync(old.path!, [bin, ...args], { encoding: "utf8" });
    expect(stderr).toMatch(/^migrate needs Node 22\.19 or newer and this is \d+\.\d+\.\d+; [^\n]+\n$/);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  },
);

test("the command's first file imports nothing before it has looked at the version", () => {
  const text = readFileSync(bin, "utf8");
  expect(text.startsWith("#!/usr/bin/env node\n")).toBe(true);
  expect(text).not.toMatch(/^\s*import\s*["'{*\w]|\bfrom\s*["']/m);
  expect(text.indexOf("process.versions")).toBeLessThan(text.indexOf("import("));
});
