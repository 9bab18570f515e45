/**
 * What went wrong with a request to an object store, in one sentence. The engine reports it as a chain of causes or as a
 * dump of its structures, over several lines.
 */

export interface StoreProblem {
  /** What happened, and what to do next. */
  readonly sentence: string;
  /**
   * What became of the request: the store refused it, and will again; it refused it only because of another one at the
   * same time; or it is unknown whether it took effect.
   */
  readonly outcome: "refused" | "conflict" | "unanswered";
}

/** The store refused to create an object because of another request, and the object does not exist. */
export class StoreConflict extends Error {
  /** An error's class is lost where it is cleaned of secrets. */
  readonly code = "StoreConflict";

  constructor(what: string) {
    super(
      `the object store refused to create ${what} because of another request for it, which created nothing; try again later`,
    );
  }
}

/** The problem of a failed request; undefined if the engine's error is about something else. */
export function storeProblem(text: string): StoreProblem | undefined {
  const request = requestIn(text);
  if (request === undefined) return isInterrupted(text) ? { sentence: interrupted, outcome: "unanswered" } : undefined;
  if (credentialServers.some((server) => request.address.startsWith(server)))
    return { sentence: withoutCredentials, outcome: "refused" };
  const answer = answerIn(request.rest);
  if (answer === undefined) return { sentence: unansweredSentence(request, text), outcome: "unanswered" };
  if (isExpected(request, answer, /list ?request/i.test(text))) return undefined;
  return { sentence: answeredSentence(request, answer), outcome: outcomeOf(request, answer) };
}

/** An answer that ended too early. The engine does not state the request. */
function isInterrupted(text: string): boolean {
  return /ListResponseBody|list response body|request or response body error/.test(text.slice(0, longestText));
}

const interrupted = "the object store's answer to a request was interrupted; check the network, and try again later";

function outcomeOf({ address }: Request, { status, code }: StoreAnswer): StoreProblem["outcome"] {
  // The other request for a version may be an earlier try of this one, and take effect.
  if (conflicts.has(code)) return address.includes("/_versions/") ? "unanswered" : "conflict";
  return status < 500 && ![408, 409, 429].includes(status) ? "refused" : "unanswered";
}

/** A request for the same object was under way, so this one did nothing. */
const conflicts: ReadonlySet<string> = new Set(["ConditionalRequestConflict", "OperationAborted"]);

interface Request {
  readonly method: string;
  /** Without the query, which may hold a signature. The engine itself replaces an address that holds one. */
  readonly address: string;
  /** The text behind the request. */
  readonly rest: string;
}

interface StoreAnswer {
  readonly status: number;
  /** Such as "NoSuchBucket"; empty if the store sent none. */
  readonly code: string;
  readonly message: string;
}

/** Longer texts repeat the same cause. */
const longestText = 20_000;

function requestIn(text: string): Request | undefined {
  const shown = text.slice(0, longestText);
  const found =
    /Error performing ([A-Z]+) (REDACTED|https?:[^\s?]+)/.exec(shown) ??
    /method: ([A-Z]+), uri: Some\((REDACTED|https?:[^\s?)]+)/.exec(shown);
  if (found === null) return undefined;
  const [all, method = "", address = ""] = found;
  return { method, address, rest: shown.slice(found.index + all.length) };
}

function wordsOf({ method, address }: Request): string {
  return address === "REDACTED" ? `${method} (address hidden)` : `${method} ${address}`;
}

/** Servers of cloud machines from which the engine requests credentials if it was given none. */
const credentialServers: readonly string[] = ["http://169.254.", "http://metadata.google.internal"];

const withoutCredentials =
  "no credentials for the object store were found; set them in storageOptions, or in the environment";

function answerIn(rest: string): StoreAnswer | undefined {
  if (/^.{0,1000}Received redirect without LOCATION/s.test(rest)) return { status: 301, code: "", message: "" };
  const status = /status code: (\d{3})|\bstatus: (\d{3})/.exec(rest);
  if (status === null) return undefined;
  const body = rest.slice(status.index);
  return {
    status: Number(status[1] ?? status[2]),
    code: element(body, "Code"),
    message: element(body, "Message").replace(/(\n|\\n).*/s, ""),
  };
}

/** The text of an XML element that holds only text; empty if there is none. */
function element(xml: string, name: string): string {
  const start = xml.indexOf(`<${name}>`);
  const end = xml.indexOf(`</${name}>`, start);
  return start < 0 || end < 0 ? "" : xml.slice(start + name.length + 2, end).slice(0, 300);
}

/** Whether the engine expects such an answer: a missing object or another writer's commit does not concern the store. */
function isExpected({ method }: Request, { status, code }: StoreAnswer, isList: boolean): boolean {
  const isRead = method === "GET" || method === "HEAD";
  return (
    (status === 404 && !isList && !missingStores.has(code)) ||
    (status === 409 && !isRead && !conflicts.has(code)) ||
    status === 412
  );
}

const missingStores: ReadonlySet<string> = new Set(["NoSuchBucket", "ContainerNotFound", "ResourceNotFound"]);

function answeredSentence(request: Request, { status, code, message }: StoreAnswer): string {
  const words = [status, code, message && `(${message})`].filter((word) => word !== "").join(" ");
  return [`the object store answered ${wordsOf(request)} with ${words}`, ...wayOut({ status, code })].join("; ");
}

/** By the code of the answer, whose status does not tell these apart: what to do. */
const byCode: readonly (readonly [RegExp, string])[] = [
  [/^RequestTimeTooSkewed$/, "set the clock of this machine"],
  [/^(ExpiredToken|TokenRefreshRequired|RequestExpired)/, "renew the credentials, which have expired"],
  [
    /^(InvalidToken|InvalidAccessKeyId|SignatureDoesNotMatch|MissingAuthenticationToken|MissingSecurityHeader)$/,
    "check the credentials in storageOptions or in the environment",
  ],
  [/^(ConditionalRequestConflict|OperationAborted)$/, "try again later"],
];

function wayOut({ status, code }: Pick<StoreAnswer, "status" | "code">): readonly string[] {
  const known = byCode.find(([pattern]) => pattern.test(code));
  if (known !== undefined) return [known[1]];
  if (status === 404) return ["create the bucket or container, or correct uri and endpoint of the target"];
  if ((status >= 300 && status < 400) || code === "AuthorizationHeaderMalformed")
    return ["check region and endpoint in storageOptions"];
  if (status === 401 || status === 403)
    return ["check the credentials, and that they may list, read, write and delete objects there"];
  return [408, 409, 429].includes(status) || status >= 500 ? ["try again later"] : [];
}

function unansweredSentence(request: Request, text: string): string {
  const [, cause, advice] = causes.find(([pattern]) => pattern.test(text)) ?? other;
  return `${wordsOf(request)} got no answer: ${cause}; ${advice}`;
}

const checkEndpoint = "check endpoint in storageOptions, and the network";

/** By what the engine's text contains: why there was no answer, and what to do. */
const causes: readonly (readonly [RegExp, string, string])[] = [
  [
    /BadScheme|scheme is not allowed/,
    "http:// is not allowed",
    'set allow_http: "true" in storageOptions, or use https://',
  ],
  [/Connection refused/, "the connection was refused", checkEndpoint],
  [/dns error|failed to lookup/, "its host name can't be resolved", checkEndpoint],
  [/InvalidCertificate|invalid peer certificate/, "its certificate is not valid", checkEndpoint],
  [/InvalidContentType|HandshakeFailure|AlertReceived/, "no TLS connection can be made", checkEndpoint],
  [/TimedOut|timed out|kind: Timeout/, "it took too long", `${checkEndpoint}; timeout in storageOptions is the limit`],
];
const other = [undefined, "the connection failed", checkEndpoint] as const;
