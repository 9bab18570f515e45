/**
 * The web application: it checks the head of every request, receives the body, takes the locks, and lets a worker do the
 * rest. What a body holds is not looked at here.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerOptions, type ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import { jsonType, streamType } from "../../wire/content-types.ts";
import { boundConnections, countRefusals } from "./connections.ts";
import { checkContentType, checked } from "./work/check-request.ts";
import { createGuard, type GuardOptions } from "./authenticate.ts";
import { createIndexing, type IndexingOptions } from "./indexing.ts";
import { openApiOptions, pathSchema } from "./openapi.ts";
import { createOutsiders, errorBody } from "./outsiders.ts";
import { fastify, fastifySwagger } from "./work/packages.ts";
import { createServiceLog, pathOf, requestIdOf, type Log } from "./request-log.ts";
import { checkDataFolder, type DataFolder } from "./tables/data-folder.ts";
import { codes, invalidInput, refuse } from "./tables/error-answer.ts";
import { routes } from "./routes/index.ts";
import type { LockRequest, Route } from "./routes/route.ts";
import { serviceRoutes, type ServiceRoute } from "./routes/service.ts";
import { createTraffic } from "./traffic.ts";
import { createLocks } from "./tables/table-locks.ts";
import { collect, discard, readBody, streamBody, type Body } from "./work/body.ts";
import { parseJson } from "./work/parse-json.ts";
import { failureOf, type JobFailure, type Job, type JobOutcome, type SentBody } from "./work/perform.ts";
import type { Workers } from "./work/pool.ts";
import { createTurns } from "./work/turns.ts";

export interface AppOptions extends GuardOptions {
  readonly workers: Pick<Workers, "perform" | "places">;
  /** What brings indexes up to date; absent if nothing does. */
  readonly indexing?: Pick<IndexingOptions, "indexer" | "indexAfter"> | undefined;
  /** Where the tables are. */
  readonly data: DataFolder;
  /** The largest body, in bytes. */
  readonly bodyLimit: number;
  /** Milliseconds within which a request must have arrived completely. */
  readonly requestTimeout: number;
  /** Gets one line per request, except for health checks. */
  readonly log: Log;
}

/** In bytes. No request needs more; a query with a thousand vectors stays far below. */
const jsonLimit = 16 * 2 ** 20;
/** Milliseconds within which the head of a request must have arrived. */
const headTimeout = 10_000;
/** Milliseconds for which a connection stays open between two requests. */
const keepAliveTimeout = 72_000;
/** What the log has as the status of a request whose client did not wait for its answer. */
const clientGone = 499;

/**
 * The version by which LanceDB's clients know what a service can do: from 0.2.0 on, several vectors in one query; from 0.3.0
 * on, full-text queries with their structure, which they drop otherwise. 0.4.0 would be writes in several parts.
 */
const clientFeatures = "0.3.0";

export async function createApp(options: AppOptions) {
  const { bodyLimit, requestTimeout, apiKey, data } = options;
  const atWork = new Set<Promise<unknown>>();
  const log = createServiceLog(options.log, [apiKey]);
  const outsiders = createOutsiders(log.request, (socket) => traffic.owes(socket));
  const refused = countRefusals(log.note);
  const traffic = createTraffic(refused.add);
  const app = fastify({
    logger: false,
    bodyLimit,
    // One for each address of the host.
    serverFactory: (handler) => {
      const server = createServer(serverOptions(requestTimeout), (request, response) => {
        traffic.admit(request, response, () => handler(request, response));
      });
      boundConnections(server, refused);
      outsiders.refuseExpectations(server);
      traffic.watch(server);
      return server;
    },
    // A name that is too long is refused as a name, not as an unknown path.
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: 100_000 },
    exposeHeadRoutes: false,
    return503OnClosing: false,
    genReqId: requestIdOf,
    clientErrorHandler: outsiders.answerBadClient,
    // No hook runs for a malformed path, so the key is checked here.
    frameworkErrors: (error, request, reply) => {
      reply.header("x-request-id", request.id);
      answer(guard(request.headers) ?? error, request, reply);
      write(request, reply, reply.statusCode);
    },
  });
  const guard = createGuard(options);
  /** What the log reports to the operator, but the answer does not report to the client. */
  const failures = new WeakMap<IncomingMessage, string>();
  const write = ({ method, id, raw }: FastifyRequest, reply: FastifyReply, status: number) =>
    log.request({ method, path: pathOf(raw), status, took: reply.elapsedTime, id, reason: failures.get(raw) });
  const answer = (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const { problem, cause } = error instanceof RequestFailed ? error.failure : failureOf(error, data.path);
    if (problem.status >= 500) failures.set(request.raw, cause ?? problem.error);
    discard((request.body as SentBody | undefined)?.body);
    // The rest of an unwanted body is read and discarded: a client that is still sending would not see the answer.
    reply.removeHeader("connection");
    request.raw.resume();
    // Neither would a client that asked to close the connection: closing it while the client sends cuts off the answer.
    if (isArriving(request)) reply.raw.shouldKeepAlive = true;
    void reply
      .code(problem.status)
      .type(jsonType)
      .send(JSON.stringify(errorBody(problem, pathOf(request.raw))));
  };

  app.setErrorHandler(answer);
  app.setNotFoundHandler((request) => {
    throw notFound(request);
  });
  app.setValidatorCompiler(({ schema, httpPart = "request" }) => (value) => {
    try {
      return { value: checked(schema as unknown as z.ZodType, value, httpPart) };
    } catch (error) {
      return { error: error as Error }; // only refusals are thrown
    }
  });
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  addBodyParsers(app, options);

  app.addHook("onRequest", async (request, reply) => {
    outsiders.seen(request, reply);
    // Unlike the hook onResponse, it comes for clients too that have gone.
    reply.raw.once("close", () => {
      if (!reply.raw.writableFinished && !isOpen(request))
        write(request, reply, outsiders.statusOf(request) ?? clientGone);
    });
    reply.header("x-request-id", request.id).header("phalanx-version", clientFeatures);
    if (request.headers.host === undefined && request.raw.httpVersion === "1.1") {
      reply.raw.shouldKeepAlive = false;
      throw invalidInput("the header host is missing");
    }
    if (!isOpen(request)) {
      const problem = guard(request.headers);
      if (problem !== undefined) throw problem;
      if (!traffic.enters(request.raw, reply.raw)) throw tooMany;
      // Thrown here, so that the body is not read.
      if (request.is404) throw notFound(request);
    } else if (traffic.isFullFor(request.raw)) throw tooMany;
    checkDataFolder(data);
  });
  app.addHook("onResponse", async (request, reply) => {
    // Health checks are not logged, because they come every few seconds.
    if (!isOpen(request) && reply.raw.writableFinished) write(request, reply, reply.statusCode);
  });

  await app.register(fastifySwagger, openApiOptions);
  for (const route of serviceRoutes) addServiceRoute(app, route);
  const locks = createLocks();
  const inTurn = createTurns(options.workers.places);
  const indexing = options.indexing && createIndexing({ ...options.indexing, locks, note: log.note });
  app.addHook("preClose", async () => await indexing?.close());
  const perform: Perform = async (route, job, { ip, raw: { socket } }, response) => {
    const wanted = route.locks(lockRequestOf(job));
    const start = () => (socket.destroyed ? Promise.resolve(gone) : options.workers.perform(job, wanted.length > 0));
    const work = locks.holding(wanted, () => inTurn(ip, start));
    traffic.works(response, work);
    atWork.add(work);
    const outcome = await work.finally(() => {
      atWork.delete(work);
      discard(job.body?.body);
    });
    if (!("problem" in outcome)) {
      indexing?.written(wanted);
      if (route.group === "indexes") indexing?.asked(job.params["name"]!);
    }
    return outcome;
  };
  for (const [place, route] of routes.entries()) addRoute(app, route, place, perform);
  return {
    web: app,
    /** Resolves when no request is being processed any more, not even for clients that have disconnected. */
    settled: () => Promise.allSettled(atWork),
  };
}

function serverOptions(requestTimeout: number): ServerOptions {
  return {
    requestTimeout,
    headersTimeout: Math.min(headTimeout, requestTimeout),
    connectionsCheckingInterval: Math.min(2_000, requestTimeout / 2),
    keepAliveTimeout,
    requireHostHeader: false, // refused in a hook, with a message
  };
}

const openPaths: ReadonlySet<string | undefined> = new Set(
  serviceRoutes.filter(({ isOpen }) => isOpen).map(({ path }) => path),
);

function isOpen({ routeOptions }: FastifyRequest): boolean {
  return openPaths.has(routeOptions.url);
}

function addServiceRoute(app: FastifyInstance, route: ServiceRoute): void {
  app.route({
    method: "GET",
    exposeHeadRoute: true, // load balancers use it
    url: route.path,
    schema: { route } as object,
    handler: async (_, reply) => {
      const answer = route.answerFrom(() => app.swagger());
      return await reply.type(jsonType).send(JSON.stringify(answer));
    },
  });
}

type Perform = (route: Route, job: Job, request: FastifyRequest, response: ServerResponse) => Promise<JobOutcome>;

/** Work that was not begun when its client went. */
const gone: JobOutcome = { problem: { status: clientGone, code: codes.unavailable, error: "the client has gone" } };

function addRoute(app: FastifyInstance, route: Route, place: number, perform: Perform): void {
  app.route({
    method: route.method,
    url: route.path,
    schema: { params: pathSchema(route.path), querystring: route.query, route } as object,
    onRequest: async (request) => checkContentType(request, route.accepts),
    handler: async (request, reply) => {
      const { params, query, body } = request as unknown as Pick<Job, "params" | "query" | "body">;
      const userAgent = request.headers["user-agent"];
      const job = { route: place, answerId: randomUUID(), path: pathOf(request.raw), userAgent, params, query, body };
      const outcome = await perform(route, job, request, reply.raw);
      if ("problem" in outcome) throw new RequestFailed(outcome);
      return await reply.type(outcome.contentType).send(streamBody(outcome.body));
    },
  });
}

/** What a worker could not do. */
class RequestFailed extends Error {
  readonly failure: JobFailure;

  constructor(failure: JobFailure) {
    super(failure.problem.error);
    this.failure = failure;
  }
}

function lockRequestOf({ params, query, body }: Job): LockRequest {
  return { name: params["name"] ?? "", query, json: () => body && parseJson(smallBody(body.body).toString()) };
}

/** A body that may be parsed here, where it keeps everybody waiting. */
function smallBody(body: Body): Buffer {
  if ("file" in body) throw tooLarge("256 kB, the limit of this route");
  return readBody(body);
}

/** What is JSON and what is Arrow data is told apart by its type alone. */
function addBodyParsers(app: FastifyInstance, { bodyLimit, data }: AppOptions): void {
  app.removeAllContentTypeParsers();
  const flagLimit = `${bodyLimit / 2 ** 20} MB, the limit that --body-limit sets`;
  const add = (contentType: string, type: SentBody["type"], limit: number, named: string) =>
    app.addContentTypeParser(contentType, async ({ headers }: FastifyRequest, chunks: IncomingMessage) => {
      if (Number(headers["content-length"] ?? 0) > limit) throw tooLarge(named);
      return {
        type,
        body: await collect(chunks.iterator({ destroyOnReturn: false }), data, limit, () => tooLarge(named)),
      } satisfies SentBody;
    });
  const isJsonLimit = jsonLimit < bodyLimit;
  const jsonNamed = isJsonLimit ? `${jsonLimit / 2 ** 20} MB, the limit of JSON` : flagLimit;
  add(jsonType, "json", isJsonLimit ? jsonLimit : bodyLimit, jsonNamed);
  add(streamType, "arrow", bodyLimit, flagLimit);
}

const tooMany = refuse(503, "unavailable", "too many requests at a time; try again");
const tooLarge = (limit: string) => refuse(413, "invalidInput", `the body is larger than ${limit}`);

/** Whether a body was announced and has not arrived completely. */
function isArriving({ headers, raw }: FastifyRequest): boolean {
  const announced = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  return announced && !raw.complete;
}

/** Of a table, also of its versions and the like. */
const operation = /^\/v1\/table\/[^/]+\/((version|tags|index|schema_metadata)\/)?\w+\/?$/;

function notFound(request: FastifyRequest): Error {
  const path = pathOf(request.raw);
  // LanceDB's clients take 404 for a missing table, also when it is the operation that this service does not have.
  const isOperation = request.method === "POST" && operation.test(path);
  const status = isOperation ? 501 : 404;
  return refuse(status, "unsupported", `there is no route ${request.method} ${path}; see /openapi.json`);
}
