/** The web application: hooks around every request, and the routes from their lists. */
import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import swagger from "@fastify/swagger";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { z } from "zod";
import { firstLine } from "../errors/migrate-error.ts";
import { withoutSecrets } from "../secrets/encoded-forms.ts";
import { jsonType } from "../wire/content-types.ts";
import { addBodyParsers } from "./body-parsers.ts";
import { checkContentType, checkTarget, validator } from "./check-request.ts";
import { createGuard, type GuardOptions } from "./authenticate.ts";
import { documentOf, errorAnswer, openApiOptions, pathSchema } from "./openapi.ts";
import { codes, invalidInput, problemOfError, refuse, type Problem } from "./tables/error-answer.ts";
import { routes } from "./routes/index.ts";
import { arrowOf, isIpcAnswer, type Route } from "./routes/route.ts";
import type { ServedTables } from "./tables/open-tables.ts";

export interface AppOptions extends GuardOptions {
  readonly tables: ServedTables;
  /** The largest body, in bytes. */
  readonly bodyLimit: number;
  /** Milliseconds within which a request must have arrived completely. */
  readonly requestTimeout: number;
  /** Gets one line per request, except for health checks. */
  readonly log: (line: string) => void;
}

/** Compressed data may unpack to at most this many times the size of the largest body. */
const largestGrowth = 4;

export interface App {
  readonly web: FastifyInstance;
  /** Resolves when no request is being processed any more, not even for clients that have disconnected. */
  settled(): Promise<unknown>;
}

export async function createApp(options: AppOptions): Promise<App> {
  const { bodyLimit, requestTimeout, log, apiKey, tables } = options;
  const atWork = new Set<Promise<unknown>>();
  const app = fastify({
    logger: false,
    bodyLimit,
    requestTimeout,
    http: {
      headersTimeout: requestTimeout,
      connectionsCheckingInterval: Math.min(10_000, requestTimeout / 2),
      requireHostHeader: false, // refused below, with a message
    },
    // A name that is too long is refused as a name, not as an unknown path.
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 100_000 },
    exposeHeadRoutes: false,
    return503OnClosing: false,
    genReqId: ({ headers }) => requestIdOf(headers["x-request-id"]),
    clientErrorHandler: answerBadClient,
    // No hook runs for a malformed path, so the key is checked here.
    frameworkErrors: (error, request, reply) => {
      answer(guard(request.headers) ?? error, request, reply);
      write(request, reply);
    },
  });
  const guard = createGuard(options);
  /** What the log reports to the operator, but the answer does not report to the client. */
  const failures = new WeakMap<FastifyRequest, string>();
  const write = (request: FastifyRequest, reply: FastifyReply) => {
    const took = `${Math.round(reply.elapsedTime)}ms`;
    const parts = [request.method, pathOf(request), reply.statusCode, took, request.id, failures.get(request) ?? ""];
    log(withoutSecrets(parts.join(" ").trimEnd(), [apiKey]));
  };
  const answer = (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const problem = problemOfError(error, tables.folder);
    if (problem.status === 500) failures.set(request, firstLine(error));
    // The rest of an unwanted body is read and discarded: a client that is still sending would not see the answer.
    reply.removeHeader("connection");
    request.raw.resume();
    // Neither would a client that asked to close the connection: closing it while the client sends cuts off the answer.
    if (isArriving(request)) reply.raw.shouldKeepAlive = true;
    void reply
      .code(problem.status)
      .type(jsonType)
      .send(JSON.stringify(errorBody(problem, pathOf(request))));
  };

  app.setErrorHandler(answer);
  app.setNotFoundHandler((request) => {
    throw notFound(request);
  });
  app.setValidatorCompiler(({ schema, httpPart }) => validator(schema as unknown as z.ZodType, httpPart ?? "request"));
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  addBodyParsers(app, bodyLimit);

  app.addHook("onRequest", async (request, reply) => {
    reply.header("x-request-id", request.id);
    if (request.headers.host === undefined && request.raw.httpVersion === "1.1") {
      reply.raw.shouldKeepAlive = false;
      throw invalidInput("the header host is missing");
    }
    const problem = openPaths.has(request.routeOptions.url) ? undefined : guard(request.headers);
    if (problem !== undefined) throw problem;
    // Thrown here, so that the body is not read.
    if (request.is404) throw notFound(request);
  });
  app.addHook("onResponse", async (request, reply) => {
    // Health checks are not logged, because they come every few seconds.
    if (!openPaths.has(request.routeOptions.url)) write(request, reply);
  });

  await app.register(swagger, openApiOptions);
  for (const route of routes) addRoute(app, route, options, atWork);
  return { web: app, settled: () => Promise.allSettled(atWork) };
}

const openPaths: ReadonlySet<string | undefined> = new Set(routes.filter(({ open }) => open).map(({ path }) => path));

function addRoute(
  app: FastifyInstance,
  route: Route,
  { tables, bodyLimit }: AppOptions,
  atWork: Set<Promise<unknown>>,
): void {
  const params = pathSchema(route.path);
  app.route({
    method: route.method,
    url: route.path,
    schema: {
      params,
      querystring: route.query,
      ...(route.method === "GET" ? {} : { body: route.body }),
      document: documentOf(route),
    } as object,
    onRequest: async (request) => checkContentType(request, route.accepts),
    handler: async (request, reply) => {
      const given = request.params as Readonly<Record<string, string>>;
      const query = request.query as Readonly<Record<string, unknown>>;
      const name = given["name"] ?? "";
      if ("name" in params.shape) checkTarget(name, query, request.body);
      const work = route.handler({
        tables,
        document: () => app.swagger(),
        params: given,
        name,
        query,
        body: request.body,
        hasArrow: Buffer.isBuffer(request.body),
        arrow: () => arrowOf(request.body, largestGrowth * bodyLimit),
      });
      atWork.add(work);
      const result = (await work.finally(() => atWork.delete(work))) ?? {};
      if (!isIpcAnswer(result)) return await reply.type(jsonType).send(JSON.stringify(result));
      return await reply.type(result.contentType).send(Readable.from(result.chunks));
    },
  });
}

/** Whether a body was announced and has not arrived completely. */
function isArriving({ headers, raw }: FastifyRequest): boolean {
  const announced = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  return announced && !raw.complete;
}

function notFound(request: FastifyRequest): Error {
  return refuse(404, "unsupported", `there is no route ${request.method} ${pathOf(request)}; see /openapi.json`);
}

/** The caller's id if it is safe to log; otherwise a new one. */
function requestIdOf(sent: string | string[] | undefined): string {
  return typeof sent === "string" && /^[\w.:-]{1,100}$/.test(sent) ? sent : randomUUID();
}

/** Without the query, whose values may be secrets. */
function pathOf(request: FastifyRequest): string {
  return request.raw.url?.split("?", 1)[0] ?? "/";
}

function errorBody({ code, error }: Problem, instance: string): z.output<typeof errorAnswer> {
  return { code, error, instance };
}

/** Answers what never became a request: an incomplete head, or one that is too slow. */
function answerBadClient(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const [status, problem] =
    error.code === "ERR_HTTP_REQUEST_TIMEOUT"
      ? ["408 Request Timeout", "the request did not arrive in time"]
      : error.code === "HPE_HEADER_OVERFLOW"
        ? ["431 Request Header Fields Too Large", "the headers are too large"]
        : ["400 Bad Request", "this is no HTTP request"];
  const body = JSON.stringify({ code: codes.invalidInput, error: problem, instance: "" });
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: ${jsonType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
