/**
 * The manifests in the documentation, by the schemas of Kubernetes. The validator is a package of Python, so this runs
 * only where REQUIRE_PYTHON=1, as .ci/run sets it.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { pythonWith, wheelOf } from "../clients/client.ts";
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
const wrong = { apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec: { container: [] } };

/** A part of a pod becomes a pod. */
function wholeManifest(text: string): unknown {
  const manifest = parse(text) as Manifest;
  if (manifest.kind !== undefined) return manifest;
  const spec = { ...manifest, containers: [{ name: "app", image: "app" }] };
  return { apiVersion: "v1", kind: "Pod", metadata: { name: "app" }, spec };
}

/** What the validator says of each, in one call: it takes seconds to start. */
function validated(manifests: readonly unknown[]): readonly string[] {
  // What the validator needs is installed. Itself it has the schemas of all releases, thousands of files.
  const python = pythonWith("jsonschema==4.26.0", "PyYAML==6.0.4", "importlib-resources==7.1.0", "packaging==26.4");
  const env = { ...process.env, PYTHONPATH: wheelOf("kubernetes-validate==1.37.0") };
  const file = join(temporaryFolder(), "manifests.yaml");
  writeFileSync(file, manifests.map((one) => JSON.stringify(one)).join("\n---\n"));
  const { stdout, stderr } = spawnSync(python, ["-m", "kubernetes_validate", "--strict", file], {
    env,
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  return stdout.trim().split("\n");
}

test.runIf(isWanted)("the manifests are valid, and the validator refuses a wrong member", () => {
  const manifests = blocks.map(({ text }) => wholeManifest(text));
  const words = validated([...manifests, wrong]);
  expect(words).toHaveLength(manifests.length + 1);
  const found = blocks.map((block, index) => `${at(block)}: ${words[index]}`);
  expect(found).toEqual(blocks.map((block) => expect.stringMatching(`^${at(block)}: INFO .* passed`) as string));
  expect(words.at(-1)).toMatch(/^ERROR .*spec/);
});
