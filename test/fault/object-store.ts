/** An S3 server on this machine: that of Python's moto, installed in a folder for temporary files. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "../support/ports.ts";

export interface ObjectStore {
  /** A bucket of it. */
  readonly uri: string;
  readonly storageOptions: Readonly<Record<string, string>>;
  readonly stop: () => void;
}

const version = "5.2.5";

export async function startObjectStore(): Promise<ObjectStore> {
  const home = join(tmpdir(), `lance-migrate-moto-${version}`);
  const program = join(home, "bin/moto_server");
  if (!existsSync(program)) {
    execFileSync("python3", ["-m", "venv", home]);
    execFileSync(join(home, "bin/pip"), ["install", "--quiet", `moto[server]==${version}`]);
  }
  const endpoint = `http://127.0.0.1:${await freePort()}`;
  const server = spawn(program, ["--port", new URL(endpoint).port], { stdio: "ignore" });
  const stop = () => void server.kill();
  try {
    await createBucket(`${endpoint}/tables`);
  } catch (error) {
    stop();
    throw error;
  }
  return {
    uri: "s3://tables",
    storageOptions: {
      endpoint,
      region: "us-east-1",
      allow_http: "true",
      aws_access_key_id: "test",
      aws_secret_access_key: "test",
    },
    stop,
  };
}

/** The server takes seconds to start. */
async function createBucket(url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    const answer = await fetch(url, { method: "PUT" }).catch(() => undefined);
    if (answer?.ok) return;
    if (tries === 120) throw new Error(`no bucket can be made at ${url}: ${answer?.status ?? "nothing listens"}`);
    await pause(500);
  }
}
