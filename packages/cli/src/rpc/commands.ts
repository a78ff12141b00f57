/** Every command, once: what it takes, and what it does. Both framings read this table. */
import { resolve } from "node:path";
import { getSupportedThinkingLevels, type ImageContent, type Model, modelsAreEqual } from "@tau/ai";
import { type AgentSession, exportHtml, HarnessError, SessionManager } from "@tau/harness";
import { writeFileTarget } from "../commands/write-export.ts";
import { thinkingLevels } from "../flags.ts";
import { findSession } from "../find-session.ts";
import { commandsData, forkMessages, lastAnswer, modelData, saidIn, stateData, statsData } from "./data.ts";
import { type Fields, flag, type Given, images, oneOf, optional, text, words } from "./fields.ts";
import type { Sender } from "./framing.ts";
import type { RpcHost } from "./host.ts";
import { toQueue } from "./pi-events.ts";

export interface RpcCommand {
  fields: Fields;
  /** It may take long, and what comes after it does not wait. All others are done one after the other. */
  isLong: boolean;
  /** Answers with its data. What it throws is the answer too. */
  run: (host: RpcHost, given: never, sender: Sender) => unknown;
}

const command = <F extends Fields>(
  fields: F,
  run: (host: RpcHost, given: Given<F>, sender: Sender) => unknown,
): RpcCommand => ({ fields, isLong: false, run });

const longCommand = <F extends Fields>(
  fields: F,
  run: (host: RpcHost, given: Given<F>, sender: Sender) => unknown,
): RpcCommand => ({ fields, isLong: true, run });

const queueMode = oneOf("all", "one-at-a-time");

export const rpcCommands: Readonly<Record<string, RpcCommand>> = {
  prompt: longCommand(
    { message: text, images: optional(images), streamingBehavior: optional(oneOf("steer", "followUp")) },
    async (host, { message, images, streamingBehavior }) => {
      const options = { ...(images && { images }), ...(streamingBehavior && { streamingBehavior }) };
      return { disposition: await host.say((session) => session.prompt(message, options)) };
    },
  ),
  steer: longCommand(
    { message: text, images: optional(images), interrupt: optional(flag) },
    async (host, { message, images = [], interrupt = false }) => ({
      disposition: await host.say((session) => session.steer(message, { images, interrupt })),
    }),
  ),
  follow_up: longCommand({ message: text, images: optional(images) }, async (host, { message, images = [] }) => ({
    disposition: await host.say((session) => session.followUp(message, images)),
  })),
  execute: longCommand({ prompt: text, images: optional(images) }, execute),
  abort: longCommand({}, async (host) => {
    await host.abort();
  }),
  clear_queue: command({}, async ({ session }) => toQueue(await session.clearQueue())),
  approve: command(
    { approvalId: text, decision: oneOf("allow", "deny"), remember: optional(oneOf("session", "always")) },
    ({ session }, { approvalId, decision, remember }) => {
      if (session.approve(approvalId, { decision, ...(remember && { remember }) })) return;
      throw new HarnessError("invalid_input", `Nothing with the id ${JSON.stringify(approvalId)} waits to be allowed.`);
    },
  ),

  get_state: command({}, stateData),
  get_messages: command({}, ({ session }) => ({ messages: session.messages })),
  get_session_stats: command({}, ({ session }) => statsData(session)),
  get_last_assistant_text: command({}, ({ session }) => ({ text: lastAnswer(session) })),
  get_commands: command({}, ({ session, cwd }) => ({ commands: commandsData(session, cwd) })),
  get_entries: command({ since: optional(text) }, async ({ session }, { since }) => {
    const { sessionManager } = session;
    const entries = await sessionManager.getEntries();
    const at = since === undefined ? -1 : entries.findIndex(({ id }) => id === since);
    if (since !== undefined && at < 0) throw noEntry(since);
    return { entries: entries.slice(at + 1), leafId: sessionManager.getLeafId() };
  }),
  get_tree: command({}, async ({ session: { sessionManager } }) => ({
    tree: await sessionManager.getTree(),
    leafId: sessionManager.getLeafId(),
  })),

  set_model: command({ provider: words, modelId: words }, async ({ session }, { provider, modelId }) => {
    const model = session.modelRegistry.find(provider, modelId);
    if (!model) throw new HarnessError("unknown_model", notFound(session, `${provider}/${modelId}`));
    await session.setModel(model);
    return modelData(model);
  }),
  cycle_model: command({}, async (host) => await cycleModel(host)),
  get_available_models: command({}, ({ session }) => ({
    models: session.modelRegistry.getAvailable().map(modelData),
  })),
  set_thinking_level: command({ level: oneOf(...thinkingLevels) }, async ({ session }, { level }) => {
    await session.setThinkingLevel(level);
  }),
  cycle_thinking_level: command({}, async ({ session }) => {
    const levels = getLevels(session);
    if (levels.length < 2) return null;
    await session.setThinkingLevel(after(levels, levels.indexOf(session.thinkingLevel)));
    return { level: session.thinkingLevel };
  }),
  get_available_thinking_levels: command({}, ({ session }) => ({ levels: getLevels(session) })),

  set_steering_mode: command({ mode: queueMode }, ({ session }, { mode }) => session.override({ steeringMode: mode })),
  set_follow_up_mode: command({ mode: queueMode }, ({ session }, { mode }) => session.override({ followUpMode: mode })),
  set_auto_compaction: command({ enabled: flag }, ({ session }, { enabled }) =>
    session.override({ autoCompaction: enabled }),
  ),
  set_auto_retry: command({ enabled: flag }, ({ session }, { enabled }) => session.override({ autoRetry: enabled })),
  abort_retry: command({}, ({ session }) => session.abortRetry()),
  compact: longCommand({ customInstructions: optional(text) }, (host, given) => host.compact(given.customInstructions)),

  bash: longCommand(
    { command: words, excludeFromContext: optional(flag) },
    ({ session, wire }, { command, excludeFromContext = false }, { id }) => {
      const onOutput = (delta: string) => {
        const update = { ...(id !== undefined && { id }), delta };
        wire.pi({ type: "bash_execution_update", ...update });
        wire.notify("bash_execution_update", update);
      };
      return session.executeBash(command, { excludeFromContext, onOutput });
    },
  ),
  abort_bash: command({}, ({ session }) => session.abortBash()),

  set_session_name: command({ name: words }, async ({ session }, { name }) => {
    await session.sessionManager.appendSessionInfo(name.trim());
  }),
  export_html: command({ outputPath: optional(words) }, async ({ session, cwd }, { outputPath }) => {
    const path = resolve(cwd, outputPath ?? `tau-session-${session.sessionId}.html`);
    await writeFileTarget(path, await exportHtml(await session.sessionManager.exportSource()));
    return { path };
  }),
  new_session: command({ parentSession: optional(words) }, async (host, { parentSession }) => {
    await host.goTo(
      async (session) => {
        const parent = parentSession === undefined ? {} : { parentSession: resolve(host.cwd, parentSession) };
        return await session.openOther(await session.sessionManager.createSession(parent));
      },
      { keep: true },
    );
    return notCancelled;
  }),
  switch_session: command({ sessionPath: words }, async (host, { sessionPath }) => {
    await switchSession(host, sessionPath);
    return notCancelled;
  }),
  fork: command({ entryId: words }, async (host, { entryId }) => {
    const { sessionManager } = host.session;
    const entry = await sessionManager.getEntry(entryId);
    if (!entry) throw noEntry(entryId);
    const said = saidIn(entry);
    if (said === undefined) {
      throw new HarnessError(
        "invalid_input",
        `The entry ${entryId} is no message of a person, and so no place to fork.`,
      );
    }
    await host.goTo((session) => openBefore(session, entry.parentId), { keep: true });
    return { text: said, ...notCancelled };
  }),
  clone: command({}, async (host) => {
    const leafId = host.session.sessionManager.getLeafId();
    if (leafId === null) throw new HarnessError("invalid_input", "The session is empty: there is nothing to clone.");
    await host.goTo((session) => session.branch(leafId), { keep: true });
    return notCancelled;
  }),
  get_fork_messages: command({}, async ({ session }) => ({ messages: await forkMessages(session) })),
};

/** Pi's extensions may refuse to leave a session; nobody does so here. */
const notCancelled = { cancelled: false };

const noEntry = (id: string) => new HarnessError("unknown_entry", `The session has no entry ${JSON.stringify(id)}.`);

/** To the end, and only with an answer: who executes something wants that. */
async function execute(host: RpcHost, { prompt, images }: { prompt: string; images: ImageContent[] | undefined }) {
  const outcome = await host.run((session) => session.prompt(prompt, images ? { images } : {}));
  const { terminationReason, detail, failure, answer } = outcome;
  if (failure) throw new HarnessError("run_failed", failure.message);
  if (terminationReason !== "no_tool_calls") throw new HarnessError("aborted", "The run was ended before its answer.");
  const said = answer?.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("") ?? "";
  return { answer: said, terminationReason, ...(detail !== undefined && { detail }) };
}

const getLevels = ({ model }: AgentSession) => (model ? getSupportedThinkingLevels(model) : ["off" as const]);

/** The one after a place, and after the last the first again. */
const after = <T>(list: readonly T[], at: number): T => list[(at + 1) % list.length]!;

function notFound(session: AgentSession, reference: string): string {
  const found = session.modelRegistry.resolve(reference);
  return found.kind === "resolved" ? `There is no model ${JSON.stringify(reference)}.` : found.message;
}

async function cycleModel({ session, options }: RpcHost) {
  const patterns = options.models ?? session.settings.enabledModels;
  const scope = patterns && session.modelRegistry.scope(patterns).models;
  const choices: readonly { model: Model; thinkingLevel?: string }[] =
    scope ?? session.modelRegistry.getAvailable().map((model) => ({ model }));
  if (choices.length < 2) return null;
  const next = after(
    choices,
    choices.findIndex(({ model }) => modelsAreEqual(model, session.model)),
  );
  await session.setModel(next.model);
  if (next.thinkingLevel !== undefined) await session.setThinkingLevel(next.thinkingLevel as "off");
  return { model: modelData(next.model), thinkingLevel: session.thinkingLevel, isScoped: scope !== undefined };
}

/** The way to a person's message, without it: that they say anew. */
async function openBefore(session: AgentSession, parentId: string | null): Promise<AgentSession> {
  if (parentId !== null) return await session.branch(parentId);
  const { sessionManager: manager, sessionFile } = session;
  const origin = { parentId: manager.id, ...(sessionFile !== undefined && { parentSession: sessionFile }) };
  return await session.openOther(await manager.createSession(origin));
}

async function switchSession(host: RpcHost, given: string): Promise<void> {
  const { session, cwd, agentDir } = host;
  const { durability } = session.settings;
  const path = await findSession(given, { cwd, agentDir, directory: session.sessionManager.getSessionDir() });
  if (path === session.sessionFile) return;
  const manager = await SessionManager.open(path, { agentDir, durability });
  const { readOnly } = manager;
  if (readOnly?.reason === "held") {
    await manager.close();
    const message = `The session ${path} is being written by process ${readOnly.holder.pid}. Close it there, or fork it.`;
    throw new HarnessError("read_only", message);
  }
  await host.goTo(() => session.openOther(manager), { keep: false });
}
