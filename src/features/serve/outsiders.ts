/**
 * Answers what Node refuses before the web application sees it: heads that are too slow, too large or no HTTP, bodies that
 * stop, and expectations. Node itself would answer without a body.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { z } from "zod";
import { jsonType } from "../../wire/content-types.ts";
import type { errorAnswer } from "./openapi.ts";
import { pathOf, requestIdOf, type RequestLine } from "./request-log.ts";
import { codes, type Problem } from "./tables/error-answer.ts";

interface ClientError {
  readonly code?: string;
  /** The last packet, of a head that could not be parsed. */
  readonly rawPacket?: unknown;
}

/** Milliseconds in which a client may still send: closing the connection meanwhile would cut off the answer. */
const grace = 2_000;

/** `owes`: whether the web application has not answered a request of the connection yet. */
export function createOutsiders(write: (line: RequestLine) => void, owes: (socket: Socket) => boolean) {
  const latest = new WeakMap<Socket, readonly [FastifyRequest, FastifyReply]>();
  const statuses = new WeakMap<FastifyRequest, number>();
  return {
    /** Called with every request that the web application sees. */
    seen: (request: FastifyRequest, reply: FastifyReply) => void latest.set(request.raw.socket, [request, reply]),
    /** The status that was sent past the web application, if there was one. */
    statusOf: (request: FastifyRequest) => statuses.get(request),
    /** The handler of the server's event `clientError`. */
    answerBadClient(error: ClientError, socket: Socket) {
      if (socket.writableEnded) return; // answered already: what else it sends is no request either
      const [request, reply] = latest.get(socket) ?? [];
      const isArriving = request?.raw.complete === false;
      const isAnswered = isArriving && reply!.raw.headersSent;
      const isBehindOthers = !isArriving && owes(socket);
      if (error.code === "ECONNRESET" || !socket.writable || isAnswered || isBehindOthers) return void socket.destroy();
      const problem = problemOf(error);
      if (isArriving) {
        statuses.set(request, problem.status);
        answerOn(socket, problem, pathOf(request.raw), request.id);
      } else {
        const { method, path } = firstLineOf(error.rawPacket);
        const id = randomUUID();
        write({ method, path, status: problem.status, took: undefined, id, reason: problem.error });
        answerOn(socket, problem, path, id);
      }
      setTimeout(() => socket.destroy(), grace).unref();
    },
    refuseExpectations: (server: Server) =>
      void server.on("checkExpectation", (request: IncomingMessage, response: ServerResponse) => {
        request.resume();
        const path = pathOf(request);
        const id = requestIdOf(request);
        const problem = invalid(417, "the header expect may only be 100-continue");
        write({ method: request.method ?? "-", path, status: 417, took: undefined, id, reason: problem.error });
        const body = JSON.stringify(errorBody(problem, path));
        const length = Buffer.byteLength(body);
        response.writeHead(417, { "content-type": jsonType, "content-length": length, "x-request-id": id });
        response.end(body);
      }),
  };
}

export function errorBody({ code, error }: Problem, instance: string): z.output<typeof errorAnswer> {
  return { code, error, instance };
}

function invalid(status: number, error: string): Problem {
  return { status, code: codes.invalidInput, error };
}

function problemOf({ code }: ClientError): Problem {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return invalid(408, "the request did not arrive in time");
  if (code === "HPE_HEADER_OVERFLOW") return invalid(431, "the headers are too large");
  return invalid(400, "this is no HTTP request");
}

const reasons: Readonly<Record<number, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  431: "Request Header Fields Too Large",
};

function answerOn(socket: Socket, problem: Problem, path: string, id: string): void {
  const body = JSON.stringify(errorBody(problem, path));
  const head = [
    `HTTP/1.1 ${problem.status} ${reasons[problem.status]}`,
    `content-type: ${jsonType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${id}`,
    "connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

/** In bytes: as long as a head may be. */
const longestFirstLine = 16_384;

/** What is known of a request whose head is not complete: nothing if it came in several packets, or was slow. */
function firstLineOf(packet: unknown): Pick<RequestLine, "method" | "path"> {
  const text = Buffer.isBuffer(packet) ? packet.toString("latin1", 0, longestFirstLine) : "";
  // No pattern of the whole line: it would take quadratic time on one without an end.
  const [first = "", rest] = text.split("\r\n", 2);
  const [method = "", target = "", version = "", ...others] = first.split(" ");
  const isComplete = rest !== undefined && others.length === 0 && /^HTTP\/1\.[01]$/.test(version);
  if (!isComplete || !/^[A-Z]+$/.test(method) || !target.startsWith("/")) return { method: "-", path: "-" };
  return { method, path: pathOf({ url: target }) };
}
