/**
 * pi's `AgentSession`: an agent whose messages are kept in a session, with extensions, retries and compaction. It works with
 * the agent, the tools and the managers that its creator gives it: nothing judges its calls. Programs of tau use the session
 * of `@tau/harness`, which does.
 */
import type { AgentMessage, ThinkingLevel } from "@tau/agent";
import { type ImageContent, type Model } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { ExtensionContext, ExtensionUi } from "@tau/harness/extensions";
import type { SessionEntry } from "@tau/protocol";
import { collectEntriesForBranchSummary, contentText, type SessionManager, toError } from "@tau/pi/internal";
import type { CommandActions, ContextActions, ExtensionActions } from "../extensions/extension.ts";
import { type ExtensionError, ExtensionRunner } from "../extensions/runner.ts";
import { writeHtml } from "./write-html.ts";
import { writeJsonl } from "./write-jsonl.ts";
import { toExtendedPaths } from "./discovered-paths.ts";
import { expandPrompt } from "./expand-prompt.ts";
import { listCommands } from "./list-commands.ts";
import { WaitingTexts } from "./queues.ts";
import { SessionBash } from "./session-bash.ts";
import type { NewBranchSummary } from "./session-runs.ts";
import type { AgentSessionConfig, Content, CustomDraft, PromptOptions } from "./types.ts";

/** What a program gives to its extensions. */
export interface ExtensionBindings {
  uiContext?: ExtensionUi;
  mode?: ExtensionContext["mode"];
  commandContextActions?: CommandActions;
  /** In place of the session's own `abort`. */
  abortHandler?: () => void;
  shutdownHandler?: () => void;
  onError?: (error: ExtensionError) => void;
}

export class AgentSession extends SessionBash {
  protected runner: ExtensionRunner;
  readonly #unsubscribe: () => void;
  readonly #waiting = new WaitingTexts((texts) => this.listeners.emit({ type: "queue_update", ...texts }));
  /** Go along with the next prompt. */
  #asides: AgentMessage[] = [];
  /** Undefined until extensions were bound: only then do they learn of the session's start. */
  #bindings: ExtensionBindings | undefined;

  constructor(config: AgentSessionConfig) {
    super(config);
    this.runner = this.#createRunner();
    this.setActiveToolsByName(this.tools.getDefaultNames(config.initialActiveToolNames));
    this.installHooks();
    this.#unsubscribe = this.agent.subscribe(async (event) => {
      if (event.type === "message_start") this.#waiting.remove(event.message);
      await this.handleEvent(event);
    });
  }

  dispose(): void {
    this.#unsubscribe();
    this.listeners.clear();
  }

  /** Resolves when the run, its retries and what follows them have ended. Rejects for a prompt that cannot be sent. */
  async prompt(text: string, options: PromptOptions = {}): Promise<void> {
    const expands = options.expandPromptTemplates ?? true;
    if (expands && (await this.#tryCommand(text))) return;
    const input = await this.runner.emitInput(text, options.images, options.source ?? "interactive");
    if (input["action"] === "handled") return;
    const isChanged = input["action"] === "transform";
    const own = isChanged ? String(input["text"]) : text;
    const images = (isChanged ? input["images"] : options.images) as ImageContent[] | undefined;
    const expanded = expands ? this.#expand(own) : own;
    if (this.isStreaming) {
      if (!options.streamingBehavior) {
        throw new Error(
          "Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message.",
        );
      }
      this.#queue(options.streamingBehavior, expanded, images);
      return;
    }
    this.addPendingBash();
    await this.#mustHaveKey();
    await this.compactBeforePrompt();
    const message = createUserMessage(expanded, images);
    const messages: AgentMessage[] = [message, ...this.#asides.splice(0)];
    const start = await this.runner.emitBeforeAgentStart(expanded, images, this.#buildBasePrompt());
    for (const draft of (start?.messages ?? []) as CustomDraft[]) messages.push(toCustomMessage(draft));
    // A handler may have chosen other tools.
    this.agent.setSystemPrompt(start?.systemPrompt ?? this.#buildBasePrompt());
    await this.run(() => this.agent.prompt(messages));
  }

  async steer(text: string, images?: ImageContent[]): Promise<void> {
    this.#refuseCommand(text);
    this.#queue("steer", this.#expand(text), images);
  }

  async followUp(text: string, images?: ImageContent[]): Promise<void> {
    this.#refuseCommand(text);
    this.#queue("followUp", this.#expand(text), images);
  }

  async sendCustomMessage(
    draft: CustomDraft,
    options: { triggerTurn?: boolean; deliverAs?: "steer" | "followUp" | "nextTurn" } = {},
  ): Promise<void> {
    const message = toCustomMessage(draft);
    if (options.deliverAs === "nextTurn") this.#asides.push(message);
    else if (this.isStreaming) {
      if (options.deliverAs === "followUp") this.agent.followUp(message);
      else this.agent.steer(message);
    } else if (options.triggerTurn) await this.run(() => this.agent.prompt(message));
    else {
      this.agent.appendMessage(message);
      const { customType, content, display, details } = draft;
      this.sessionManager.appendCustomMessageEntry(customType, content, display, details);
      this.listeners.emit({ type: "message_start", message });
      this.listeners.emit({ type: "message_end", message });
    }
  }

  async sendUserMessage(content: Content, options: { deliverAs?: "steer" | "followUp" } = {}): Promise<void> {
    const images = typeof content === "string" ? [] : content.filter((block) => block.type === "image");
    await this.prompt(contentText(content), {
      expandPromptTemplates: false,
      source: "extension",
      ...(images.length > 0 && { images }),
      ...(options.deliverAs && { streamingBehavior: options.deliverAs }),
    });
  }

  clearQueue(): { steering: string[]; followUp: string[] } {
    this.agent.clearAllQueues();
    return this.#waiting.clear();
  }

  get pendingMessageCount(): number {
    return this.#waiting.steering.length + this.#waiting.followUps.length;
  }

  getSteeringMessages(): readonly string[] {
    return this.#waiting.steering;
  }

  getFollowUpMessages(): readonly string[] {
    return this.#waiting.followUps;
  }

  async navigateTree(
    targetId: string,
    options: { summarize?: boolean; customInstructions?: string; replaceInstructions?: boolean; label?: string } = {},
  ): Promise<{ editorText?: string; cancelled: boolean; aborted?: boolean; summaryEntry?: unknown }> {
    const session = this.sessionManager;
    const target = session.getEntry(targetId);
    if (!target) throw new Error(`Entry ${targetId} not found`);
    const oldLeafId = session.getLeafId();
    if (oldLeafId === targetId) return { cancelled: false };
    const { entries, commonAncestorId } = collectEntriesForBranchSummary(session, oldLeafId, targetId);
    const { summarize = false, customInstructions, replaceInstructions } = options;
    const preparation = {
      targetId,
      oldLeafId,
      commonAncestorId,
      entriesToSummarize: entries,
      userWantsSummary: summarize,
      customInstructions,
      replaceInstructions,
      label: options.label,
    };
    const signal = new AbortController().signal;
    const verdict = await this.runner.emit({ type: "session_before_tree", preparation, signal });
    if (verdict?.["cancel"]) return { cancelled: true };
    const ownInstructions = (verdict?.["customInstructions"] as string | undefined) ?? customInstructions;
    const replaces = (verdict?.["replaceInstructions"] as boolean | undefined) ?? replaceInstructions;
    const instructions = {
      ...(ownInstructions !== undefined && { customInstructions: ownInstructions }),
      ...(replaces !== undefined && { replaceInstructions: replaces }),
    };
    const label = (verdict?.["label"] as string | undefined) ?? options.label;
    const editorText = getEditableText(target);
    const newLeafId = editorText === undefined ? targetId : target.parentId;
    const given = verdict?.["summary"] as NewBranchSummary | undefined;
    let summaryId: string | undefined;
    if (summarize && entries.length > 0) {
      const summary = given ?? (await this.summarizeBranch(entries, instructions));
      if (!summary) return { cancelled: true, aborted: true };
      const { details, usage } = summary;
      summaryId = session.branchWithSummary(newLeafId, summary.summary, details, given !== undefined, usage);
    } else if (newLeafId === null) session.resetLeaf();
    else session.branch(newLeafId);
    if (label !== undefined) session.appendLabelChange(summaryId ?? targetId, label);
    this.reloadMessages();
    const summaryEntry = summaryId === undefined ? undefined : session.getEntry(summaryId);
    const fromExtension = summaryEntry ? given !== undefined : undefined;
    const newLeaf = session.getLeafId();
    await this.runner.emit({ type: "session_tree", newLeafId: newLeaf, oldLeafId, summaryEntry, fromExtension });
    return { cancelled: false, ...(editorText !== undefined && { editorText }), ...(summaryEntry && { summaryEntry }) };
  }

  /** Continues before a message of the user, in a new session. */
  async fork(entryId: string): Promise<{ selectedText: string; cancelled: boolean }> {
    const entry = this.sessionManager.getEntry(entryId);
    if (entry?.type !== "message" || entry.message.role !== "user") throw new Error("Invalid entry ID for forking");
    const selectedText = contentText(entry.message.content);
    const verdict = await this.runner.emit({ type: "session_before_fork", entryId });
    if (verdict?.["cancel"]) return { selectedText, cancelled: true };
    const previousSessionFile = this.sessionFile;
    if (entry.parentId === null) {
      this.sessionManager.newSession(previousSessionFile === undefined ? {} : { parentSession: previousSessionFile });
    } else this.sessionManager.createBranchedSession(entry.parentId);
    this.#openMessages();
    await this.runner.emit({ type: "session_fork", previousSessionFile });
    return { selectedText, cancelled: false };
  }

  /** False if an extension cancelled it. */
  async newSession(
    options: { parentSession?: string; setup?: (session: SessionManager) => Promise<void> } = {},
  ): Promise<boolean> {
    const previousSessionFile = this.sessionFile;
    const verdict = await this.runner.emit({ type: "session_before_switch", reason: "new" });
    if (verdict?.["cancel"]) return false;
    await this.abort();
    const { parentSession } = options;
    this.sessionManager.newSession(parentSession === undefined ? {} : { parentSession });
    this.sessionManager.appendThinkingLevelChange(this.thinkingLevel);
    await options.setup?.(this.sessionManager);
    this.#openMessages();
    await this.runner.emit({ type: "session_switch", reason: "new", previousSessionFile });
    return true;
  }

  async switchSession(sessionPath: string): Promise<boolean> {
    const previousSessionFile = this.sessionFile;
    const verdict = await this.runner.emit({
      type: "session_before_switch",
      reason: "resume",
      targetSessionFile: sessionPath,
    });
    if (verdict?.["cancel"]) return false;
    await this.abort();
    this.sessionManager.setSessionFile(sessionPath);
    this.#openMessages();
    await this.runner.emit({ type: "session_switch", reason: "resume", previousSessionFile });
    await this.restoreModel();
    return true;
  }

  /** What waited for another session is gone. */
  #openMessages(): void {
    this.clearQueue();
    this.#asides = [];
    this.agent.sessionId = this.sessionId;
    this.reloadMessages();
  }

  /** Starts the extensions. What an earlier call bound stays unless it is given again. */
  async bindExtensions(bindings: ExtensionBindings): Promise<void> {
    this.#bindings = { ...this.#bindings, ...bindings };
    this.#applyBindings(this.runner);
    await this.#startExtensions("startup");
  }

  async reload(): Promise<void> {
    await this.runner.emit({ type: "session_shutdown", reason: "reload" });
    const flagValues = this.runner.getFlagValues();
    this.runner.invalidate();
    await this.settingsManager.reload?.();
    await this.resourceLoader.reload();
    const active = this.getActiveToolNames();
    this.runner = this.#createRunner();
    for (const [name, value] of flagValues) this.runner.setFlagValue(name, value);
    this.setActiveToolsByName([...new Set([...active, ...this.tools.getNewNames(new Set(active))])]);
    if (this.#bindings) await this.#startExtensions("reload");
  }

  async #startExtensions(reason: "startup" | "reload"): Promise<void> {
    await this.runner.emit({ type: "session_start", reason });
    if (!this.runner.hasHandlers("resources_discover")) return;
    const { cwd } = this.config;
    this.resourceLoader.extendResources?.(toExtendedPaths(await this.runner.emitResourcesDiscover(cwd, reason), cwd));
    this.agent.setSystemPrompt(this.#buildBasePrompt());
  }

  /** Returns the path. Default: a file in the working directory. */
  async exportToHtml(outputPath?: string): Promise<string> {
    return await writeHtml(this.sessionManager, outputPath);
  }

  /** The current branch. Returns the path. Default: a file in the working directory of the process. */
  exportToJsonl(outputPath?: string): string {
    return writeJsonl(this.sessionManager, outputPath);
  }

  #createRunner(): ExtensionRunner {
    const { cwd, extensionRunnerRef } = this.config;
    const { extensions, runtime } = this.resourceLoader.getExtensions();
    const runner = new ExtensionRunner(extensions, runtime, cwd, this.sessionManager, this.modelRegistry);
    this.tools.refresh(runner);
    runner.bindCore(this.#createActions(runner), this.#createContextActions(), () => this.refreshModel());
    runner.onError((error) => this.#bindings?.onError?.(error));
    this.#applyBindings(runner);
    if (extensionRunnerRef) extensionRunnerRef.current = runner;
    return runner;
  }

  #applyBindings(runner: ExtensionRunner): void {
    runner.setUIContext(this.#bindings?.uiContext, this.#bindings?.mode);
    runner.bindCommandContext(this.#bindings?.commandContextActions);
  }

  /** Nobody waits for what an extension starts. */
  #reportFailure(promise: Promise<unknown>, event: string): void {
    promise.catch((error: unknown) =>
      this.runner.emitError({ extensionPath: "<runtime>", event, error: getErrorMessage(error) }),
    );
  }

  #createActions(runner: ExtensionRunner): ExtensionActions {
    const actions = {
      sendMessage: (message: CustomDraft, options?: object) =>
        this.#reportFailure(this.sendCustomMessage(message, options), "send_message"),
      sendUserMessage: (content: Content, options?: object) =>
        this.#reportFailure(this.sendUserMessage(content, options), "send_user_message"),
      appendEntry: (customType: string, data?: unknown) => void this.sessionManager.appendCustomEntry(customType, data),
      setSessionName: (name: string) => this.setSessionName(name),
      getSessionName: () => this.sessionName,
      setLabel: (entryId: string, label: string | undefined) =>
        void this.sessionManager.appendLabelChange(entryId, label),
      getActiveTools: () => this.getActiveToolNames(),
      getAllTools: () => this.getAllTools(),
      setActiveTools: (names: string[]) => this.setActiveToolsByName(names),
      refreshTools: () => {
        const known = new Set(this.tools.getNames());
        this.tools.refresh(runner);
        this.setActiveToolsByName([...this.getActiveToolNames(), ...this.tools.getNewNames(known)]);
      },
      getSettings: () => this.settingsManager.getSettings(),
      getCommands: () =>
        listCommands({
          commands: runner.getRegisteredCommandsWithPaths(),
          templates: this.promptTemplates,
          skills: this.resourceLoader.getSkills().skills,
        }),
      setModel: (model: Model) =>
        this.setModel(model).then(
          () => true,
          () => false,
        ),
      getThinkingLevel: () => this.thinkingLevel,
      setThinkingLevel: (level: ThinkingLevel) => this.setThinkingLevel(level),
    };
    return actions as unknown as ExtensionActions;
  }

  #createContextActions(): ContextActions {
    return {
      getModel: () => this.model,
      getScopedModels: () => this.scopedModels,
      getSignal: () => this.agent.signal,
      isProjectTrusted: () => this.settingsManager.isProjectTrusted(),
      isIdle: () => !this.isStreaming,
      abort: () => (this.#bindings?.abortHandler ? this.#bindings.abortHandler() : void this.abort()),
      hasPendingMessages: () => this.pendingMessageCount > 0,
      shutdown: () => this.#bindings?.shutdownHandler?.(),
      getContextUsage: () => this.getContextUsage(),
      compact: ({ customInstructions, onComplete, onError } = {}) => {
        const answer = this.compact(customInstructions).then((result) => onComplete?.(result));
        this.#reportFailure(
          answer.catch((error: unknown) => onError?.(toError(error))),
          "compact",
        );
      },
      getSystemPrompt: () => this.systemPrompt,
    };
  }

  /** Without what extensions added for the last prompt. */
  #buildBasePrompt(): string {
    return this.buildPrompt(this.getActiveToolNames());
  }

  #expand(text: string): string {
    return expandPrompt(text, {
      skills: this.resourceLoader.getSkills().skills,
      templates: this.promptTemplates,
      onUnreadable: ({ filePath }, error) =>
        this.runner.emitError({ extensionPath: filePath, event: "skill_expansion", error }),
    });
  }

  #queue(kind: "steer" | "followUp", text: string, images: ImageContent[] | undefined): void {
    this.#waiting.add(kind, text);
    this.agent[kind](createUserMessage(text, images));
  }

  async #mustHaveKey(): Promise<void> {
    if (!this.model) throw new Error("No model selected. Choose one with /model, or pass one to createAgentSession.");
    await this.requireApiKey(this.model);
  }

  #findCommand(text: string) {
    const match = /^\/(\S+)\s*([\s\S]*)$/.exec(text);
    const command = match && this.runner.getCommand(match[1]!);
    return command ? { command, args: match[2] ?? "" } : undefined;
  }

  #refuseCommand(text: string): void {
    const found = this.#findCommand(text);
    if (!found) return;
    const name = `Extension command "/${found.command.name}"`;
    throw new Error(`${name} cannot be queued. Use prompt() or execute the command when not streaming.`);
  }

  async #tryCommand(text: string): Promise<boolean> {
    const found = this.#findCommand(text);
    if (!found) return false;
    try {
      await found.command.handler(found.args, this.runner.createCommandContext());
    } catch (error) {
      const extensionPath = `command:${found.command.name}`;
      this.runner.emitError({ extensionPath, event: "command", error: getErrorMessage(error) });
    }
    return true;
  }
}

/** A message of the user or of an extension is written anew, and the others stay. */
function getEditableText(entry: SessionEntry): string | undefined {
  if (entry.type === "custom_message") return contentText(entry.content, "");
  return entry.type === "message" && entry.message.role === "user" ? contentText(entry.message.content) : undefined;
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
