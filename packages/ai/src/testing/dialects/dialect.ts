import type { KnownApi } from "../../model.ts";
import type { ScriptedAnswer } from "../script.ts";

/**
 * How a provider's server talks, written from its documentation and its SDK, never from our own parser: a vendor's SDK
 * that is pointed at the wire server has to understand it.
 */
export interface WireDialect {
  api: KnownApi;
  contentType: string;
  /** The answer as the server would send it: one chunk for each frame. */
  answer(answer: Required<Pick<ScriptedAnswer, "id" | "model">> & ScriptedAnswer): Uint8Array[];
  /** A frame that keeps the line open and means nothing. */
  ping: Uint8Array;
  /** A frame that reports a failure in the middle of a stream. */
  streamError(kind: "overloaded" | "rate_limited", message: string): Uint8Array;
  /** The body of a response with an error status. */
  errorBody(status: number, message: string): string;
}

const encoder = new TextEncoder();

/** One server-sent event. */
export const sse = (data: unknown, event?: string): Uint8Array =>
  encoder.encode(
    `${event === undefined ? "" : `event: ${event}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`,
  );
