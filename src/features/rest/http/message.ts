/** A request to a service, and its answer. */
import { jsonType } from "../../../wire/content-types.ts";

export interface HttpRequest {
  /** `METHOD /path`, with its placeholders filled in. */
  readonly endpoint: string;
  readonly body?: { readonly type: string; readonly bytes: Uint8Array | string } | undefined;
  /** The largest Arrow data of its answer, in bytes. */
  readonly largest?: number | undefined;
}

/** The parts of a request that depend on the action. */
export interface Sent {
  readonly body: HttpRequest["body"];
  /** Values for the path's placeholders besides the table's name. */
  readonly names?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

export function jsonBody(value: unknown): NonNullable<HttpRequest["body"]> {
  return { type: jsonType, bytes: JSON.stringify(value) };
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}
