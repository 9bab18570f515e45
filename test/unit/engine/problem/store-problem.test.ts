import { describe, expect, test } from "vitest";
import { storeProblem } from "../../../../src/engine/problem/store-problem.ts";

const source = "/usr/local/cargo/registry/src/index.crates.io-1949cf8c6b5b557f/lance-io-12.0.0/src/object_store.rs";
const endpoint = "check endpoint in storageOptions, and the network";
const permissions = "check the credentials, and that they may list, read, write and delete objects there";

/** What the engine reports when it connects: a dump. */
function dump(
  inner: string,
  uri = "http://127.0.0.1:9/tables?list-type=2&prefix=p1%2F__manifest",
  kind = "ListRequest",
) {
  return `Error: Invalid input, Failed to connect to namespace: IO { source: Generic { store: "S3", source: ${kind} { source: RetryError(RetryErrorImpl { method: GET, uri: Some(${uri}), retries: 3, max_retries: 3, elapsed: 344.737264ms, retry_timeout: 180s, inner: ${inner} }) } }, location: Location { file: "${source}", line: 1490, column: 92 }, backtrace: MaybeBacktrace }`;
}
const connecting = (cause: string) =>
  `Http(HttpError { kind: Connect, source: reqwest::Error { kind: Request, source: hyper_util::client::legacy::Error(Connect, ${cause}) } })`;

/** What it reports later: a chain of causes, each with all that follow. */
function chain(request: string, end: string, last = end): string {
  const line = `Error performing ${request} in 109.956219ms${end}`;
  return `Error: lance error: LanceError(IO): Generic S3 error: ${line}, ${source}:1467:22  Caused by: LanceError(IO): Generic S3 error: ${line}, ${source}:1467:22    Caused by: ${last}`;
}
const answered = (status: string, body: string) => ` - Server returned non-2xx status code: ${status}: ${body}`;
const put = "PUT http://127.0.0.1:9/tables/p1/t.lance/data/0110.lance";

describe("no answer", () => {
  test.each([
    {
      title: "a closed port",
      text: dump(
        connecting(
          `ConnectError("tcp connect error", 127.0.0.1:9, Os { code: 111, kind: ConnectionRefused, message: "Connection refused" })`,
        ),
      ),
      cause: `the connection was refused; ${endpoint}`,
    },
    {
      title: "a name without an address",
      text: dump(
        connecting(
          `ConnectError("dns error", Custom { kind: Uncategorized, error: "failed to lookup address information: Name or service not known" })`,
        ),
      ),
      cause: `its host name can't be resolved; ${endpoint}`,
    },
    {
      title: "a server without TLS",
      text: dump(
        connecting(
          "Custom { kind: Other, error: Custom { kind: InvalidData, error: InvalidMessage(InvalidContentType) } }",
        ),
      ),
      cause: `no TLS connection can be made; ${endpoint}`,
    },
    {
      title: "plain http that is not allowed",
      text: dump("Http(HttpError { kind: Unknown, source: reqwest::Error { kind: Builder, source: BadScheme } })"),
      cause: `http:// is not allowed; set allow_http: "true" in storageOptions, or use https://`,
    },
    {
      title: "a server that does not answer",
      text: dump("Http(HttpError { kind: Timeout, source: reqwest::Error { kind: Request, source: TimedOut } })"),
      cause: `it took too long; ${endpoint}; timeout in storageOptions is the limit`,
    },
  ])("$title", ({ text, cause }) => {
    expect(storeProblem(text)).toEqual({
      sentence: `GET http://127.0.0.1:9/tables got no answer: ${cause}`,
      outcome: "unanswered",
    });
  });

  test("a connection that ends in the middle of a later call", () => {
    const text = chain(
      put,
      ", after 1 retries, max_retries: 1, retry_timeout: 2s  - HTTP error: error sending request",
      "connection closed before message completed",
    );
    expect(storeProblem(text)).toEqual({
      sentence: `${put} got no answer: the connection failed; ${endpoint}`,
      outcome: "unanswered",
    });
  });
});

describe("an answer", () => {
  test.each([
    {
      title: "of a store without that bucket, in a dump",
      text: dump(
        `Status { status: 404, body: Some("<?xml version=\\"1.0\\" encoding=\\"utf-8\\"?>\\n<Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message></Error>") }`,
      ),
      sentence:
        "GET http://127.0.0.1:9/tables with 404 NoSuchBucket (The specified bucket does not exist); create the bucket or container, or correct uri and endpoint of the target",
      outcome: "refused",
    },
    {
      title: "of a store without that container, with a message of several lines",
      text: dump(
        `Status { status: 404, body: Some("<Error>\\n  <Code>ContainerNotFound</Code>\\n  <Message>The specified container does not exist.\\nRequestId:c9c6\\nTime:2026</Message>\\n</Error>") }`,
      ),
      sentence:
        "GET http://127.0.0.1:9/tables with 404 ContainerNotFound (The specified container does not exist.); create the bucket or container, or correct uri and endpoint of the target",
      outcome: "refused",
    },
    {
      title: "of a read that is refused because of another request, without a body",
      text: "lance error: Object at location t.lance/_versions/1.manifest already exists: Error performing HEAD http://127.0.0.1:9/t.lance/_versions/1.manifest in 1ms - Server returned non-2xx status code: 409 Conflict: ",
      sentence: "HEAD http://127.0.0.1:9/t.lance/_versions/1.manifest with 409; try again later",
      outcome: "unanswered",
    },
    {
      title: "of another server than a store",
      text: dump(`Status { status: 404, body: Some("") }`),
      sentence:
        "GET http://127.0.0.1:9/tables with 404; create the bucket or container, or correct uri and endpoint of the target",
      outcome: "refused",
    },
    {
      title: "that refuses a write",
      text: chain(
        put,
        answered(
          "403 Forbidden",
          `<?xml version="1.0"?>\n<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>`,
        ),
      ),
      sentence: `${put} with 403 AccessDenied (Access Denied); ${permissions}`,
      outcome: "refused",
    },
    {
      title: "without a body",
      text: chain(put, answered("401 Unauthorized", "")),
      sentence: `${put} with 401; ${permissions}`,
      outcome: "refused",
    },
    {
      title: "of a proxy",
      text: chain(put, answered("502 Bad Gateway", "<html>\n<body>Bad gateway</body>\n</html>")),
      sentence: `${put} with 502; try again later`,
      outcome: "unanswered",
    },
    {
      title: "that asks for fewer requests",
      text: chain(put, answered("429 Too Many Requests", "<Error><Code>SlowDown</Code></Error>")),
      sentence: `${put} with 429 SlowDown; try again later`,
      outcome: "unanswered",
    },
    {
      title: "about a token that has expired",
      text: chain(put, answered("400 Bad Request", "<Error><Code>ExpiredToken</Code></Error>")),
      sentence: `${put} with 400 ExpiredToken; renew the credentials, which have expired`,
      outcome: "refused",
    },
    {
      title: "about a clock that is off",
      text: chain(put, answered("403 Forbidden", "<Error><Code>RequestTimeTooSkewed</Code></Error>")),
      sentence: `${put} with 403 RequestTimeTooSkewed; set the clock of this machine`,
      outcome: "refused",
    },
    {
      title: "about another request for the object",
      text: chain(put, answered("409 Conflict", "<Error><Code>ConditionalRequestConflict</Code></Error>")),
      sentence: `${put} with 409 ConditionalRequestConflict; try again later`,
      outcome: "conflict",
    },
    {
      title: "of another region",
      text: chain(
        put,
        " - Received redirect without LOCATION, this normally indicates an incorrectly configured region",
      ),
      sentence: `${put} with 301; check region and endpoint in storageOptions`,
      outcome: "refused",
    },
  ])("$title", ({ text, sentence, outcome }) => {
    expect(storeProblem(text)).toEqual({ sentence: `the object store answered ${sentence}`, outcome });
  });
});

test.each([
  ["a list, when it connects", "Error: Invalid input, Failed to connect to namespace: ListResponseBody }"],
  [
    "a list",
    `lance error: LanceError(IO): Generic S3 error: Error getting list response body: HTTP error: request or response body error, ${source}:1467:22`,
  ],
])("an answer to %s that ends too early is a problem of the store", (_, text) => {
  expect(storeProblem(text)).toEqual({
    sentence: "the object store's answer to a request was interrupted; check the network, and try again later",
    outcome: "unanswered",
  });
});

test("machines without credentials are told to set some", () => {
  const uri = "http://169.254.169.254/metadata/identity/oauth2/token?api-version=2019-08-01";
  expect(storeProblem(dump(`Status { status: 403, body: Some("denied") }`, uri, "TokenRequest"))?.sentence).toBe(
    "no credentials for the object store were found; set them in storageOptions, or in the environment",
  );
});

test("a signature in the address is not shown", () => {
  const text = chain(`GET https://a.blob.core.windows.net/c?sv=2024&sig=secret`, answered("403 Forbidden", ""));
  expect(storeProblem(text)?.sentence).toMatch(/answered GET https:\/\/a\.blob\.core\.windows\.net\/c with 403; /);
});

test("an address that the engine hides is not needed", () => {
  const text = chain("PUT REDACTED", answered("403 Forbidden", "<Error><Code>AuthorizationFailure</Code></Error>"));
  expect(storeProblem(text)?.sentence).toBe(
    `the object store answered PUT (address hidden) with 403 AuthorizationFailure; ${permissions}`,
  );
});

test.each([
  ["a missing object", chain(put, answered("404 Not Found", "<Error><Code>NoSuchKey</Code></Error>"))],
  ["another writer's commit", chain(put, answered("412 Precondition Failed", ""))],
  [
    "a commit beside another one",
    chain(put, answered("409 Conflict", "<Error><Code>BlobAlreadyExists</Code></Error>")),
  ],
  ["an error about SQL", "Error: Invalid input, Schema error: No field named method: GET"],
])("%s does not concern the store", (_, text) => {
  expect(storeProblem(text)).toBeUndefined();
});

test("an endless text is read in linear time", () => {
  const before = process.cpuUsage();
  for (const part of ["Error performing GET http:", "method: GET, uri: Some(", "<Code>", "status: 4", "\n"])
    storeProblem(`Error performing GET http://a ${part.repeat(200_000)}`);
  // Seconds of work: a fraction of one, and hours if it were read again from each of its parts.
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1e6).toBeLessThan(20);
});
