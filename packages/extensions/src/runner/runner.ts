/**
 * The extensions of one session. Calls their handlers in the order in which they were loaded and registered, and combines
 * the answers. A handler that fails is reported and skipped; one that guards something denies instead.
 */
import type { Clock } from "@tau/ai";
import { getErrorMessage, oncePer, untilAborted, untilTimeout } from "@tau/ai/internal";
import type { ExtensionContext } from "../api/context.ts";
import { checkCompaction } from "./check-compaction.ts";
import { type CombinedResult, combineResult } from "./combine-results.ts";
import { createContext, createLifetime, type Lifetime } from "./create-context.ts";
import { type ExtensionEvent, type ExtensionEventName, guardEvents } from "../api/events.ts";
import type { AnyHandler, Extension, ExtensionProblem } from "../api/extension.ts";
import { mustBeData } from "../api/must-be-data.ts";
import { parseResult } from "./parse-results.ts";
import type { ExtensionSessionPort } from "../api/session-port.ts";
import { decideLimit, defaultAnswerMs, maxHandlerMs, noticeAfterMs } from "./handler-limits.ts";
import { createOwnSession } from "../session/own-session.ts";
import { ExtensionError } from "../errors.ts";

/** The hooks that the session calls; the session works the same without them. */
export interface ExtensionHooks {
  /** Whether a handler would be called. Asked first, so that an event that nobody handles costs nothing. */
  has(name: ExtensionEventName): boolean;
  /** The names of the extensions that handle it, for people. */
  listHandlers(name: ExtensionEventName): string[];
  /** Sends an event that cannot be answered. A promise only if a handler takes time: deltas come by the thousand. */
  notify(event: ExtensionEvent): void | Promise<void>;
  /** Resolves when all handlers have answered. Rejects only for a guard that failed. */
  emit<Name extends ExtensionEventName>(event: ExtensionEvent<Name>): Promise<CombinedResult<Name> | undefined>;
}

interface RunnerParts {
  extensions: readonly Extension[];
  session: ExtensionSessionPort;
  clock: Clock;
  report: (problem: ExtensionProblem) => void;
  lifetime?: Lifetime;
  /** Milliseconds that handlers whose answer is used may take. Default 60 seconds. */
  getAnswerMs?: () => number;
  /** Called with the names of the extensions that are waited for, when one has taken five seconds and when it is over. */
  onWaiting?: (names: readonly string[]) => void;
}

interface HandlerCall {
  readonly extension: Extension;
  readonly handler: AnyHandler;
  readonly context: ExtensionContext;
}

export class ExtensionRunner implements ExtensionHooks {
  readonly extensions: readonly Extension[];
  readonly lifetime: Lifetime;
  readonly #parts: RunnerParts;
  /** The session, as an extension sees it. */
  readonly getSession: (extension: Extension) => ExtensionSessionPort;
  readonly #lists = new Map<ExtensionEventName, readonly HandlerCall[]>();
  /** Extensions that people are shown as waited for, once for each handler. */
  readonly #waitedFor: string[] = [];

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.extensions = parts.extensions;
    this.lifetime = parts.lifetime ?? createLifetime();
    this.getSession = oncePer(({ waits }: Extension) => createOwnSession(parts.session, waits));
    for (const extension of this.extensions) this.follow(extension);
  }

  /** Calls the handlers of an extension that was added to `extensions`. */
  follow({ handlers }: Extension): void {
    this.#lists.clear();
    handlers.onChange(() => this.#lists.clear());
  }

  /** Sends one extension an event that cannot be answered. */
  async emitTo(extension: Extension, event: ExtensionEvent): Promise<void> {
    for (const call of this.#list(event.type)) if (call.extension === extension) await this.#call(call, event);
  }

  /** Calls a function of an extension whose answer is used. Rejects if it fails, works more than ten seconds or is aborted. */
  async ask<T>(
    extension: Extension,
    call: (context: ExtensionContext) => T | Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const context = createContext(this.getSession(extension), this.lifetime);
    const answer = Promise.resolve().then(() => call(context));
    const outcome = await this.#limit(extension, untilAborted(answer, signal), maxHandlerMs);
    if (outcome.kind === "done") return outcome.value;
    throw new ExtensionError("cancelled", "the request was aborted before it answered");
  }

  has(name: ExtensionEventName): boolean {
    return this.#list(name).length > 0;
  }

  listHandlers(name: ExtensionEventName): string[] {
    return this.extensions.filter(({ handlers }) => handlers.has(name)).map(({ source }) => source.name);
  }

  notify(event: ExtensionEvent): void | Promise<void> {
    let pending: Promise<unknown> | undefined;
    for (const call of this.#list(event.type)) {
      // What it answers is ignored. In order, also if one of them takes time.
      const answer = pending ? this.#callAfter(pending, call, event) : this.#call(call, event);
      if (answer instanceof Promise) pending = answer;
    }
    return pending as Promise<void> | undefined;
  }

  async emit<Name extends ExtensionEventName>(event: ExtensionEvent<Name>): Promise<CombinedResult<Name> | undefined> {
    let current = event;
    let result: CombinedResult<Name> | undefined;
    for (const call of this.#list(event.type)) {
      const called = this.#call(call, current as ExtensionEvent);
      // Deltas come by the thousand, and most handlers answer at once.
      const answer = called instanceof Promise ? await called : called;
      if (answer === undefined) continue;
      const combined = combineResult(current, result, answer);
      current = combined.event;
      result = combined.result;
      if (combined.isFinal) return result;
    }
    return result;
  }

  /** Ends all contexts and what runs of the extensions. */
  async close(why: string): Promise<void> {
    this.lifetime.end(why);
    for (const extension of this.extensions) {
      await extension.close().catch((error: unknown) => this.#report(extension, getErrorMessage(error)));
    }
  }

  /** All handlers of an event, in order. Deltas come by the thousand, so the list is kept until a handler comes or goes. */
  #list(name: ExtensionEventName): readonly HandlerCall[] {
    const known = this.#lists.get(name);
    if (known) return known;
    const list = this.extensions.flatMap((extension) => {
      const handlers = extension.handlers.get(name) ?? [];
      const context = createContext(this.getSession(extension), this.lifetime);
      return handlers.map((handler) => ({ extension, handler, context }));
    });
    this.#lists.set(name, list);
    return list;
  }

  async #callAfter(previous: Promise<unknown>, call: HandlerCall, event: ExtensionEvent): Promise<unknown> {
    await previous;
    return await this.#call(call, event);
  }

  /** Its answer, or a promise of it. Undefined if the handler failed; a guard that failed throws. */
  #call({ extension, handler, context }: HandlerCall, event: ExtensionEvent): unknown {
    try {
      const answer = handler(event, context);
      return isThenable(answer) ? this.#wait(extension, Promise.resolve(answer), event) : parseAnswer(event, answer);
    } catch (error) {
      return this.#fail(extension, event, error);
    }
  }

  async #wait(extension: Extension, answer: Promise<unknown>, event: ExtensionEvent): Promise<unknown> {
    try {
      return parseAnswer(event, await this.#settle(extension, answer, event));
    } catch (error) {
      return this.#fail(extension, event, error);
    }
  }

  #fail(extension: Extension, { type }: ExtensionEvent, error: unknown): undefined {
    const message = `Its handler of ${type} failed: ${getErrorMessage(error)}`;
    this.#report(extension, message);
    if (guardEvents.has(type))
      throw new ExtensionError(
        "failed",
        `The extension ${extension.source.name} failed, so this is not done. ${message}`,
        {
          cause: error,
        },
      );
    return undefined;
  }

  /** Rejects if it takes too long. A handler whose run was stopped has no answer. */
  async #settle(extension: Extension, answer: Promise<unknown>, event: ExtensionEvent): Promise<unknown> {
    const { session, getAnswerMs = () => defaultAnswerMs } = this.#parts;
    const { maxMs, signal } = decideLimit(event, { answerMs: getAnswerMs(), runSignal: session.getSignal() });
    const outcome = await this.#limit(extension, untilAborted(answer, signal), maxMs);
    if (outcome.kind === "done") return outcome.value;
    if (guardEvents.has(event.type)) throw new ExtensionError("cancelled", "the run was stopped before it answered");
    return undefined;
  }

  async #limit<T>({ waits, source }: Extension, answer: Promise<T>, maxMs: number): Promise<T> {
    const { clock } = this.#parts;
    const start = clock.monotonic() - waits.waitedMs;
    let isShown = false;
    try {
      for (;;) {
        const workedMs = clock.monotonic() - waits.waitedMs - start;
        if (workedMs >= maxMs) throw new ExtensionError("timeout", `it took more than ${maxMs / 1_000} seconds`);
        if (workedMs >= noticeAfterMs && !isShown) {
          isShown = true;
          this.#waitedFor.push(source.name);
          this.#showWaiting();
        }
        // A wait of the extension may end before that, so nothing is longer than the shortest of the limits.
        const outcome = await untilTimeout(answer, Math.min(noticeAfterMs, maxMs - workedMs), clock);
        if (outcome.kind === "done") return outcome.value;
        if (waits.isWaiting) await Promise.race([waits.whenOver(), answer]);
      }
    } finally {
      if (isShown) {
        this.#waitedFor.splice(this.#waitedFor.indexOf(source.name), 1);
        this.#showWaiting();
      }
    }
  }

  #showWaiting(): void {
    this.#parts.onWaiting?.([...new Set(this.#waitedFor)]);
  }

  #report({ source }: Extension, message: string): void {
    this.#parts.report({ extension: source.name, message });
  }
}

/** Events whose answers become part of the log. */
const storedAnswers: ReadonlySet<ExtensionEventName> = new Set([
  "before_agent_start",
  "files_changed",
  "mention_read",
  "tool_result",
  "message_end",
  "turn_end",
  "agent_before_settle",
  "session_before_compact",
  "session_before_tree",
]);

function parseAnswer(event: ExtensionEvent, answer: unknown): unknown {
  const result = parseResult(event.type, answer);
  if (result && storedAnswers.has(event.type)) mustBeData(result, "Its answer");
  if (event.type === "session_before_compact" && result) checkCompaction(event, result);
  return result;
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && "then" in value;
