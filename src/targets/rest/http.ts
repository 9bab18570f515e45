/** Requests to a service. What changes something is sent once; what reads is tried again. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { rootCertificates } from "node:tls";
import { MigrateError } from "../../errors.ts";
import packageJson from "../../../package.json" with { type: "json" };
import type { Settings } from "./options.ts";
import { Agent, EnvHttpProxyAgent, send as request, type Dispatcher } from "./undici.ts";
import { answerProblem, connectionProblem, isWorthAnotherRead, pauseAskedFor } from "./problems.ts";

export interface Request {
  /** `METHOD /path`, filled in. */
  readonly endpoint: string;
  readonly body?: { readonly type: string; readonly bytes: Uint8Array | string } | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export interface Http {
  /** Sends a request that changes nothing, again and again while the service can't answer. */
  read(request: Request): Promise<Answer>;
  /** Sends a request once. */
  write(request: Request): Promise<Answer>;
  close(): Promise<void>;
}

const mostReads = 4;
const firstPause = 250;
const longestPause = 30_000;
/** A read that takes longer is lost; a retype may take as long as it is allowed to. */
const longestRead = 60_000;
const largestAnswer = 64 * 1024 * 1024;

/** Both throw a MigrateError for anything but a 2xx. */
export function openHttp(settings: Settings): Http {
  let dispatcher: Dispatcher | undefined;

  const send = async ({ endpoint, body }: Request, id: string, limit: number): Promise<Answer> => {
    if (settings.missing !== undefined) throw settings.missing;
    const [method, path] = endpoint.split(" ") as [Dispatcher.HttpMethod, string];
    const { origin, pathname } = new URL(settings.base);
    dispatcher ??= makeDispatcher(settings);
    try {
      const {
        statusCode,
        headers,
        body: stream,
      } = await request(dispatcher, {
        origin,
        path: `${pathname === "/" ? "" : pathname}${path}`,
        method,
        headers: {
          "user-agent": `${packageJson.name}/${packageJson.version}`,
          "x-request-id": id,
          "content-type": body?.type ?? "application/json",
          ...settings.headers,
        },
        body: body?.bytes ?? null,
        signal: AbortSignal.timeout(limit),
      });
      return { status: statusCode, headers, body: await collect(stream) };
    } catch (cause) {
      const problem = connectionProblem(cause, { settings, limit });
      throw new MigrateError("ERR_TARGET_UNREACHABLE", { target: settings.target, problem }, { cause });
    }
  };

  const checked = (answer: Answer, request: Request): Answer => {
    if (answer.status < 200 || answer.status > 299) throw answerProblem(answer, request, settings);
    return answer;
  };

  return {
    async read(request) {
      const id = randomUUID();
      for (let tries = 1; ; tries++) {
        let pause = firstPause * 2 ** (tries - 1) * (1 + Math.random() / 2);
        try {
          const answer = await send(request, id, Math.min(settings.answerTimeout, longestRead));
          if (tries === mostReads || !isWorthAnotherRead(answer.status)) return checked(answer, request);
          pause = Math.max(pause, pauseAskedFor(answer) ?? 0);
        } catch (error) {
          if (tries === mostReads || !isRepeatable(error)) throw error;
        }
        await sleep(Math.min(pause, longestPause));
      }
    },
    write: async (request) => checked(await send(request, randomUUID(), settings.answerTimeout), request),
    close: async () => await dispatcher?.close(),
  };
}

function isRepeatable(error: unknown): boolean {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  // A name that is not known and a certificate that is not trusted will not be in a second.
  return code === "ERR_TARGET_UNREACHABLE" && !/NOTFOUND|CERT|SSL|TLS|INVALID/.test(String(cause?.code));
}

/** Keeps connections open between requests; goes through a proxy where the environment names one. */
function makeDispatcher({ ca, connectTimeout, answerTimeout }: Settings): Dispatcher {
  const trust = ca === undefined ? {} : { ca: [...rootCertificates, ca] };
  const common = { headersTimeout: answerTimeout, bodyTimeout: answerTimeout };
  const proxied = ["http_proxy", "https_proxy"].some((name) => process.env[name] ?? process.env[name.toUpperCase()]);
  return proxied
    ? new EnvHttpProxyAgent({
        ...common,
        connect: { timeout: connectTimeout, ...trust },
        requestTls: { timeout: connectTimeout, ...trust },
      })
    : new Agent({ ...common, connect: { timeout: connectTimeout, ...trust } });
}

async function collect(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > largestAnswer) throw new Error(`its answer is larger than ${largestAnswer / 1024 / 1024} MiB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
