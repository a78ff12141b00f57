/** What the last request was. The next one is compared with it, and what breaks a provider's cache is told. */
import type { AgentMessage, AgentTool } from "@tau/agent";
import type { Model } from "@tau/ai";
import type { SystemPrompt } from "../prompt/system-prompt.ts";
import type { PrefixEntry } from "../session/entry.ts";
import type { Session } from "../session/session.ts";
import { toDigest, firstBreak, firstChangedMessage, modelName, type PrefixDigest } from "./prefix.ts";
import type { Publisher } from "../agent-session/publisher.ts";
import type { Transcript } from "../agent-session/transcript.ts";

/** What it needs of a session. */
interface SentHost {
  readonly session: Pick<Session, "append">;
  readonly transcript: Pick<Transcript, "tokens">;
  readonly publisher: Pick<Publisher, "fact">;
  readonly current: () => { systemPrompt: SystemPrompt; tools: readonly AgentTool[] };
}

export class Sent {
  #digest: PrefixDigest | undefined;
  /** Whether the digest is in the log. */
  #isKept = false;
  /** What the digest was made of. */
  #tools: readonly AgentTool[] | undefined;
  #prompt: SystemPrompt | undefined;
  #messages: readonly AgentMessage[] = [];
  /** Why the messages are going to be others. */
  #reason: string | undefined;

  /** Goes on from what an earlier process sent. */
  restore(prefix: PrefixEntry | undefined): void {
    this.#digest = prefix;
    this.#isKept = prefix !== undefined;
  }

  /** Says why the messages of the next request are not those of the last. */
  because(reason: string): void {
    this.#reason = reason;
  }

  /** The next messages belong to another branch: that is no change of this one. */
  forgetMessages(): void {
    this.#messages = [];
  }

  /** Names what is not as it was in the last request, and takes this one for the next comparison. */
  async next(
    { session, current, transcript, publisher }: SentHost,
    { model, messages }: { model: Model; messages: readonly AgentMessage[] },
  ): Promise<void> {
    const { systemPrompt, tools } = current();
    const tell = (segment: string, reason: string) =>
      publisher.fact({ type: "cache_break", segment, reason, tokens: transcript.tokens });
    const changed = firstChangedMessage(this.#messages, messages);
    if (changed !== undefined) tell(`messages.${changed}`, this.#reason ?? "Older results of tools were left out.");
    this.#messages = messages;
    this.#reason = undefined;
    // Nearly always nothing was touched, and then nothing has to be hashed.
    if (this.#digest?.model === modelName(model) && this.#tools === tools && this.#prompt === systemPrompt) return;
    const digest = toDigest(model, tools, systemPrompt);
    const segment = this.#digest && firstBreak(this.#digest, digest);
    if (segment !== undefined) tell(segment, "It was changed.");
    const isNews = segment !== undefined || !this.#isKept;
    this.#digest = digest;
    this.#isKept = true;
    this.#tools = tools;
    this.#prompt = systemPrompt;
    if (isNews) await session.append({ type: "prefix", ...digest });
  }
}
