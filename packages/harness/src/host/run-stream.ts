/** A run as it happens: its events for a loop, its outcome, and both for a client over HTTP. */
import type { ServerResponse } from "node:http";
import type { Clock } from "@tau/ai";
import { followSignal } from "@tau/ai/internal";
import { HarnessError, type SessionEvent } from "@tau/protocol";
import type { PromptContent } from "../agent-session/content.ts";
import { toRunAborted } from "../run/run-aborted.ts";
import type { RunOutcome } from "../run/run.ts";
import { type EventFeed, parseEventId } from "./event-feed.ts";
import type { HostedSession, HostEvent } from "./hosted-session.ts";
import { pipeEvents, type SendEventsOptions, type SentFeed, toEventResponse } from "./send-events.ts";

export interface StreamOptions extends PromptContent {
  /** Aborts the run. */
  signal?: AbortSignal;
}

/** Events that are sent to a client until a run is over. */
export class SentEvents {
  readonly #sent: SentFeed;

  constructor(sent: SentFeed) {
    // The method that sends the events reports it; without a call of one it is not an error of the process.
    sent.feed.catch(() => {});
    this.#sent = sent;
  }

  /**
   * Answers a request with the events as server-sent events. The id of each is that of the host; a browser that loses the
   * connection sends the last one as `Last-Event-ID`.
   */
  toResponse(options?: SendEventsOptions): Response {
    return toEventResponse(this.#sent, options);
  }

  /** Does the same with a response of `node:http`. Resolves when everything was written, or the client has gone. */
  async pipeTo(response: ServerResponse, options?: SendEventsOptions): Promise<void> {
    await pipeEvents(this.#sent, response, options);
  }
}

/** A run that is started by `stream`. */
export class RunStream extends SentEvents implements AsyncIterable<SessionEvent> {
  readonly #started: Promise<StartedRun>;

  /** `start` gets the options with a signal that also aborts when the client is gone: then its run ends, and no other. */
  constructor(
    { signal, ...options }: StreamOptions,
    start: (options: StreamOptions) => Promise<StartedRun>,
    clock: Clock,
  ) {
    const controller = new AbortController();
    const stop = followSignal(signal, (reason) => controller.abort(reason));
    const started = start({ ...options, signal: controller.signal });
    const feed = started.then(({ hosted, from, outcome }) => ({ hosted, from, until: outcome }));
    super({ feed, isEmpty: false, abort: () => controller.abort(clientIsGone), clock });
    this.#started = started;
    this.result().then(stop, stop);
  }

  /** Resolves when the run is over, however it ended. Rejects if it could not be started, such as with `busy`. */
  async result(): Promise<RunOutcome> {
    return await (
      await this.#started
    ).outcome;
  }

  /**
   * Iterates over the events of the session until the run is over, in full, however slow the loop is. Throws what `result`
   * rejects with. A loop that is left early leaves the run alone: the option `signal` aborts it.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<SessionEvent, RunOutcome> {
    const { hosted, from, outcome } = await this.#started;
    const queue: HostEvent[] = [];
    let wake = () => {};
    let isOver = false;
    const onEvent = (event: HostEvent) => {
      queue.push(event);
      wake();
    };
    const stop = hosted.subscribe(onEvent, from);
    const onOver = () => {
      isOver = true;
      wake();
    };
    outcome.then(onOver, onOver);
    try {
      for (;;) {
        const item = queue.shift();
        if (item?.kind === "snapshot") throw new HarnessError("invalid_input", tooLate);
        if (item) yield item.event;
        else if (isOver) return await outcome;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      stop();
    }
  }
}

const tooLate = "The first events of the run are gone. Begin to iterate when the run is started.";

/** A prompt that was sent to a hosted session. */
interface StartedRun extends Pick<EventFeed, "hosted"> {
  /** The event before the first one of the run. */
  readonly from: NonNullable<EventFeed["from"]>;
  readonly outcome: Promise<RunOutcome>;
}

/** Sends a prompt to a session. Rejects with `busy` if a run is in progress. */
export async function startRun(hosted: HostedSession, text: string, options: StreamOptions): Promise<StartedRun> {
  const from = hosted.position;
  const outcome = (async (): Promise<RunOutcome> => {
    const ended = await hosted.session.prompt(text, options);
    if (ended.kind === "ran") return ended;
    throw new HarnessError("invalid_input", "An extension dealt with the prompt, so that there was no run.");
  })();
  outcome.catch(() => {});
  return { hosted, from, outcome };
}

/**
 * Sends the events after the one with this id until the session is idle. A client of another process, or one that was away too
 * long, gets the view first. Throws `invalid_input` for a text that is no id.
 */
export function resumeEvents(hosted: HostedSession, lastEventId: string | undefined, clock: Clock): SentEvents {
  const from = lastEventId === undefined ? undefined : parseEventId(lastEventId);
  const isEmpty = !hosted.session.isStreaming && hosted.listEventsAfter(from).length === 0;
  const feed = Promise.resolve({ hosted, from, until: hosted.session.waitForIdle() });
  return new SentEvents({ feed, isEmpty, abort: () => void hosted.abort(toRunAborted(clientIsGone, "signal")), clock });
}

const clientIsGone = "the client closed the connection";
