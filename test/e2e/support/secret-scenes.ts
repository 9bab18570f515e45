/** Ways in which a secret gets near the command: settings, keys, servers, proxies, object stores and code that fails. */
import { createHash } from "node:crypto";
import type { Answering } from "../../rest/servers.ts";
import { serve, serveProxy, serveSockets } from "../../rest/servers.ts";
import { freePort } from "../../support/ports.ts";
import { echoOf, trickyKey } from "../../support/secrets.ts";
import type { Environment } from "./watched.ts";

export interface Scene {
  /** Completes the sentence "no secret is shown with …". */
  readonly title: string;
  readonly files: Readonly<Record<string, string>>;
  readonly env: Environment;
  readonly secrets: readonly string[];
  /** Whether code of the user's own prints it, which in a program of his own is his to decide. */
  readonly printed?: boolean;
}

const key = trickyKey;
const encoded = encodeURIComponent(key);
const quoted = JSON.stringify;
export const plainKey = "sk-live-4711-never-shown";

export const module = (up: string) => `import * as m from "lance-migrate";\n\nexport const up = ${up};\n`;
export const migrations = {
  "package.json": '{ "type": "module" }\n',
  "migrations/0001_documents.ts": module(`[m.createTable("documents", { id: m.int32().notNull(), title: m.utf8() })]`),
  "migrations/0002_headlines.ts": module(`[m.renameColumn("documents", "title", "headline")]`),
  "schema.ts": `import * as m from "lance-migrate";
export default m.defineSchema({ documents: { id: m.int32().notNull(), headline: m.utf8() } });
`,
};
/** A program that uses the library and shows all of what it throws. */
const library = {
  "library.mjs": `
import { inspect } from "node:util";
import { openMigrator } from "lance-migrate";
const show = (value) => console.log(inspect(value, { depth: Infinity, showHidden: true, maxStringLength: null }));
try {
  const migrator = await openMigrator({ emit: show });
  show(await migrator.status());
  show(await migrator.plan());
  show(await migrator.up());
  await migrator.close();
} catch (error) {
  for (let at = error; at instanceof Error; at = at.cause) show([at, at.message, at.stack, { ...at }, JSON.stringify(at.details)]);
}
process.exit();
`,
};

export const configured = (target: string, rest = "") => ({
  ...migrations,
  ...library,
  "migrate.config.ts": `${rest}\nexport default { leaseSeconds: 1, waitSeconds: 0, targets: { cloud: { push: true, ...${target} } } };\n`,
});
const scene = (title: string, target: string, env: Environment = {}, secrets: readonly string[] = [key]): Scene => ({
  title,
  files: configured(target),
  env: { KNOCK: secrets[0]!, ...env },
  secrets,
});

const at = (endpoint: string, apiKey = key) =>
  `{ kind: "rest", apiKey: ${quoted(apiKey)}, endpoint: ${quoted(endpoint)}, connectSeconds: 1, answerSeconds: 1 }`;
const nowhere = "http://127.0.0.1:9";

export const settings: readonly Scene[] = [
  scene("the key as the endpoint's user", at(`https://${encoded}@127.0.0.1`)),
  scene("the key as the endpoint's password", at(`https://u:${encoded}@127.0.0.1`)),
  scene("the key in the endpoint's query", at(`http://127.0.0.1:9/?api_key=${encoded}`)),
  scene("the key in the endpoint's path", at(`http://127.0.0.1:9/${encoded}/v1`)),
  scene("the key as it is in the endpoint's path", at(`http://127.0.0.1:9/${plainKey}/`, plainKey), {}, [plainKey]),
  scene("the key behind db://", at(`db://${plainKey}`, plainKey), {}, [plainKey]),
  scene("the key as the host", at(`https://${plainKey}.invalid`, plainKey), {}, [plainKey]),
  scene("the key behind a line break of the endpoint", at(`http://127.0.0.1:9\n${key}`)),
  scene("the key behind a NUL of the endpoint", at(`http://127.0.0.1:9/\0${key}`)),
  scene("the key as the port", at(`http://127.0.0.1:${key}`)),
  scene("the key in MIGRATE_ENDPOINT", `{ kind: "rest" }`, { MIGRATE_ENDPOINT: `ftp://${key}`, MIGRATE_API_KEY: key }),
  scene("the key in MIGRATE_DATABASE", at(nowhere), { MIGRATE_DATABASE: key, MIGRATE_API_KEY: key }),
  scene("a key with a line break", at(nowhere, `${key}\r\nx-admin: 1`)),
  scene("a key with an escape sequence", at(nowhere, `\u001b[31m${key}`)),
  scene("a key beyond ASCII", at(nowhere, `${key}ä🔑`)),
  scene("a key in percent-encoding", at(nowhere, encoded), {}, [key, encoded]),
  scene("a key in JSON's escapes", at(nowhere, quoted(key).slice(1, -1))),
  scene("a key in base64", at(nowhere, Buffer.from(key).toString("base64"))),
  scene("a key that is an object", `{ kind: "rest", endpoint: "x", apiKey: { key: ${quoted(key)} } }`),
  scene("a key that is a list", `{ kind: "rest", endpoint: "x", apiKey: [${quoted(key)}] }`),
  scene("a key with a tab", at(nowhere, `${key}\t`)),
  scene("a key with a line break in the environment", `{ kind: "rest", endpoint: "${nowhere}" }`, {
    MIGRATE_API_KEY: `${key}\n`,
  }),
  scene("the key as a header's name", `{ kind: "rest", endpoint: "${nowhere}", headers: { ${quoted(key)}: "x" } }`),
  scene("the key in the name of a setting", `{ kind: "rest", apikey: ${quoted(key)}, ${quoted(`k${key}`)}: 1 }`, {
    MIGRATE_API_KEY: key,
  }),
  scene("a syntax error beside the key", `{ kind: "rest", apiKey: ${quoted(key)}, endpoint: `),
];

const everything = echoOf(key);
const text =
  (status: number, body: string, headers: Record<string, string> = {}): Answering =>
  (response) =>
    response.writeHead(status, headers).end(body);

const answers: readonly (readonly [string, Answering])[] = [
  ["401 that repeats it", text(401, everything)],
  ["500 with a stack that repeats it", text(500, `panicked at ${everything}\n    at f (${key}:1:2)\n`)],
  ["an error in JSON that repeats it", text(400, quoted({ error: everything, stack: everything }))],
  ["an error in JSON in JSON", text(422, quoted({ message: quoted({ headers: { "x-api-key": key, everything } }) }))],
  ["HTML with 200", text(200, `<!DOCTYPE html><html><body>${everything}</body></html>`)],
  ["HTML with 502", text(502, `<html><body>${everything}</body></html>`)],
  [
    "a redirect that repeats it",
    text(302, everything, { location: `https://${encoded}@x.example/${encoded}?k=${encoded}` }),
  ],
  ["headers that repeat it", text(400, "", { "x-echo": encoded, "www-authenticate": `Key ${encoded}` })],
  ["half a list that holds it", text(200, `["a","${everything}`)],
  ["basic authorization that holds it", text(403, Buffer.from(`user:${key}@x`).toString("base64"))],
  [
    "an answer that is cut behind it",
    (response) => {
      response.writeHead(200, { "content-length": "100000", "x-echo": encoded });
      response.write(everything, () => response.destroy());
    },
  ],
];
const givenBy: readonly ((endpoint: string) => readonly [string, string, Environment])[] = [
  (endpoint) => ["given by the configuration", at(endpoint), {}],
  (endpoint) => ["given by MIGRATE_API_KEY", `{ kind: "rest", endpoint: "${endpoint}" }`, { MIGRATE_API_KEY: key }],
  (endpoint) => [
    "given by a header",
    `{ kind: "rest", endpoint: "${endpoint}", apiKey: "something-else", dialect: "namespace", headers: { Authorization: ${quoted(key)} } }`,
    {},
  ],
];

/** Servers that fail, each with the key given in another way. */
export async function failing(): Promise<readonly Scene[]> {
  const urls = await Promise.all(answers.map(async ([, answer]) => (await serve(answer)).url));
  const sockets = await serveSockets((socket) => socket.end(`SSH-2.0 ${everything}\r\n`));
  return [...answers.map(([title]) => title), "no HTTP"].map((title, index) => {
    const [how, target, env] = givenBy[index % givenBy.length]!(urls[index] ?? sockets.url);
    return scene(`${title}, ${how}`, target, env);
  });
}

/** Proxies that hold a password, or want another. */
export async function proxied(): Promise<readonly Scene[]> {
  const proxies = [
    ["a proxy that does not listen", `http://user:${encoded}@127.0.0.1:${await freePort()}`],
    ["a proxy that wants another password", (await serveProxy(407)).url.replace("//", `//user:${encoded}@`)],
    ["a proxy that repeats its password", (await serve(text(500, everything))).url.replace("//", `//user:${encoded}@`)],
    ["a proxy that is no address", `http://user:${encoded}@127.0.0.1:99999`],
    ["a proxy without a scheme that is no address", `user:${key}@127.0.0.1:99999`],
  ] as const;
  return proxies.map(([title, proxy], index) => ({
    ...scene(title, at(index % 2 === 0 ? nowhere : "https://127.0.0.1:9", plainKey), {
      http_proxy: proxy,
      https_proxy: proxy,
    }),
    secrets: [key, plainKey],
  }));
}

/** Object stores that repeat what they were sent, and one that is not there. */
export async function stores(): Promise<readonly Scene[]> {
  const denied = await serve((response, { path, headers }) =>
    response
      .writeHead(403, { "content-type": "application/xml" })
      .end(`<Error><Code>Denied</Code><Message>${path} ${quoted(headers)} ${everything}</Message></Error>`),
  );
  const signature = "aB3cD4eF5gH6iJ7kL8mN9/oP0+qR=";
  const sas = `sv=2024-01-01&sig=${encodeURIComponent(signature)}`;
  const lance = (uri: string, storageOptions: object) => quoted({ kind: "lance", uri, storageOptions });
  const common = { region: "us-east-1", allow_http: "true", client_max_retries: "0", client_retry_timeout: "1" };
  const s3 = (endpoint: string) => ({ ...common, endpoint, aws_access_key_id: "AKIAEXAMPLE" });
  return [
    scene(
      "an object store that repeats its session token",
      lance("s3://bucket/tables", { ...s3(denied.url), aws_secret_access_key: key, aws_session_token: plainKey }),
      {},
      [key, plainKey],
    ),
    scene(
      "an object store that is not there",
      lance("s3://bucket/tables", s3(`http://127.0.0.1:${await freePort()}`)),
      { AWS_SECRET_ACCESS_KEY: key, AWS_SESSION_TOKEN: plainKey },
      [key, plainKey],
    ),
    scene(
      "an object store that repeats its signed address",
      lance("az://container/tables", {
        ...common,
        azure_storage_account_name: "account",
        azure_storage_endpoint: denied.url,
        azure_storage_sas_key: sas,
      }),
      {},
      [signature, sas],
    ),
    scene("a key in the URI of an object store", lance(`s3://AKIA:${encoded}@bucket/x`, s3(denied.url))),
  ];
}

const local = `{ kind: "lance", uri: ".lancedb" }`;
const code = (title: string, files: Readonly<Record<string, string>>): Scene => ({
  ...scene(title, local, { MIGRATE_API_KEY: key }),
  files: { ...configured(local), ...files },
});
const printed = (scene: Scene): Scene => ({ ...scene, printed: true });
const shownKey = "process.env.MIGRATE_API_KEY";
/** Like those of an RSA key. */
const pemLines = Array.from({ length: 26 }, (_, line) => createHash("sha384").update(`${line}`).digest("base64"));
const pem = ["-----BEGIN PRIVATE KEY-----", ...pemLines, "-----END PRIVATE KEY-----", ""].join("\n");
const account = quoted({ type: "service_account", private_key: pem, client_email: "a@b.example" });
const shownAccount = "JSON.parse(process.env.GOOGLE_SERVICE_ACCOUNT_KEY)";
/** Long enough for what was left behind to fail. */
const pause = "await new Promise((done) => setTimeout(done, 100));";
const third = (text: string) => ({ "migrations/0003_third.ts": `${text}\nexport const up = [];\n` });

/** Migrations and configurations that show the key themselves. */
export const crashes: readonly Scene[] = [
  code("a migration that throws it", third(`throw new Error("no access with " + ${shownKey});`)),
  code("a migration that throws it as a text", third(`throw ${shownKey};`)),
  code(
    "a migration that throws it as a cause",
    third(`throw new AggregateError([new Error(${shownKey})], "x", { cause: new Error(${shownKey}) });`),
  ),
  printed(
    code("a migration whose timer throws it", third(`setTimeout(() => { throw new Error(${shownKey}); }); ${pause}`)),
  ),
  printed(
    code("a migration whose promise fails with it", third(`void Promise.reject(new Error(${shownKey})); ${pause}`)),
  ),
  printed(
    code(
      "a migration whose promise fails with an object that holds it",
      third(`void Promise.reject({ key: ${shownKey}, [${shownKey}]: 7, bytes: Buffer.from(${shownKey}) }); ${pause}`),
    ),
  ),
  printed(
    code(
      "a migration that prints it",
      third(`console.log(${shownKey}); process.stdout.write(Buffer.from(${shownKey}));`),
    ),
  ),
  printed({
    ...code("a migration that prints what is in a key file", third(`console.log(${shownAccount}.private_key);`)),
    env: { GOOGLE_SERVICE_ACCOUNT_KEY: account },
    secrets: pemLines,
  }),
  printed(code("a migration that warns with it", third(`process.emitWarning(${shownKey});`))),
  code("a configuration that throws it", configured(local, `throw new Error("bad " + JSON.stringify(${shownKey}));`)),
  printed(code("a configuration that prints it", configured(local, `console.error({ key: ${shownKey} });`))),
  code("a migration with it as a step", { "migrations/0003_third.ts": module(`[{ kind: ${shownKey} }]`) }),
  {
    ...scene("traces of Node", at(nowhere), { NODE_DEBUG: "undici,http,http2,https,net,tls,fetch,stream" }),
  },
];
