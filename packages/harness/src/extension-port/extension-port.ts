/** Implements the port through which extensions use their session. */
import { resolve } from "node:path";
import { joinTextBlocks, getErrorMessage } from "@tau/ai/internal";
import { type SessionEntry, HarnessError } from "@tau/protocol";
import { formatNothingToCompact } from "../compaction/nothing-to-compact.ts";
import {
  type SourceInfo,
  type ToolInfo,
  execProgram,
  execSpawned,
  type SessionExtensions,
  type ExtensionSessionPort,
  type SessionReader,
} from "@tau/extensions";
import {
  isCustomType,
  isMessageDraft,
  toCustomMessage,
  replaceSession,
  describeTool,
  type ModelAccess,
  type PipelineTool,
} from "@tau/extensions/internal";
import { toPromptOptions } from "../prompt/prompt-options.ts";
import type { AgentTool } from "@tau/agent";
import type { RunHost } from "../run/run-host.ts";
import { listSlashCommands } from "../prompt/slash-commands.ts";
import { getContextUse } from "../session/stats.ts";
import { checkPort } from "./check-port.ts";
import { createChildSession } from "./child-session.ts";
import { auditEntry } from "./audit-entry.ts";
import { requestAccess } from "./request-access.ts";
import type { PortActivity, PortSession, PortTools } from "./port-session.ts";

interface ExtensionPortParts {
  session: PortSession;
  extensions: SessionExtensions;
  reader: SessionReader;
  models: ModelAccess;
  tools: PortTools;
  activity: PortActivity;
  host: RunHost;
  spawn: ExtensionSessionPort["spawn"];
  /** The signal of the run in progress. */
  getSignal: () => AbortSignal | undefined;
}

/** The extensions of the names of files, by the types that models and tools use. */
const imageExtensions: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
};

export function createExtensionPort(parts: ExtensionPortParts): ExtensionSessionPort {
  const { session, extensions, reader, models, tools, activity, host, spawn, getSignal } = parts;
  const { clock } = host;
  const { sessionManager, modelRegistry } = session;
  /** After what was sent before. A run must not be waited for: the extension may wait for the entry in it. */
  const writeInOrder = async (append: () => Promise<unknown>): Promise<void> => {
    const write = async () => void (await append());
    await (session.isStreaming ? write() : activity.later(write));
  };
  return {
    cwd: session.cwd,
    ui: extensions.ui,
    reader,
    modelRegistry: models,
    get mode() {
      return extensions.surface?.mode ?? "print";
    },

    getModel: () => session.model,
    async setModel(model) {
      const isUsable = modelRegistry.getAvailable().some(({ provider }) => provider === model.provider);
      if (!isUsable) return false;
      checkPort({ model });
      await session.setModel(model);
      return true;
    },
    getScopedModels() {
      const { modelPatterns } = session;
      return modelPatterns ? modelRegistry.scope(modelPatterns).models : [];
    },
    getThinkingLevel: () => session.thinkingLevel,
    setThinkingLevel: (level) => session.setThinkingLevel(level),
    getPermissionMode: () => session.permissions.mode,
    async setPlanMode(isOn) {
      const { mode, afterPlan } = session.permissions;
      if (isOn !== (mode === "plan")) await session.setPermissionMode(isOn ? "plan" : (afterPlan ?? mode));
    },

    isIdle: () => !session.isStreaming || activity.isSettling,
    isProjectTrusted: () => session.settingsManager.isProjectTrusted,
    getSignal,
    abort: () => void session.abort(),
    hasPendingMessages: () => !host.inbox.isEmpty || !extensions.isQueueEmpty,
    shutdown: () => extensions.surface?.shutdown?.(),
    getContextUsage() {
      const use = session.model && getContextUse(host.transcript.tokens, session.model.contextWindow);
      return use && { tokens: use.tokens, contextWindow: use.contextWindow, percent: use.percent };
    },
    async compact(instructions) {
      checkPort({ instructions });
      const outcome = await session.compact(instructions);
      if (outcome.kind === "compacted") return outcome.compaction;
      if (outcome.kind === "failed") throw new HarnessError("run_failed", outcome.failure.message);
      if (outcome.kind === "aborted") throw new HarnessError("run_failed", "The compaction was aborted.");
      throw new HarnessError("run_failed", formatNothingToCompact(outcome.reason));
    },
    getSystemPrompt: () => tools.prompt.text,
    getSystemPromptOptions: () => toPromptOptions(tools.shown.promptInput),
    getSettings: () => session.settings,

    async sendMessage(message, { triggerTurn = false, deliverAs = "steer" }) {
      if (!isMessageDraft(message)) {
        const advice = "It needs a customType that does not begin with `tau.`, and a content of text or of blocks.";
        throw new HarnessError("invalid_input", `This is not a message. ${advice}`);
      }
      if (deliverAs === "nextTurn") return extensions.queue.add("nextTurn", message);
      if (session.isStreaming) return extensions.queue.add(deliverAs, message, triggerTurn);
      const custom = toCustomMessage(message, clock.now());
      if (triggerTurn) return void activity.begin([custom]).catch(reportRun);
      await activity.later(async () => {
        await sessionManager.append({ type: "custom_message", ...message });
        host.transcript.add(custom);
      });
    },
    async sendUserMessage(content, { deliverAs, expandPromptTemplates = false }) {
      const images = typeof content === "string" ? [] : content.filter((block) => block.type === "image");
      const text = joinTextBlocks(content);
      checkPort({ text, images });
      // A run that is over can no longer be steered, and what comes next waits for nothing else.
      const queue = deliverAs ?? (activity.isEnding ? "followUp" : undefined);
      const submit = () =>
        session.submit(text, {
          ...(images.length > 0 && { images }),
          ...(queue && { queue }),
          expandPromptTemplates,
          source: "extension",
        });
      // A command may itself wait for the end of the run.
      const submission = await (expandPromptTemplates ? submit() : extensions.sending.during(submit));
      if (submission.disposition === "started") submission.outcome.catch(reportRun);
    },
    async appendEntry(customType, data) {
      if (!isCustomType(customType)) {
        throw new HarnessError("invalid_input", "The type of an entry is a text that does not begin with `tau.`.");
      }
      await writeInOrder(() => sessionManager.appendCustomEntry(customType, data));
    },
    async setSessionName(name, { ifUnnamed = false } = {}) {
      checkPort({ name });
      await writeInOrder(() =>
        ifUnnamed ? sessionManager.appendFirstName(name) : sessionManager.appendSessionInfo(name),
      );
    },
    setLabel: (entryId, label) => writeInOrder(() => sessionManager.appendLabelChange(entryId, label)),

    exec: (command, args, options = {}) =>
      options.sandbox === undefined
        ? execProgram(command, args, { ...options, cwd: resolve(session.cwd, options.cwd ?? "") })
        : execSpawned(spawn, command, args, options),
    spawn,
    async openChild(options) {
      const { name, tools: names, excludedTools } = options;
      checkPort({ name, tools: names });
      if (excludedTools) checkPort({ names: excludedTools });
      if (extensions.host) return await extensions.host.openChild(options);
      const child = await session.openChild(options);
      return createChildSession(child, () => child.dispose());
    },
    getChildrenSignal: () => session.getChildrenSignal(),
    whileWaiting: (work) => activity.whileWaiting(work),
    async keepText(text) {
      checkPort({ text });
      return await host.keep(text);
    },
    async keepImage({ data, mimeType }) {
      checkPort({ text: data });
      const extension = imageExtensions[mimeType];
      if (extension === undefined) throw new HarnessError("invalid_input", `${mimeType} is not a type of images.`);
      try {
        return await host.keepBytes(Buffer.from(data, "base64"), extension);
      } catch (error) {
        session.notify("files", `An image could not be written to a file: ${getErrorMessage(error)}`);
        return undefined;
      }
    },
    getPersonWaitMs: () => session.approvalWaitMs + extensions.dialogs.waitedMs,
    getAgents: () => session.getAgents(),
    requestAccess: (access, options) => requestAccess(session.judgeParts, access, options),
    audit: (entry) => auditEntry(session.judgeParts, entry),
    getActiveTools: () => [...session.tools, ...tools.shown.unlisted].map(({ name }) => name),
    getAllTools: () => listAllTools(session, extensions),
    findTools: () => tools.found.list(),
    setActiveTools(names) {
      checkPort({ names });
      const known = new Set(
        listAllTools(session, extensions).flatMap(({ name, exposure }) => (exposure === "hidden" ? [] : [name])),
      );
      session.setActiveTools(names.filter((name) => known.has(name)));
    },
    refreshTools: () => tools.rebuild(),
    getCallableTools: () => [...listOwn(), ...tools.found.listNow()],
    executeTool: (callerId, name, args, { isOfFeature = false, ...options }) =>
      host.calls.callTool(callerId, name, args, {
        ...options,
        tools: [...listOwn(), ...(isOfFeature ? tools.listInternal() : [])],
      }),
    getCommands: () => listSlashCommands(session),

    registerProvider: (name, config) => extensions.providers.register(name, config),
    unregisterProvider: (name) => extensions.providers.unregister(name),

    waitForIdle: () => session.waitForIdle(),
    reload: async () => void (await session.reload()),
    replace: {
      newSession: ({ withSession, ...options } = {}) =>
        replaceSession(extensions, (target) => target.newSession(options), withSession),
      fork: (entryId, { position = "before", withSession } = {}) =>
        replaceSession(extensions, (target) => target.fork(entryId, position), withSession),
      switchSession: (path, { withSession } = {}) =>
        replaceSession(extensions, (target) => target.switchSession(path), withSession),
    },
    async navigateTree(targetId, { summarize, customInstructions, replaceInstructions, label } = {}) {
      checkPort({ options: { summarize, customInstructions, replaceInstructions, label } });
      const target = await sessionManager.getEntry(targetId);
      const text = target && getEditableText(target);
      const isEdited = target !== undefined && text !== undefined;
      const moved = await session.navigate(isEdited ? target.parentId : targetId, {
        ...(summarize !== undefined && { summarise: summarize }),
        ...(customInstructions !== undefined && { instructions: customInstructions }),
        ...(replaceInstructions !== undefined && { replaceInstructions }),
        ...(label !== undefined && (summarize || !isEdited) && { label }),
      });
      if (!moved) return { cancelled: true };
      if (isEdited && label !== undefined && !summarize) await sessionManager.appendLabelChange(targetId, label);
      if (isEdited && extensions.ui.getEditorText().trim() === "") extensions.ui.setEditorText(text);
      return { cancelled: false };
    },
  };

  function listOwn(): readonly AgentTool[] {
    return listCallable([...session.tools, ...tools.shown.unlisted]);
  }

  function reportRun(error: unknown): void {
    session.notify("run_failed", getErrorMessage(error));
  }
}

/** Returns the text of a message that a user edits when going back to it; the session then goes to the entry before it. */
function getEditableText(entry: SessionEntry): string | undefined {
  if (entry.type === "custom_message") return joinTextBlocks(entry.content);
  return entry.type === "message" && entry.message.role === "user" ? joinTextBlocks(entry.message.content) : undefined;
}

/** Lists the tools that others can call. */
const listCallable = (tools: readonly AgentTool[]): readonly AgentTool[] =>
  tools.filter((tool: AgentTool & Pick<PipelineTool, "isModelOnly">) => !tool.isModelOnly);

/** Lists the tools of the session and of extensions, shown or not. */
function listAllTools(session: PortSession, extensions: SessionExtensions): ToolInfo[] {
  const registered = extensions.describeTools();
  const names = new Set(registered.map(({ name }) => name));
  const builtIn: SourceInfo = { path: "", source: "builtin", scope: "user", origin: "top-level" };
  const others = [...session.tools, ...session.knownTools].filter(({ name }) => !names.has(name));
  const unique = [...new Map(others.map((tool) => [tool.name, tool])).values()];
  return [...unique.map((tool) => describeTool({ ...tool, exposure: "direct" }, builtIn)), ...registered];
}
