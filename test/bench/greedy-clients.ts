/**
 * Clients with a key, each on a connection of its own, one request after another. `bench greedy` starts it as a process of its
 * own, and sends `true` to begin and `false` to end, which is answered with a `Served`. `node greedy-clients.ts PORT KEY NUMBER`
 */
import { Client } from "undici";

export interface Served {
  readonly answered: number;
  readonly refused: number;
}

const [port, key, number] = process.argv.slice(2);
const headers = { "x-api-key": key!, "content-type": "application/json" };
const requests = [
  ["count_rows", { predicate: "id > 1" }],
  ["query", { vector: [], k: 10, filter: "id >= 10" }],
] as const;

const rounds = { isOn: false };
let [answered, refused] = [0, 0];
const clients = Array.from({ length: Number(number) }, () => new Client(`http://127.0.0.1:${port}`));
let work: readonly Promise<void>[] = [];

process.on("message", async (begin: boolean) => {
  rounds.isOn = begin;
  if (begin) work = clients.map(beClient);
  else {
    await Promise.all(work);
    process.send!({ answered, refused } satisfies Served);
    [answered, refused] = [0, 0];
  }
});

async function beClient(client: Client): Promise<void> {
  for (let turn = 0; rounds.isOn; turn++) {
    const [path, body] = requests[turn % requests.length]!;
    try {
      const answer = await client.request({
        method: "POST",
        path: `/v1/table/books/${path}`,
        headers,
        body: JSON.stringify(body),
      });
      await answer.body.dump();
      if (answer.statusCode === 200) answered++;
      else refused++;
    } catch {
      refused++;
    }
  }
}
