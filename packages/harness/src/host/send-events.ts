/** Sends events of a session over HTTP as server-sent events. */
import type { ServerResponse } from "node:http";
import type { Clock } from "@tau/ai";
import { getErrorMessage, stringifyJson } from "@tau/ai/internal";
import { HarnessError, type StreamedEvent } from "@tau/protocol";
import { type EventFeed, formatEventId, readEvents } from "./event-feed.ts";
import type { HostEvent } from "./hosted-session.ts";

export interface SendEventsOptions {
  /** Headers of the response besides those of an event stream, such as those of CORS. Default: none. */
  headers?: Readonly<Record<string, string>>;
  /** Whether the run is aborted when the client closes the connection. Default false: it continues, and the client may come back. */
  abortOnClose?: boolean;
  /** How often a comment is sent, so that nothing in between closes the connection as idle. Default 15,000; 0 sends none. */
  keepAliveMs?: number;
}

/** The source of what is sent. */
export interface SentFeed {
  /** Rejects if there is nothing to send, such as when the session could not be opened. */
  readonly feed: Promise<EventFeed>;
  /** Whether it is known that there is nothing to send: then the answer keeps the client from coming back. */
  readonly isEmpty: boolean;
  /** Aborts the run because the client has gone. */
  readonly abort: () => void;
  readonly clock: Clock;
}

const streamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  // Proxies neither store nor collect nor compress what they forward.
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

const defaultKeepAliveMs = 15_000;

/** Writes one event in the form of server-sent events. JSON has no line breaks. */
function formatSentEvent(event: HostEvent): string {
  const data: StreamedEvent = event.kind === "snapshot" ? { type: "view", view: event.view } : event.event;
  return `id: ${formatEventId(event.position)}\ndata: ${stringifyJson(data)}\n\n`;
}

/** Why there are no events, in the form of one. It has no id, so that the client does not continue after it. */
function formatFailure(error: unknown): string {
  const code = error instanceof HarnessError ? error.code : "internal";
  const data: StreamedEvent = { type: "error", code, message: getErrorMessage(error), recoverable: false };
  return `data: ${stringifyJson(data)}\n\n`;
}

async function* formatAll(feed: SentFeed["feed"], signal: AbortSignal): AsyncGenerator<string> {
  try {
    for await (const event of readEvents(await feed, signal)) yield formatSentEvent(event);
  } catch (error) {
    yield formatFailure(error);
  }
}

/** A `Response` whose body ends with the run. `Response` is not touched elsewhere: with it, Node loads its whole HTTP client. */
export function toEventResponse({ feed, isEmpty, abort, clock }: SentFeed, options: SendEventsOptions = {}): Response {
  const { headers, abortOnClose = false, keepAliveMs = defaultKeepAliveMs } = options;
  if (isEmpty) return new Response(null, { status: 204, headers: { ...headers } });
  const closing = new AbortController();
  const texts = formatAll(feed, closing.signal);
  const encoder = new TextEncoder();
  let stopTimer = () => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      stopTimer = repeat(clock, keepAliveMs, () => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(keepAlive));
      });
    },
    async pull(controller) {
      const { done, value } = await texts.next();
      if (closing.signal.aborted) return;
      if (!done) return controller.enqueue(encoder.encode(value));
      stopTimer();
      controller.close();
    },
    cancel() {
      stopTimer();
      closing.abort();
      // It waits at an event that nobody asks for any more.
      void texts.return(undefined);
      if (abortOnClose) abort();
    },
  });
  return new Response(body, { headers: { ...streamHeaders, ...headers } });
}

/** Resolves when everything was written, or the client has closed the connection. */
export async function pipeEvents(
  { feed, isEmpty, abort, clock }: SentFeed,
  response: ServerResponse,
  options: SendEventsOptions = {},
): Promise<void> {
  const { headers, abortOnClose = false, keepAliveMs = defaultKeepAliveMs } = options;
  // One that is closed already says so to nobody.
  if (response.destroyed || response.writableEnded) return abortOnClose ? abort() : undefined;
  if (isEmpty) return void response.writeHead(204, headers).end();
  const closing = new AbortController();
  let wake = () => {};
  const onClose = () => {
    closing.abort();
    wake();
    if (abortOnClose) abort();
  };
  const onDrain = () => wake();
  response.once("close", onClose).on("drain", onDrain);
  // Without a listener, an error of the connection would end the process. It closes the response, which is all that matters.
  response.on("error", onDrain);
  if (!response.headersSent) response.writeHead(200, { ...streamHeaders, ...headers });
  response.flushHeaders();
  const stopTimer = repeat(clock, keepAliveMs, () => {
    if (!response.writableNeedDrain) response.write(keepAlive);
  });
  try {
    for await (const text of formatAll(feed, closing.signal)) {
      if (closing.signal.aborted) break;
      if (response.write(text)) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (closing.signal.aborted || !response.writableNeedDrain) resolve();
      });
    }
  } finally {
    stopTimer();
    response.off("close", onClose).off("drain", onDrain);
    if (!closing.signal.aborted) response.end();
  }
}

const keepAlive = ": waiting\n\n";

/** Returns how to stop. */
function repeat(clock: Clock, everyMs: number, call: () => void): () => void {
  if (everyMs <= 0) return () => {};
  let stop = () => {};
  const arm = () => {
    stop = clock.setTimer(everyMs, () => {
      arm();
      call();
    });
  };
  arm();
  return () => stop();
}
