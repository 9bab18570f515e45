/** Azure's blob storage by azurite, which also checks signatures. */
import { createHmac } from "node:crypto";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { installed, quietly } from "./install.ts";
import type { StoreProgram } from "./program.ts";

/** Those of every emulator, which are public. */
const account = "devstoreaccount1";
const key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const version = "2021-12-02";

export const azurite: StoreProgram = {
  async install() {
    const folder = await installed("azurite-3.35.0", async (folder) => {
      for (const file of ["package.json", "package-lock.json"])
        await copyFile(join(import.meta.dirname, "azurite", file), join(folder, file));
      await quietly("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], folder);
    });
    return [process.execPath, join(folder, "node_modules/azurite/dist/src/blob/main.js")];
  },
  args(port) {
    const quiet = ["--disableTelemetry", "--silent"];
    return ["--blobPort", String(port), "--inMemoryPersistence", "--skipApiVersionCheck", ...quiet];
  },
  async prepare(port) {
    const endpoint = `http://127.0.0.1:${port}/${account}`;
    await createContainer(endpoint, "tables");
    const common = { azure_storage_account_name: account, azure_storage_endpoint: endpoint, allow_http: "true" };
    return {
      uri: (container) => `az://${container}`,
      endpoint,
      storageOptions: { ...common, azure_storage_account_key: key },
      readOnly: { ...common, azure_storage_sas_key: readingSignature("tables") },
      unknownKey: { ...common, azure_storage_account_key: Buffer.from("unknown").toString("base64") },
    };
  },
};

async function createContainer(endpoint: string, name: string): Promise<void> {
  const date = new Date().toUTCString();
  const signed = `PUT${"\n".repeat(12)}x-ms-date:${date}\nx-ms-version:${version}\n/${account}/${account}/${name}\nrestype:container`;
  const answer = await fetch(`${endpoint}/${name}?restype=container`, {
    method: "PUT",
    headers: {
      "x-ms-date": date,
      "x-ms-version": version,
      authorization: `SharedKey ${account}:${signature(signed)}`,
    },
  });
  if (!answer.ok) throw new Error(`the container can't be created: ${answer.status} ${await answer.text()}`);
}

/** A shared access signature for reading and listing. */
function readingSignature(container: string): string {
  const [sp, se, sr] = ["rl", "2099-01-01T00:00:00Z", "c"];
  const resource = `/blob/${account}/${container}`;
  // Permissions, start, expiry, resource, identifier, addresses, protocol, version, kind, snapshot, scope, five headers.
  const signed = [sp, "", se, resource, "", "", "", version, sr, "", "", "", "", "", "", ""].join("\n");
  return new URLSearchParams({ sv: version, se, sr, sp, sig: signature(signed) }).toString();
}

function signature(text: string): string {
  return createHmac("sha256", Buffer.from(key, "base64")).update(text).digest("base64");
}
