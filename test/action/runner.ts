/** Runs a composite action as GitHub does, as far as action.yml uses it. Whatever else an action says, it refuses. */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { temporaryFolder } from "../support/project.ts";

interface Step {
  readonly id: string;
  readonly if?: string;
  readonly shell: "bash";
  readonly run: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly "working-directory"?: string;
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly required?: boolean; readonly default?: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly using: "composite"; readonly steps: readonly Step[] };
}

/** A job that uses the action. */
export interface Job {
  /** The folder of the action. */
  readonly action: string;
  /** The folder with the checkout. */
  readonly workspace: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly event: object;
  readonly env: Readonly<Record<string, string>>;
  readonly token: string;
  /** Cancels the job when its log has this. */
  readonly cancelAt?: RegExp | undefined;
}

export interface Ended {
  readonly isSuccess: boolean;
  readonly log: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly summary: string;
}

export async function runAction(job: Job): Promise<Ended> {
  const { inputs: known, outputs, runs } = parse(readFileSync(join(job.action, "action.yml"), "utf8")) as Action;
  const stray = Object.keys(job.inputs).filter((name) => !Object.hasOwn(known, name));
  const missing = Object.keys(known).filter((name) => known[name]!.required === true && !(name in job.inputs));
  if (stray.length + missing.length > 0) throw new Error(`wrong inputs: ${[...stray, ...missing].join(", ")}`);
  const scope: Record<string, string> = { "github.token": job.token };
  for (const [name, { default: usual = "" }] of Object.entries(known))
    scope[`inputs.${name}`] = job.inputs[name] ?? filled(usual, scope);
  const folder = temporaryFolder();
  const file = (name: string, text = "") => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const summary = file("summary.md");
  const event = file("event.json", JSON.stringify(job.event));
  let [isSuccess, log] = [true, ""];
  for (const step of runs.steps) {
    if (!(step.if === undefined ? isSuccess : holds(step.if, scope))) continue;
    const output = file(`${step.id}.output`);
    const own = Object.entries(step.env ?? {}).map(([name, value]) => [name, filled(value, scope)]);
    const env = {
      ...process.env,
      ...job.env,
      ...Object.fromEntries(own),
      GITHUB_ACTION_PATH: job.action,
      GITHUB_EVENT_PATH: event,
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: summary,
      GITHUB_WORKSPACE: job.workspace,
      RUNNER_TEMP: folder,
    };
    const cwd = join(job.workspace, filled(step["working-directory"] ?? ".", scope));
    if (step.run.includes("${{")) throw new Error(`an expression in a script: ${step.run}`);
    const ended = await runScript(file(`${step.id}.sh`, step.run), cwd, env, job.cancelAt);
    log += ended.log;
    isSuccess &&= ended.code === 0;
    for (const line of readFileSync(output, "utf8").split("\n").filter(Boolean)) {
      const at = line.indexOf("=");
      scope[`steps.${step.id}.outputs.${line.slice(0, at)}`] = line.slice(at + 1);
    }
  }
  const given = Object.entries(outputs).map(([name, { value }]) => [name, filled(value, scope)]);
  return { isSuccess, log, outputs: Object.fromEntries(given), summary: readFileSync(summary, "utf8") };
}

async function runScript(script: string, cwd: string, env: NodeJS.ProcessEnv, cancelAt?: RegExp) {
  // What GitHub means by `shell: bash`.
  const child = spawn("bash", ["--noprofile", "--norc", "-eo", "pipefail", script], { cwd, env });
  let log = "";
  let isCancelled = false;
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => {
      log += text;
      if (isCancelled || cancelAt?.test(log) !== true) return;
      isCancelled = true;
      // Only the first process of a step receives it.
      child.kill("SIGINT");
    });
  const code = await new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
  return { code, log };
}

/** The text with the values of its expressions. */
function filled(text: string, scope: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{\{(.*?)\}\}/g, (_, name: string) => valueOf(name.trim(), scope));
}

/** Only comparisons that are joined by `&&`. */
function holds(condition: string, scope: Readonly<Record<string, string>>): boolean {
  return condition.split("&&").every((part) => {
    const [left = "", operator, right = ""] = part.trim().split(/ (==|!=) /);
    if (left === "always()") return true;
    if (operator === undefined || !/^'[^']*'$/.test(right)) throw new Error(`unknown condition: ${part}`);
    return (valueOf(left, scope) === right.slice(1, -1)) === (operator === "==");
  });
}

function valueOf(name: string, scope: Readonly<Record<string, string>>): string {
  const isOutput = /^steps\.\w+\.outputs\.[\w-]+$/.test(name);
  if (!isOutput && !Object.hasOwn(scope, name)) throw new Error(`unknown expression: ${name}`);
  return scope[name] ?? "";
}
