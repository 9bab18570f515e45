/**
 * The manifests in the documentation, by the schemas of Kubernetes. The validator is a package of Python.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { pythonWith, wheelOf } from "../clients/client.ts";
import { lacks } from "../support/needs.ts";
import { temporaryFolder } from "../support/project.ts";
import { allBlocks, at } from "./blocks.ts";

interface Manifest {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: object;
}

const blocks = allBlocks().filter(({ page, language }) => page === "docs/kubernetes.md" && language === "yaml");
const wrong = { apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, spec: { container: [] } };

/** A part of a pod becomes a pod, and metadata an object that has nothing else. */
function wholeManifest(text: string): unknown {
  const manifest = parse(text) as Manifest;
  if (manifest.kind !== undefined) return manifest;
  const spec = { containers: [{ name: "app", image: "app" }], ...manifest };
  if (manifest.metadata !== undefined)
    return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "app", ...manifest.metadata } };
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

test.skipIf(lacks("long") || lacks("python"))(
  "the manifests are valid, and the validator refuses a wrong member",
  () => {
    const manifests = blocks.map(({ text }) => wholeManifest(text));
    const words = validated([...manifests, wrong]);
    expect(words).toHaveLength(manifests.length + 1);
    const found = blocks.map((block, index) => `${at(block)}: ${words[index]}`);
    expect(found).toEqual(blocks.map((block) => expect.stringMatching(`^${at(block)}: INFO .* passed`) as string));
    expect(words.at(-1)).toMatch(/^ERROR .*spec/);
  },
);

test.each([
  { state: "complete", code: 0 },
  { state: "failed", code: 1 },
])("the script that waits ends as soon as the job is $state", ({ state, code }) => {
  const script = allBlocks().find(({ page, text }) => page === "docs/kubernetes.md" && text.includes("kubectl wait"))!;
  const folder = temporaryFolder();
  const log = join(folder, "log");
  // It waits in vain for a condition that the job does not get.
  const kubectl = `#!/bin/sh\necho "$@" >>${log}\ncase $* in wait*condition=${state}*) ;; wait*) exit 1 ;; esac\n`;
  writeFileSync(join(folder, "kubectl"), kubectl, { mode: 0o755 });
  const env = { ...process.env, PATH: `${folder}:${process.env["PATH"]}` };
  const { status } = spawnSync("bash", ["-e", "-c", script.text], { env, stdio: "ignore" });
  expect(status).toBe(code);
  const calls = readFileSync(log, "utf8").trim().split("\n");
  expect(calls.filter((call) => call.startsWith("wait"))).toHaveLength(1 + code);
  expect(calls.at(-1)).toBe("logs job/migrate-1.2.3");
});
