/** A request that was answered leaves nothing in memory: a run on many databases sends many. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { openHttp } from "../../src/features/rest/http/http.ts";
import { settingsOf } from "../../src/features/rest/options/options.ts";
import { serve } from "./servers.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

test("the body of an answered request is released before its time limit", async () => {
  const { url } = await serve((response) => response.end("{}"));
  const http = openHttp(settingsOf({ kind: "rest", endpoint: url, apiKey: "a-key" }, { name: "here", folder: "/" }));
  const bodies: WeakRef<Uint8Array>[] = [];
  for (let sent = 0; sent < 20; sent++) {
    const bytes = new Uint8Array(1000);
    bodies.push(new WeakRef(bytes));
    await http.write({ endpoint: "POST /v1/tables/t", body: { type: "application/json", bytes } });
  }
  for (let tries = 0; tries < 10; tries++) {
    await nextTurn();
    collectGarbage();
  }
  // The connection itself may hold the last one.
  expect(bodies.filter((body) => body.deref() !== undefined).length).toBeLessThanOrEqual(1);
  await http.close();
});
