/** Drops table t of a folder; started as a process that is killed while it does. */
import { open } from "../../src/targets/lance/lance.ts";

const folder = process.argv[2]!;
const target = await open({ kind: "lance", uri: folder }, { name: "victim", folder });
const seen = await target.describeTable("t");
console.log("dropping");
await target.execute({ kind: "dropTable", table: "t" }, seen);
await target.close();
