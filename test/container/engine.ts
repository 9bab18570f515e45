/** The image of our Dockerfile, and containers of it on volumes; `cleanUp` leaves nothing of them. */
import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import {
  GenericContainer,
  getContainerRuntimeClient,
  Wait,
  type StartedTestContainer,
  type WaitStrategy,
} from "testcontainers";
import { root, temporaryFolder } from "../support/project.ts";

export const apiKey = "a-key-that-nobody-may-see";

const label = { "lance-migrate.test": randomUUID() };
/** By the stages of the Dockerfile. */
const images = {
  service: `lance-migrate:test-${Object.values(label)[0]}`,
  command: `lance-migrate-command:test-${Object.values(label)[0]}`,
};
const image = images.service;
const port = 2333;

/** Why no container can run here; undefined where one can. */
export async function whyNoEngine(): Promise<string | undefined> {
  try {
    await getContainerRuntimeClient();
    return undefined;
  } catch (error) {
    return `no container engine runs here: ${error instanceof Error ? error.message : String(error)}`;
  }
}

export async function buildImage(stage: keyof typeof images): Promise<void> {
  try {
    await GenericContainer.fromDockerfile(root).withTarget(stage).build(images[stage]);
  } catch (cause) {
    // testcontainers keeps what the engine said to itself.
    throw new Error("the image could not be built; DEBUG=testcontainers:build shows why", { cause });
  }
}

export async function cleanUp(): Promise<void> {
  const docker = await theEngine();
  const filters = { label: Object.entries(label).map(([name, value]) => `${name}=${value}`) };
  for (const { Id } of await docker.listContainers({ all: true, filters }))
    await docker.getContainer(Id).remove({ force: true, v: true });
  const { Volumes } = await docker.listVolumes({ filters });
  for (const { Name } of Volumes) await docker.getVolume(Name).remove();
  for (const { Id } of await docker.listImages({ filters: { reference: Object.values(images) } }))
    await docker.getImage(Id).remove({ force: true });
}

/** A new named volume. */
export async function aVolume(): Promise<string> {
  const name = `lance-migrate-test-${randomUUID()}`;
  await (await theEngine()).createVolume({ Name: name, Labels: label });
  return name;
}

export interface Served {
  readonly url: string;
  readonly container: StartedTestContainer;
  /** Ends it at once, as a crash does; the volume stays. Returns the exit code. */
  kill(): Promise<number>;
  /** Asks it to end and waits for that. Returns the exit code. */
  stop(): Promise<number>;
  /** What stands in its volume, in a folder that is gone after the test. */
  data(): Promise<string>;
}

/** A container of the image that answers. */
export async function serve(volume: string, wait: WaitStrategy = Wait.forHttp("/healthz", port)): Promise<Served> {
  const container = await new GenericContainer(image)
    .withLabels(label)
    .withEnvironment({ MIGRATE_API_KEY: apiKey })
    .withBindMounts([{ source: volume, target: "/data", mode: "rw" }])
    .withExposedPorts(port)
    .withWaitStrategy(wait)
    .start();
  const raw = (await theEngine()).getContainer(container.getId());
  const gone = async (): Promise<number> => {
    const { StatusCode } = await raw.wait();
    await raw.remove({ v: true });
    return StatusCode;
  };
  return {
    url: `http://${container.getHost()}:${container.getMappedPort(port)}`,
    container,
    async kill() {
      await raw.kill({ signal: "SIGKILL" });
      return await gone();
    },
    async stop() {
      await raw.stop({ t: 600 });
      return await gone();
    },
    async data() {
      const folder = temporaryFolder();
      const archive = join(folder, "data.tar");
      await pipeline(await container.copyArchiveFromContainer("/data"), createWriteStream(archive));
      execFileSync("tar", ["--extract", "--file", archive, "--directory", folder]);
      return join(folder, "data");
    },
  };
}

/** Runs a container of the image without a key to its end. */
export async function serveWithoutKey(): Promise<{ readonly code: number; readonly said: string }> {
  const docker = await theEngine();
  const container = await docker.createContainer({ Image: image, Labels: label, Tty: true });
  await container.start();
  const { StatusCode } = await container.wait();
  const said = await container.logs({ stdout: true, stderr: true });
  await container.remove({ v: true });
  return { code: StatusCode, said: said.toString() };
}

export interface Commanded {
  /** Asks it to end and waits for that. */
  stop(): Promise<void>;
  /** What it has printed until now. */
  said(): Promise<string>;
  /** Its exit code, when it has ended. */
  code(): Promise<number>;
}

/** Starts a container of the image of the command, with a folder as its project. */
export async function command(folder: string, ...args: readonly string[]): Promise<Commanded> {
  const docker = await theEngine();
  const container = await docker.createContainer({
    Image: images.command,
    Labels: label,
    Cmd: [...args],
    Tty: true,
    HostConfig: { Binds: [`${folder}:/project`] },
  });
  await container.start();
  return {
    stop: async () => void (await container.stop({ t: 30 })),
    said: async () => (await container.logs({ stdout: true, stderr: true })).toString(),
    code: async () => ((await container.wait()) as { StatusCode: number }).StatusCode,
  };
}

/** What anybody can read in the image: its configuration, and the commands that made it. */
export async function bakedIn(): Promise<string> {
  const made = (await theEngine()).getImage(image);
  return JSON.stringify([await made.inspect(), await made.history()]);
}

async function theEngine() {
  return (await getContainerRuntimeClient()).container.dockerode;
}
