/**
 * Accepts connections and reads nothing of them. `bench greedy` starts it as a process of its own, to which attackers send
 * who cost the service nothing; it sends its port.
 */
import { createServer, type AddressInfo } from "node:net";

const server = createServer({ pauseOnConnect: true }, (socket) => socket.on("error", () => {}));
server.listen(0, "127.0.0.1", 4_096, () => process.send!((server.address() as AddressInfo).port));
