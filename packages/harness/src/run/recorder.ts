/** Appends everything that happens in a run to the log first, and publishes it afterwards. */
import type { AgentEvent, AgentMessage, BeforeToolCallContext } from "@tau/agent";
import { isRetryable, type Message } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import { type RunEnd, toTermination } from "@tau/protocol";
import { parseUsage } from "../budget/usage.ts";
import { modelName } from "../request/prefix.ts";
import type { ExtensionHooks } from "@tau/extensions";
import { copyMessage } from "./copy-messages.ts";
import { toExtensionEvent } from "./extension-events.ts";
import { StreamedCopy } from "./streamed-copy.ts";
import { appendEvent, createNestedCallLog } from "./record.ts";
import type { RunHost } from "./run-host.ts";
import {
  endTurn,
  noTranslation,
  repeatTurn,
  startTurn,
  type Translated,
  translate,
  type TranslationContext,
} from "./translate.ts";

type RecorderHost = Pick<
  RunHost,
  "session" | "transcript" | "inbox" | "publisher" | "clock" | "ids" | "current" | "used" | "resumedFrom" | "extensions"
>;

export class Recorder {
  readonly #host: RecorderHost;
  readonly #startedMs: number;
  readonly #translationContext: TranslationContext;
  readonly #messages: AgentMessage[] = [];
  #translation = noTranslation;
  #totalTokens = 0;
  #logFailure: string | undefined;
  readonly #streamed = new StreamedCopy();
  #lastEntryId = "";
  readonly #appendNested: ReturnType<typeof createNestedCallLog>;
  #onWritten: (message: AgentMessage) => void = () => {};

  constructor(host: RecorderHost) {
    this.#host = host;
    const { clock, ids, transcript, session } = host;
    this.#appendNested = createNestedCallLog(session);
    this.#startedMs = clock.monotonic();
    this.#translationContext = {
      newId: ids,
      now: () => clock.monotonic(),
      inputTokens: () => transcript.tokens,
      messageCount: () => transcript.messages.length,
    };
  }

  /** Everything that was said in the run, prompts included. */
  get messages(): readonly AgentMessage[] {
    return this.#messages;
  }

  /** Why the log could not be written, the first time. */
  get logFailure(): string | undefined {
    return this.#logFailure;
  }

  /** The id of the entry that was written last. */
  get lastEntryId(): string {
    return this.#lastEntryId;
  }

  /** The index of the current turn, or of the one that has just ended; the first is 0. */
  get turnIndex(): number {
    const { turns, turn } = this.#translation;
    return turn === "due" ? turns : Math.max(0, turns - 1);
  }

  /** Tokens that were spent on something other than an answer, such as a summary. */
  addTokens(tokens: number): void {
    this.#totalTokens += tokens;
  }

  /** Reports that the run begins. `onWritten` is called for each message that is in the log from now on. */
  begin(onWritten: (message: AgentMessage) => void): void {
    this.#onWritten = onWritten;
    const { session, publisher, clock, current, resumedFrom } = this.#host;
    const { model, thinkingLevel, tools } = current();
    publisher.engine({ type: "agent_start" });
    publisher.event({
      type: "agent_start",
      sessionId: session.id,
      model: modelName(model),
      tools: tools.map(({ name }) => name),
      thinkingLevel,
      ...(resumedFrom !== undefined && { resumedFrom }),
      timestamp: clock.now(),
    });
  }

  /**
   * Records one event of the engine. `observe` is called once the log has it, before listeners hear of it. Only what goes
   * into the log is waited for. Rejects when it cannot be written, so that the engine does nothing more.
   */
  record(event: AgentEvent, observe: (event: AgentEvent) => void = () => {}): void | Promise<void> {
    const { extensions } = this.#host;
    return extensions?.has(event.type)
      ? this.#recordForExtensions(extensions, event, observe)
      : this.#record(event, observe);
  }

  /** Extensions may replace a message before it is in the log; of everything else they hear afterwards, and are waited for. */
  #recordForExtensions(
    extensions: ExtensionHooks,
    event: AgentEvent,
    observe: (event: AgentEvent) => void,
  ): void | Promise<void> {
    if (event.type === "message_end") return this.#replaceAndRecord(extensions, event, observe);
    const recorded = this.#record(event, observe);
    return recorded ? recorded.then(() => this.#tell(extensions, event)) : this.#tell(extensions, event);
  }

  #tell(extensions: ExtensionHooks, event: AgentEvent): void | Promise<void> {
    if (event.type === "message_update") return extensions.notify(this.#streamed.toEvent(event));
    const told = toExtensionEvent(event, () => ({ turnIndex: this.turnIndex, timestamp: this.#host.clock.now() }));
    return told && extensions.notify(told);
  }

  async #replaceAndRecord(
    extensions: ExtensionHooks,
    event: AgentEvent & { type: "message_end" },
    observe: (event: AgentEvent) => void,
  ): Promise<void> {
    const changed = await extensions.emit({ type: "message_end", message: copyMessage(event.message) });
    // The engine continues with the same object.
    if (changed?.message) Object.assign(event.message, changed.message);
    await this.#record(event, observe);
  }

  #record(event: AgentEvent, observe: (event: AgentEvent) => void): void | Promise<void> {
    const { session, inbox, used } = this.#host;
    const appended =
      this.#appendNested(event) ??
      appendEvent(session, event, {
        getQueueId: (message) => inbox.getId(message),
        getReplaced: () => used.replaced,
      });
    return appended ? this.#takeWritten(event, appended, observe) : this.#take(event, observe);
  }

  /** Records that a call was allowed and is about to be executed. Rejects if it cannot be written: it is then not executed. */
  async recordCallStart({
    toolCall,
    parentToolCallId,
  }: Pick<BeforeToolCallContext, "toolCall" | "parentToolCallId">): Promise<void> {
    try {
      await this.#host.session.appendCallStarted(toolCall.id, toolCall.name, parentToolCallId);
    } catch (error) {
      this.#logFailure ??= getErrorMessage(error);
      throw error;
    }
  }

  /** Reports that a turn begins, with the messages that are sent, unless that is known already. */
  startTurn(messages: readonly Message[]): void {
    this.#publish(startTurn(this.#translation, { ...this.#translationContext, messageCount: () => messages.length }), {
      messages,
    });
  }

  /** The answer of the last turn is asked for again. */
  repeatTurn(): void {
    this.#translation = repeatTurn(this.#translation);
  }

  /** Publishes the end of the last turn, unless that has happened. `end` is given when the run ends with it. */
  endTurn(end: RunEnd | undefined): void {
    this.#publish(endTurn(this.#translation, end));
  }

  /** Reports that the run is over. */
  finish(end: RunEnd): void {
    const { session, publisher, clock, current } = this.#host;
    const { turns } = this.#translation;
    if (end.kind === "failed" || end.kind === "idle") {
      const { kind: code, message, ...facts } = end.failure;
      const cause = end.kind === "failed" ? end.cause : "model";
      const context = { cause, model: modelName(current().model), turnIndex: Math.max(0, turns - 1), ...facts };
      publisher.event({ type: "error", code, message, context, recoverable: isRetryable(end.failure) });
    }
    publisher.engine({ type: "agent_end", messages: [...this.#messages] });
    publisher.event({
      type: "agent_end",
      sessionId: session.id,
      totalTurns: turns,
      totalTokens: this.#totalTokens,
      durationMs: clock.monotonic() - this.#startedMs,
      ...toTermination(end),
    });
  }

  async #takeWritten(
    event: AgentEvent,
    appended: Promise<string | void>,
    observe: (event: AgentEvent) => void,
  ): Promise<void> {
    try {
      this.#lastEntryId = (await appended) ?? this.#lastEntryId;
      if (event.type === "message_end") {
        this.#host.inbox.markSaid(event.message);
        this.#onWritten(event.message);
      }
    } catch (error) {
      this.#logFailure ??= getErrorMessage(error);
      throw error;
    } finally {
      // Every start gets its end, also when the log fails.
      this.#take(event, observe);
    }
  }

  #take(event: AgentEvent, observe: (event: AgentEvent) => void): void {
    const { publisher, transcript } = this.#host;
    // The engine's runs are attempts of this one, which has its own beginning and end.
    if (event.type === "agent_start" || event.type === "agent_end") return;
    if (event.type === "message_end") {
      transcript.add(event.message);
      this.#messages.push(event.message);
      const { role } = event.message;
      if (role === "assistant" || role === "toolResult") this.#totalTokens += parseUsage(event.message.usage).total;
    }
    observe(event);
    publisher.engine(event);
    this.#publish(translate(this.#translation, event, this.#translationContext));
  }

  #publish([next, events]: Translated, inProcess?: { messages: readonly Message[] }): void {
    this.#translation = next;
    for (const event of events) this.#host.publisher.event(event, inProcess);
  }
}
