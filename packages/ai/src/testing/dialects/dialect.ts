import type { KnownApi } from "../../model.ts";
import type { ScriptedAnswer } from "../script.ts";

/**
 * The responses of a provider's server. Written from the provider's documentation and SDK, not from our own parser: the
 * vendor's SDK must be able to read the responses of the wire server.
 */
export interface WireDialect {
  api: KnownApi;
  contentType: string;
  /** The answer as the server would send it, one chunk per frame. */
  answer(answer: Required<Pick<ScriptedAnswer, "id" | "model">> & ScriptedAnswer): Uint8Array[];
  /** A frame without content that keeps the connection open. */
  ping: Uint8Array;
  /** A frame that reports a failure inside a stream. */
  streamError(kind: "overloaded" | "rate_limited", message: string): Uint8Array;
  /** The body of a response with an error status. */
  errorBody(status: number, message: string): string;
}

const encoder = new TextEncoder();

/** Encodes a server-sent event. */
export const sse = (data: unknown, event?: string): Uint8Array =>
  encoder.encode(
    `${event === undefined ? "" : `event: ${event}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`,
  );
