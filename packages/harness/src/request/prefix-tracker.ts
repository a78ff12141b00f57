/** Compares each request with the last one, and reports what breaks a provider's cache. */
import type { AgentMessage, AgentTool } from "@tau/agent";
import type { Model } from "@tau/ai";
import type { Publisher } from "../run/publisher.ts";
import type { Transcript } from "../run/transcript.ts";
import type { SystemPrompt } from "../prompt/system-prompt.ts";
import type { PrefixEntry } from "../session/entry.ts";
import type { Session } from "../session/session.ts";
import { firstBreak, firstChangedMessage, modelName, type PrefixDigest, toDigest } from "./prefix.ts";

interface PrefixHost {
  readonly session: Pick<Session, "append">;
  readonly transcript: Pick<Transcript, "tokens">;
  readonly publisher: Pick<Publisher, "fact">;
  readonly current: () => { systemPrompt: SystemPrompt; tools: readonly AgentTool[] };
}

export class PrefixTracker {
  #digest: PrefixDigest | undefined;
  /** The tools that the digest was made of. */
  #tools: readonly AgentTool[] | undefined;
  #prompt: SystemPrompt | undefined;
  #messages: readonly AgentMessage[] = [];
  #reason: string | undefined;
  /** Files that changed since the last request. */
  #changedFiles: readonly string[] = [];

  /** Continues from the last request of an earlier process. */
  restore(prefix: PrefixEntry | undefined): void {
    this.#digest = prefix;
  }

  /** Sets why the messages of the next request differ from those of the last. */
  setReason(reason: string): void {
    this.#reason = reason;
  }

  /** Files of the prompt or the tools that changed since the last request. */
  addChangedFiles(paths: readonly string[]): void {
    this.#changedFiles = [...new Set([...this.#changedFiles, ...paths])];
  }

  /** For another branch, whose messages are not compared. */
  forgetMessages(): void {
    this.#messages = [];
  }

  /** Reports what differs from the last request, and appends the new prefix if it has changed. */
  async update(
    { session, current, transcript, publisher }: PrefixHost,
    { model, messages }: { model: Model; messages: readonly AgentMessage[] },
  ): Promise<void> {
    const { systemPrompt, tools } = current();
    const report = (segment: string, reason: string) =>
      publisher.fact({ type: "cache_break", segment, reason, tokens: transcript.tokens });
    const changed = firstChangedMessage(this.#messages, messages);
    if (changed !== undefined) report(`messages.${changed}`, this.#reason ?? "Older results of tools were left out.");
    this.#messages = messages;
    this.#reason = undefined;
    const files = this.#changedFiles;
    this.#changedFiles = [];
    // Hashing is rarely needed.
    if (this.#digest?.model === modelName(model) && this.#tools === tools && this.#prompt === systemPrompt) return;
    const digest = toDigest(model, tools, systemPrompt);
    const isFirst = this.#digest === undefined;
    const segment = this.#digest && firstBreak(this.#digest, digest);
    const hasFiles = files.length > 0 && segment !== "model";
    if (segment !== undefined)
      report(segment, hasFiles ? `These files changed: ${files.join(", ")}` : "It was changed.");
    this.#digest = digest;
    this.#tools = tools;
    this.#prompt = systemPrompt;
    if (isFirst || segment !== undefined) await session.append({ type: "prefix", ...digest });
  }
}
