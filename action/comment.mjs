/** Writes the comment of action.yml: edits the one of an earlier run, or makes one. */
import { appendFileSync, readFileSync } from "node:fs";

const { env } = process;
const { GITHUB_API_URL: api, GITHUB_REPOSITORY: repository } = env;
const comments = `${api}/repos/${repository}/issues`;
const perPage = 100;

const { pull_request: pull } = JSON.parse(readFileSync(env.GITHUB_EVENT_PATH, "utf8"));
if (pull === undefined) console.log("no comment: the event is not about a pull request");
else await write(pull.number);

async function write(number) {
  const which = ["COMMAND", "FOLDER", "TARGET", "DATABASE"].map((name) => env[`LANCE_MIGRATE_${name}`] ?? "");
  const marker = `<!-- lance-migrate action ${which.map(encodeURIComponent).join(" ")} -->`;
  const body = `${marker}\n${readFileSync(env.LANCE_MIGRATE_COMMENT, "utf8")}`;
  try {
    const earlier = await find(number, marker);
    const { html_url: url } =
      earlier === undefined
        ? await request("POST", `${comments}/${number}/comments`, { body })
        : await request("PATCH", `${comments}/comments/${earlier.id}`, { body });
    appendFileSync(env.GITHUB_OUTPUT, `comment-url=${url}\n`);
  } catch (error) {
    if (![401, 403, 404].includes(error.status)) throw error;
    // The token of a pull request from a fork may only read. The summary of the job shows the same.
    console.log(`::warning::no comment: ${error.message}; the token needs pull-requests: write`);
  }
}

/** The comment of an earlier run. People can write such a first line too, and could edit their own comment later. */
async function find(number, marker) {
  for (let page = 1; ; page++) {
    const found = await request("GET", `${comments}/${number}/comments?per_page=${perPage}&page=${page}`);
    for (const one of found) if (one.body?.split(/\r?\n/)[0] === marker && (await isOurs(one))) return one;
    if (found.length < perPage) return undefined;
  }
}

async function isOurs({ user }) {
  if (user?.type === "Bot") return true;
  // The token of a job belongs to no user.
  const self = await request("GET", `${api}/user`).catch(() => undefined);
  return self !== undefined && self.login === user?.login;
}

async function request(method, url, body, tries = 2) {
  const response = await fetch(url, {
    method,
    headers: { accept: "application/vnd.github+json", authorization: `Bearer ${env.LANCE_MIGRATE_TOKEN}` },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  if (response.ok) return await response.json();
  if (response.status >= 500 && tries > 1) return await request(method, url, body, tries - 1);
  const error = new Error(`${method} ${new URL(url).pathname} was answered with ${response.status}`);
  throw Object.assign(error, { status: response.status });
}
