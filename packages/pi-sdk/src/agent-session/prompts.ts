/** Sends messages to the agent: at once, or to its queues while a run is in progress. */
import type { Agent, AgentMessage } from "@tau/agent";
import type { ImageContent } from "@tau/ai";
import type { Listeners } from "@tau/ai/internal";
import { contentText, type SessionManager } from "@tau/pi/internal";
import type { ActiveTools } from "./active-tools.ts";
import type { BashCommands } from "./bash-commands.ts";
import type { CurrentRunner } from "./current-runner.ts";
import type { ModelChoice } from "./model-choice.ts";
import { WaitingTexts } from "./queues.ts";
import type { Recovery } from "./recovery.ts";
import type { Runs } from "./runs.ts";
import type { SlashCommands } from "./slash-commands.ts";
import type { AgentSessionEvent, Content, CustomDraft, CustomMessageOptions, PromptOptions } from "./types.ts";

interface PromptsParts {
  agent: Agent;
  sessionManager: SessionManager;
  extensions: CurrentRunner;
  models: ModelChoice;
  tools: ActiveTools;
  commands: SlashCommands;
  bash: BashCommands;
  runs: Runs;
  recovery: Recovery;
  listeners: Listeners<AgentSessionEvent>;
}

export class Prompts {
  readonly #parts: PromptsParts;
  readonly #waiting: WaitingTexts;
  /** Messages that are sent with the next prompt. */
  #asides: AgentMessage[] = [];

  constructor(parts: PromptsParts) {
    this.#parts = parts;
    this.#waiting = new WaitingTexts((texts) => parts.listeners.emit({ type: "queue_update", ...texts }));
  }

  get steering(): readonly string[] {
    return this.#waiting.steering;
  }

  get followUps(): readonly string[] {
    return this.#waiting.followUps;
  }

  get waitingCount(): number {
    return this.steering.length + this.followUps.length;
  }

  /** See `AgentSession.prompt`. */
  async prompt(text: string, options: PromptOptions): Promise<void> {
    const { agent, extensions, commands, bash, recovery, tools, runs } = this.#parts;
    const expands = options.expandPromptTemplates ?? true;
    if (expands && (await commands.tryRun(text))) return;
    const input = await extensions.runner.emitInput(text, options.images, options.source ?? "interactive");
    if (input["action"] === "handled") return;
    const isChanged = input["action"] === "transform";
    const own = isChanged ? String(input["text"]) : text;
    const images = (isChanged ? input["images"] : options.images) as ImageContent[] | undefined;
    const expanded = expands ? commands.expand(own) : own;
    if (agent.state.isStreaming) {
      if (!options.streamingBehavior) {
        throw new Error(
          "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.",
        );
      }
      this.#queue(options.streamingBehavior, expanded, images);
      return;
    }
    bash.addPending();
    await this.#mustHaveKey();
    await recovery.compactBeforePrompt();
    const messages = [createUserMessage(expanded, images), ...this.#asides.splice(0)];
    const start = await extensions.runner.emitBeforeAgentStart(expanded, images, tools.buildPrompt());
    for (const draft of (start?.messages ?? []) as CustomDraft[]) messages.push(toCustomMessage(draft));
    // A handler may have chosen other tools.
    agent.setSystemPrompt(start?.systemPrompt ?? tools.buildPrompt());
    await runs.run(() => agent.prompt(messages));
  }

  /** Queues a message for the run in progress: after the current turn, or after the run. */
  queue(kind: "steer" | "followUp", text: string, images: ImageContent[] | undefined): void {
    this.#parts.commands.refuse(text);
    this.#queue(kind, this.#parts.commands.expand(text), images);
  }

  async sendCustomMessage(draft: CustomDraft, { triggerTurn, deliverAs }: CustomMessageOptions = {}): Promise<void> {
    const { agent, runs } = this.#parts;
    const message = toCustomMessage(draft);
    if (deliverAs === "nextTurn") this.#asides.push(message);
    else if (agent.state.isStreaming) {
      if (deliverAs === "followUp") agent.followUp(message);
      else agent.steer(message);
    } else if (triggerTurn) await runs.run(() => agent.prompt(message));
    else this.#append(message, draft);
  }

  async sendUserMessage(content: Content, { deliverAs }: { deliverAs?: "steer" | "followUp" } = {}): Promise<void> {
    const images = typeof content === "string" ? [] : content.filter((block) => block.type === "image");
    await this.prompt(contentText(content), {
      expandPromptTemplates: false,
      source: "extension",
      ...(images.length > 0 && { images }),
      ...(deliverAs && { streamingBehavior: deliverAs }),
    });
  }

  /** Empties the queues. Returns the texts that waited. */
  clearQueue(): { steering: string[]; followUp: string[] } {
    this.#parts.agent.clearAllQueues();
    return this.#waiting.clear();
  }

  /** Drops everything that waits for a session that is left. */
  clear(): void {
    this.clearQueue();
    this.#asides = [];
  }

  /** A message that was delivered waits no longer. */
  handleDelivery(message: AgentMessage): void {
    this.#waiting.remove(message);
  }

  #append(message: AgentMessage, { customType, content, display, details }: CustomDraft): void {
    const { agent, sessionManager, listeners } = this.#parts;
    agent.appendMessage(message);
    sessionManager.appendCustomMessageEntry(customType, content, display, details);
    listeners.emit({ type: "message_start", message });
    listeners.emit({ type: "message_end", message });
  }

  #queue(kind: "steer" | "followUp", text: string, images: ImageContent[] | undefined): void {
    this.#waiting.add(kind, text);
    this.#parts.agent[kind](createUserMessage(text, images));
  }

  async #mustHaveKey(): Promise<void> {
    const { models } = this.#parts;
    if (!models.model) throw new Error("No model selected. Choose one with /model, or pass one to createAgentSession.");
    await models.requireApiKey(models.model);
  }
}

const createUserMessage = (text: string, images: readonly ImageContent[] = []): AgentMessage => ({
  role: "user",
  content: [{ type: "text", text }, ...images],
  timestamp: Date.now(),
});

const toCustomMessage = ({ customType, content, display, details }: CustomDraft): AgentMessage => ({
  role: "custom",
  customType,
  content,
  display,
  ...(details !== undefined && { details }),
  timestamp: Date.now(),
});
