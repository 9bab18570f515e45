/** The databases of a service share its connections: the last that is closed closes them. */
import { expect, test } from "vitest";
import { openHttp } from "../../src/features/rest/http/http.ts";
import { settingsOf } from "../../src/features/rest/options/options.ts";
import { serve } from "./servers.ts";

test("a request is under way until the last target that shares its connection is closed", async () => {
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  const { url } = await serve((response, { path }) => (path.endsWith("slow") ? arrive() : response.end("{}")));
  const config = { kind: "rest", endpoint: url, apiKey: "a-key", answerSeconds: 5 } as const;
  const open = () => openHttp(settingsOf(config, { name: "here", folder: "/" }));
  const [one, other] = [open(), open()];
  const slow = other.write({ endpoint: "POST /v1/slow" }).catch((error: unknown) => error);
  await arrived;
  // To close one twice does not close the other.
  await one.close();
  await one.close();
  expect(await other.read({ endpoint: "POST /v1/quick" })).toMatchObject({ status: 200 });
  await other.close();
  expect(await slow).toMatchObject({ cause: { code: "UND_ERR_DESTROYED" } });
});
