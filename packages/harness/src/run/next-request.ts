/** The next request of a run: selects its messages, offers them to extensions, reserves its cost, and asks the model. */
import { isDeepStrictEqual } from "node:util";
import type { AgentMessage, StreamFn } from "@tau/agent";
import type { Context, Usage } from "@tau/ai";
import type { ExtensionHooks } from "@tau/extensions";
import { isValidChange } from "@tau/extensions/internal";
import type { BudgetLimitName } from "@tau/protocol";
import type { Budget, Reservation } from "../budget/budget.ts";
import { findReachedLimit } from "../cost/refused-streams.ts";
import { failedStream } from "../request/request.ts";
import { type RouteOutcome, toRouteMessages, withLevel } from "../request/route.ts";
import { messagesToSend } from "../request/select-messages.ts";
import { reserveRequest } from "./context-size.ts";
import { copyMessages } from "./copy-messages.ts";
import type { Recorder } from "./recorder.ts";
import type { RunHost } from "./run-host.ts";
import type { RunSpans } from "./run-spans.ts";

/** The system prompt as handlers of `context_with_system` see it. */
interface SystemMessage {
  role: "system";
  content: string;
  timestamp: number;
}

interface NextRequestParts {
  readonly host: RunHost;
  readonly budget: Budget;
  readonly recorder: Recorder;
  readonly spans: RunSpans;
}

interface NextRequestOptions {
  /** Called if a budget, or a limit of all sessions, has no room for the request. */
  onSpent: (limit: BudgetLimitName) => void;
  /** Whether the first request follows one that failed. */
  isRetry: boolean;
}

export class NextRequest {
  readonly #parts: NextRequestParts;
  readonly #onSpent: (limit: BudgetLimitName) => void;
  #isRetry: boolean;
  /** The selected messages. */
  #sending: readonly AgentMessage[] = [];
  /** The system prompt, if extensions changed it. */
  #prompt: string | undefined;
  /** The reservation of the request that was sent and has no answer. */
  #reservation: Reservation | undefined;

  constructor(parts: NextRequestParts, { onSpent, isRetry }: NextRequestOptions) {
    this.#parts = parts;
    this.#onSpent = onSpent;
    this.#isRetry = isRetry;
  }

  /** Selects the messages that are sent: bounded, pruned, without images where the settings say so. */
  async select(messages: readonly AgentMessage[]): Promise<AgentMessage[]> {
    const { settings, current, extensions } = this.#parts.host;
    const { pruning, images } = settings();
    const selected = messagesToSend(messages, current().model, { pruning, blockImages: images.blockImages });
    const isOffered = extensions?.has("context") || extensions?.has("context_with_system");
    const sending = isOffered ? await this.#offer(extensions!, selected) : selected;
    // What extensions add at the end is not there any more with the next request, and breaks no cache.
    this.#sending = startsWith(sending, selected) ? selected : sending;
    return sending;
  }

  /** Handlers may change the list, and messages in place: they get copies, since these are those of the transcript. */
  async #offer(extensions: ExtensionHooks, selected: AgentMessage[]): Promise<AgentMessage[]> {
    let sending = selected;
    const copy = extensions.has("context") ? copyMessages(selected) : undefined;
    if (copy) {
      const answer = await extensions.emit({ type: "context", messages: copy });
      // What handlers changed in place was not looked at when they answered.
      sending = answer?.messages ?? (isValidChange("context", "messages", selected, copy) ? copy : selected);
    }
    if (extensions.has("context_with_system")) sending = await this.#showPrompt(extensions, sending);
    if (!startsWith(sending, selected)) {
      const names = [...extensions.listHandlers("context"), ...extensions.listHandlers("context_with_system")];
      this.#parts.host.sent.setReason(`These extensions changed the conversation: ${[...new Set(names)].join(", ")}`);
    }
    return sending;
  }

  /** Handlers see the system prompt as the first message, and what they leave of it is sent. */
  async #showPrompt(extensions: ExtensionHooks, sending: AgentMessage[]): Promise<AgentMessage[]> {
    const { clock, current } = this.#parts.host;
    const system: SystemMessage = { role: "system", content: current().systemPrompt.text, timestamp: clock.now() };
    const messages = [system, ...copyMessages(sending)] as AgentMessage[];
    const changed = await extensions.emit({ type: "context_with_system", messages });
    if (!changed?.messages) return sending;
    const isSystem = (message: AgentMessage) => (message.role as string) === "system";
    const prompts = changed.messages.filter(isSystem) as unknown as SystemMessage[];
    this.#prompt = prompts.map(({ content }) => content).join("\n\n");
    return changed.messages.filter((message) => !isSystem(message));
  }

  /** Reserves what the request may cost, and reports when its prefix differs from the last one's. */
  async ask(...[selected, context, options]: Parameters<StreamFn>) {
    const { host, budget, spans, recorder } = this.#parts;
    recorder.startTurn(context.messages);
    const routed = host.used.isVirtual ? await this.#route(context, options?.signal) : undefined;
    if (routed?.kind === "failed") return failedStream(selected, routed.failure, host.clock.now());
    const model = routed?.model ?? selected;
    const grant = reserveRequest(host, budget);
    if (grant.kind === "spent") {
      this.#onSpent(grant.limit);
      return failedStream(model, { kind: "refused", message: grant.message }, host.clock.now());
    }
    this.#reservation = grant.reservation;
    await host.sent.update(host, { model, messages: this.#sending });
    spans.startRequest(model);
    const { maxTokens } = grant;
    const systemPrompt = this.#prompt ?? context.systemPrompt;
    this.#prompt = undefined;
    const stream = await host.ask(
      model,
      { ...context, ...(systemPrompt !== undefined && { systemPrompt }) },
      {
        ...(routed ? withLevel(options, routed.thinkingLevel) : options),
        ...host.getRequestChoices(),
        ...(maxTokens !== undefined && { maxTokens }),
      },
    );
    const reached = findReachedLimit(stream);
    if (reached !== undefined) this.#onSpent(reached);
    return stream;
  }

  /** Asks the selected virtual model for the model of this request. */
  #route({ messages, systemPrompt }: Context, signal: AbortSignal | undefined): Promise<RouteOutcome> {
    const { used, transcript, clock } = this.#parts.host;
    const isRetry = this.#isRetry;
    this.#isRetry = false;
    // What extensions add does not count as written by the user.
    const last = transcript.messages.findLast(({ role }) => role !== "custom");
    const reason = isRetry ? "retry" : last?.role === "user" ? "user" : "continuation";
    const prompt = this.#prompt ?? systemPrompt;
    return used.route({ reason, messages: toRouteMessages(messages, prompt, clock.now()), signal });
  }

  /** Settles what the request has cost; undefined if that is unknown. */
  settle(usage: Usage | undefined): void {
    this.#reservation?.settle(usage);
    this.#reservation = undefined;
  }
}

/** Whether the first messages of a list say the same as another one. */
const startsWith = (messages: readonly AgentMessage[], first: readonly AgentMessage[]): boolean =>
  messages === first ||
  (messages.length >= first.length && first.every((message, index) => isDeepStrictEqual(message, messages[index])));
