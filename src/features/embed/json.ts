/** What `migrate prepare` prints with --json. */
import { z } from "zod";
import { prepareEvent, runEvent } from "../../cli/json/events.ts";

export const prepare = z.union([runEvent, prepareEvent]);
