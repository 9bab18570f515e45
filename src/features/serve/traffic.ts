/**
 * Bounds what clients have under way. A request counts until its work is done, and its answer has left this process or its
 * connection has ended: a client that does not read its answers, or goes, would otherwise take what others need.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Requests of one connection that have no answer. No client of LanceDB sends a second one before the first is answered. */
const mostOfConnection = 16;
/** Requests with a key, of all addresses. Further ones are refused until one has ended. */
const mostInAll = 1_000;
/** The same of one address. Everybody behind a proxy has its address. */
const mostOfAddress = mostInAll / 2;
/** Milliseconds in which a client has to take something of an answer that waits for it. */
const patience = 30_000;
const sweepInterval = 2_000;

interface Connection {
  /** Those that have no answer, or whose answer has not left; each with what begins to work on it. */
  readonly unanswered: Map<ServerResponse, () => void>;
  /** Those of them that count for the address. */
  readonly counted: Set<ServerResponse>;
  /** Bytes that have left, and when they were more than before. */
  left: number;
  since: number;
}

export type Traffic = ReturnType<typeof createTraffic>;

/** `ended` gets the limit that a connection exceeded, for which it was ended. */
export function createTraffic(ended: (limit: string) => void) {
  const connections = new Map<Socket, Connection>();
  const byAddress = new Map<string, number>();
  /** Never rejected. */
  const jobs = new WeakMap<ServerResponse, Promise<unknown>>();
  let inAll = 0;

  const add = (address: string, requests: 1 | -1) => {
    const now = (byAddress.get(address) ?? 0) + requests;
    if (now === 0) byAddress.delete(address);
    else byAddress.set(address, now);
    inAll += requests;
  };
  const isFull = (address: string) => inAll >= mostInAll || (byAddress.get(address) ?? 0) >= mostOfAddress;
  const end = (socket: Socket, limit: string) => {
    ended(`${limit} (${addressOf(socket)})`);
    // Its requests that wait are not begun.
    forget(socket);
    stopParser(socket);
    socket.destroy();
  };
  /** A client that goes does not end the work that it has asked for, which counts until its end. */
  const release = (socket: Socket, response: ServerResponse) => {
    const address = addressOf(socket);
    void (jobs.get(response) ?? Promise.resolve()).finally(() => add(address, -1));
  };
  const leave = (socket: Socket, response: ServerResponse) => {
    const connection = connections.get(socket);
    if (connection?.counted.delete(response) === true) release(socket, response);
    if (connection?.unanswered.delete(response) !== true) return;
    const [next] = connection.unanswered.values();
    // Node reports the end of an answer before that of its connection.
    if (!socket.destroyed) next?.();
  };
  const forget = (socket: Socket) => {
    for (const response of connections.get(socket)?.counted ?? []) release(socket, response);
    connections.delete(socket);
  };
  const known = (socket: Socket): Connection => {
    const found = connections.get(socket);
    if (found !== undefined) return found;
    const connection: Connection = { unanswered: new Map(), counted: new Set(), left: 0, since: performance.now() };
    connections.set(socket, connection);
    // Before the address is lost.
    addresses.set(socket, socket.remoteAddress ?? "");
    socket.once("close", () => forget(socket));
    return connection;
  };
  const sweep = () => {
    const now = performance.now();
    for (const [socket, connection] of connections) {
      const left = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0 || left !== connection.left) Object.assign(connection, { left, since: now });
      else if (now - connection.since > patience)
        end(socket, `${patience / 1_000} seconds in which a client reads nothing`);
    }
  };

  return {
    watch(server: Server): void {
      const timer = setInterval(sweep, sweepInterval).unref();
      server.once("close", () => clearInterval(timer));
    },
    /**
     * Calls `begin` when the earlier requests of the connection are answered: what a client sends without waiting costs
     * nothing until then. Ends a connection with too many.
     */
    admit({ socket }: IncomingMessage, response: ServerResponse, begin: () => void): void {
      if (socket.destroyed) return;
      const { unanswered } = known(socket);
      if (unanswered.size >= mostOfConnection)
        return end(socket, `${mostOfConnection} requests of one connection that have no answer`);
      unanswered.set(response, begin);
      response.once("close", () => leave(socket, response));
      if (unanswered.size === 1) begin();
    },
    /** Counts a request with a key. Whether there may be one more. */
    enters({ socket }: IncomingMessage, response: ServerResponse): boolean {
      const address = addressOf(socket);
      if (isFull(address)) return false;
      const connection = connections.get(socket);
      // The connection has ended meanwhile.
      if (connection?.unanswered.has(response) !== true) return false;
      connection.counted.add(response);
      add(address, 1);
      return true;
    },
    /** What a request has to wait for counts with it. */
    works(response: ServerResponse, job: Promise<unknown>): void {
      jobs.set(
        response,
        job.catch(() => {}),
      );
    },
    /** Whether a connection has requests without an answer: what is written past them would seem to be theirs. */
    owes: (socket: Socket) => (connections.get(socket)?.unanswered.size ?? 0) > 0,
    /** Whether a request with a key from the same address would be refused. */
    isFullFor: ({ socket }: IncomingMessage) => isFull(addressOf(socket)),
  };
}

/** Node would make a request of all that has arrived, also after the end of a connection: thousands of short ones. */
function stopParser(socket: Socket): void {
  const { parser } = socket as { readonly parser?: { onIncoming: () => number } | null };
  // As if the protocol changed: what follows is not parsed.
  if (parser != null) parser.onIncoming = () => 2;
}

const addresses = new WeakMap<Socket, string>();

function addressOf(socket: Socket): string {
  return addresses.get(socket) ?? socket.remoteAddress ?? "";
}
