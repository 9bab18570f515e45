/**
 * Connections that take from a service what they can. `bench greedy` starts it as a process of its own, and sends `true` to
 * begin and `false` to end. Its one argument is an `Attack`.
 */
import { connect, type Socket } from "node:net";

export interface Attack {
  readonly port: number;
  /** In x-api-key, or none. */
  readonly key?: string | undefined;
  /** How many connections of each kind. */
  readonly kinds: Readonly<Partial<Record<Kind, number>>>;
  /** From which the connections come, in turn. */
  readonly addresses: readonly string[];
}

export type Kind = keyof typeof kinds;

const { port, key, kinds: wanted, addresses } = JSON.parse(process.argv[2] ?? "{}") as Attack;
const keyLine = key === undefined ? "" : `x-api-key: ${key}\r\n`;
const list = `GET /v1/tables HTTP/1.1\r\nhost: a\r\n${keyLine}\r\n`;
const count = `POST /v1/table/books/count_rows HTTP/1.1\r\nhost: a\r\n${keyLine}content-type: application/json\r\n`;

/** By name, what a connection does once it is open. None of them reads. */
const kinds = {
  /** Sends as many requests as it may, and a further one each second. */
  unread: (socket: Socket) => {
    socket.write(list.repeat(15));
    everySecond(socket, () => socket.write(list));
  },
  /** Sends more requests than it may. */
  pipelining: (socket: Socket) => void socket.write(list.repeat(5_000)),
  "slow-heads": (socket: Socket) => {
    socket.write("POST /v1/table/books/count_rows HTTP/1.1\r\n");
    everySecond(socket, () => socket.write("x: 1\r\n"));
  },
  "slow-bodies": (socket: Socket) => {
    socket.write(`${count}content-length: 1000000\r\n\r\n`);
    everySecond(socket, () => socket.write(" "));
  },
  /** Sends a few requests and goes, each second again. */
  reconnecting: (socket: Socket) => {
    socket.write(list.repeat(10));
    everySecond(socket, () => socket.destroy());
  },
  /** The same with more requests than it may send. */
  "reconnecting-pipelining": (socket: Socket) => {
    socket.write(list.repeat(5_000));
    everySecond(socket, () => socket.destroy());
  },
  /** Sends nothing. */
  silent: () => {},
} as const satisfies Readonly<Record<string, (socket: Socket) => void>>;

function everySecond(socket: Socket, act: () => void): void {
  const timer = setInterval(act, 1_000);
  socket.once("close", () => clearInterval(timer));
}

let isAttacking = false;
const open = new Set<Socket>();

process.on("message", (begin: boolean) => {
  isAttacking = begin;
  if (!begin) for (const socket of open) socket.destroy();
  else {
    const all = Object.entries(wanted).flatMap(([kind, number]) => Array.from({ length: number }, () => kind as Kind));
    // Spread over a second, as they will stay.
    for (const [place, kind] of all.entries()) setTimeout(attack, (1_000 * place) / all.length, kind, place);
  }
});

/** A connection that is closed is opened again after a second. */
function attack(kind: Kind, place: number): void {
  if (!isAttacking) return;
  const socket = connect({ port, host: "127.0.0.1", localAddress: addresses[place % addresses.length] });
  open.add(socket.pause());
  socket.on("error", () => {});
  socket.once("connect", () => kinds[kind](socket));
  socket.once("close", () => {
    open.delete(socket);
    setTimeout(attack, 1_000, kind, place);
  });
  // One that does not read learns only so that it is closed.
  const timer = setInterval(() => socket.resume().pause(), 1_000);
  socket.once("close", () => clearInterval(timer));
}
