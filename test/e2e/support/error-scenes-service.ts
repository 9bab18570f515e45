/** Scenes of errors that are about a service: the one of the tables, or the one that `migrate serve` would be. */
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { apiKey as familyKey, startFamily } from "../../service/family/family-service.ts";
import { temporaryFolder, type Project } from "../../support/project.ts";
import { aProxy } from "../../support/proxy.ts";
import { aService, apiKey } from "../../support/service.ts";
import { aKeptProject, dropLedger } from "./kept.ts";
import { config, pending, people, type ErrorScenes } from "./scene-project.ts";

function onService(project: Project, endpoint: string, key: string): void {
  const target = { kind: "rest", endpoint, dialect: "service", apiKey: key };
  config(project, `targets: { here: ${JSON.stringify(target)} }`);
}

export const scenesOfServices: ErrorScenes = {
  ERR_ANSWER: async (project) => {
    const { url, data } = await aService();
    const proxy = await aProxy(url);
    proxy.fate = () => ({ status: 500, body: "broken" });
    onService(project, proxy.url, apiKey);
    await pending(project, people);
    return { database: data };
  },
  ERR_CREDENTIALS: async (project) => {
    const { url, data } = await aService();
    onService(project, url, "the key of another service");
    await pending(project, people);
    return { database: data };
  },
  ERR_TARGET_UNFIT: async (project) => {
    const database = temporaryFolder();
    const family = await startFamily(database, { taken: "overwritten" });
    onTestFinished(() => family[Symbol.asyncDispose]());
    onService(project, family.url, familyKey);
    await pending(project, people);
    return { database };
  },
  ERR_SERVICE_ADDRESS: async ({ migrate }) => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    return { migrate: (args) => migrate([...args, "--port", String(port)]) };
  },
  ERR_REPAIR_BLIND: async (project) => {
    const kept = await aKeptProject("service", 2, project);
    await dropLedger(kept);
    return { database: kept.data };
  },
};
