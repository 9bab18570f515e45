/**
 * The manifests in the documentation, by the schemas of Kubernetes. The validator is a package of Python, so this runs
 * only where REQUIRE_PYTHON=1, as .ci/run sets it.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { pythonWith } from "../clients/client.ts";
import { temporaryFolder } from "../support/project.ts";
import { allBlocks, at } from "./blocks.ts";

const isWanted = process.env["REQUIRE_PYTHON"] === "1";
if (!isWanted) console.warn("test/docs/manifests is skipped: it installs packages; set REQUIRE_PYTHON=1");

interface Manifest {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly initContainers?: unknown;
}

const blocks = allBlocks().filter(({ page, language }) => page === "docs/kubernetes.md" && language === "yaml");

/** A part of a pod becomes a pod. */
function wholeManifest(text: string): unknown {
  const manifest = parse(text) as Manifest;
  if (manifest.kind !== undefined) return manifest;
  const spec = { ...manifest, containers: [{ name: "app", image: "app" }] };
  return { apiVersion: "v1", kind: "Pod", metadata: { name: "app" }, spec };
}

function validated(manifest: unknown) {
  const validator = join(dirname(pythonWith("kubernetes-validate==1.37.0")), "kubernetes-validate");
  const file = join(temporaryFolder(), "manifest.json");
  writeFileSync(file, JSON.stringify(manifest));
  const { status, stdout, stderr } = spawnSync(validator, ["--strict", file], { encoding: "utf8" });
  return { status, words: `${stdout}${stderr}` };
}

test.runIf(isWanted).each(blocks.map((block) => [at(block), block.text]))("%s is valid", (_, text) => {
  expect(validated(wholeManifest(text))).toMatchObject({ status: 0 });
});

test.runIf(isWanted)("the validator refuses a wrong member", () => {
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec: { container: [] } };
  expect(validated(pod)).toMatchObject({ status: 1, words: expect.stringContaining("container") as string });
});
