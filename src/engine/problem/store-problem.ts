/**
 * What went wrong with a request to an object store, in one sentence. The engine reports it as a chain of causes or as a
 * dump of its structures, over several lines.
 */

export interface StoreProblem {
  /** What happened, and what to do next. */
  readonly sentence: string;
  /** Whether the store refused the request, so that sending it again changes nothing. */
  readonly isRefused: boolean;
}

/** The problem of a failed request; undefined if the engine's error is about something else. */
export function storeProblem(text: string): StoreProblem | undefined {
  const request = requestIn(text);
  if (request === undefined) return undefined;
  if (credentialServers.some((server) => request.address.startsWith(server)))
    return { sentence: withoutCredentials, isRefused: true };
  const answer = answerIn(request.rest);
  if (answer === undefined) return { sentence: unansweredSentence(request, text), isRefused: false };
  if (isExpected(answer, /list ?request/i.test(text))) return undefined;
  const { status } = answer;
  return { sentence: answeredSentence(request, answer), isRefused: status < 500 && status !== 408 && status !== 429 };
}

interface Request {
  readonly method: string;
  /** Without the query, which may hold a signature. The engine itself replaces an address that holds one. */
  readonly address: string;
  /** The text behind the request. */
  readonly rest: string;
}

interface Answer {
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

function answerIn(rest: string): Answer | undefined {
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
function isExpected({ status, code }: Answer, isList: boolean): boolean {
  return (status === 404 && !isList && !missingStores.has(code)) || status === 409 || status === 412;
}

const missingStores: ReadonlySet<string> = new Set(["NoSuchBucket", "ContainerNotFound", "ResourceNotFound"]);

function answeredSentence(request: Request, { status, code, message }: Answer): string {
  const words = [status, code, message && `(${message})`].filter((word) => word !== "").join(" ");
  return [`the object store answered ${wordsOf(request)} with ${words}`, ...wayOut({ status, code })].join("; ");
}

function wayOut({ status, code }: Pick<Answer, "status" | "code">): readonly string[] {
  if (status === 404) return ["create the bucket or container, or correct uri and endpoint of the target"];
  if ((status >= 300 && status < 400) || code === "AuthorizationHeaderMalformed")
    return ["check region and endpoint in storageOptions"];
  if (status === 401 || status === 403)
    return ["check the credentials, and that they may list, read, write and delete objects there"];
  return status === 408 || status === 429 || status >= 500 ? ["try again later"] : [];
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
