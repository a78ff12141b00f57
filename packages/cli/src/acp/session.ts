/** A session that an editor shows: its events become updates, and its questions become requests. */
import { getErrorMessage } from "@tau/ai/internal";
import type { AgentSession } from "@tau/harness";
import {
  createSessionFrameRedactor,
  type FrameRedactor,
  type Host,
  type HostedSession,
  runPrompt,
} from "@tau/harness/host";
import {
  type Approval,
  type Command,
  type CommandData,
  type CommandName,
  isPermissionMode,
  type SessionEvent,
  type ThinkingLevelName,
} from "@tau/protocol";
import { toDenyAnswer } from "@tau/protocol/surface";
import { findEditorCommand, listCommands } from "./commands.ts";
import { toConfigOptions, toModes } from "./config-options.ts";
import { type Connection, RequestFailed } from "../json-rpc/connection.ts";
import { JsonRpcError } from "@tau/protocol/json-rpc";
import type { SessionDialogs } from "./dialogs.ts";
import { toApprovalAnswer, toPermissionRequest } from "./permissions.ts";
import { toPrompt } from "./prompt-content.ts";
import { replay } from "./replay.ts";
import type {
  ClientCapabilities,
  PromptResponse,
  SessionConfigOption,
  SessionModeState,
  SessionUpdate,
} from "./schema.generated.ts";
import { toStopReason } from "./stop-reason.ts";
import { Updates, type UpdatesParts } from "./updates.ts";

interface EditorSessionParts {
  host: Host;
  sessionId: string;
  connection: Connection;
  client: ClientCapabilities;
  /** Gets what a client cannot show, for its log. */
  report: (message: string) => void;
}

/** The choices of a session, as new and loaded sessions are answered with. */
interface SessionState {
  modes: SessionModeState;
  configOptions: SessionConfigOption[];
}

export class EditorSession {
  readonly #parts: EditorSessionParts;
  readonly #hosted: HostedSession;
  readonly #redactor: FrameRedactor;
  readonly #updates: Updates;
  readonly #updatesParts: UpdatesParts;
  /** The questions that the client has not answered, by the id of the approval. */
  readonly #questions = new Map<string, AbortController>();
  readonly #cleanUps: (() => void)[] = [];
  /** Cancels the prompt that is being answered. */
  #cancelPrompt: (() => void) | undefined;
  #dialogs: Promise<SessionDialogs> | undefined;
  /** Settles when the extensions have the interface of the client. */
  #attached: Promise<void> | undefined;
  /** Settles when they have started, which may take as long as the client does not answer them. */
  #started: Promise<unknown> | undefined;
  /** The options and the commands that the client knows, as JSON. */
  #knownOptions = "";
  #knownCommands = "";

  constructor(parts: EditorSessionParts) {
    this.#parts = parts;
    const { host, sessionId, client, report } = parts;
    this.#hosted = host.get(sessionId);
    const { session } = this.#hosted;
    this.#redactor = createSessionFrameRedactor(session);
    this.#updatesParts = {
      cwd: session.cwd,
      findTool: createFindTool(session),
      client: client.session ?? {},
      getContextWindow: () => session.model?.contextWindow,
      report,
    };
    this.#updates = new Updates(this.#updatesParts);
    const stop = this.#hosted.subscribe((item) => void (item.kind === "event" && this.#take(item.event)));
    this.#cleanUps.push(
      stop,
      session.onFirstExtension(() => this.#attach()),
    );
  }

  get id(): string {
    return this.#parts.sessionId;
  }

  /** Whether a command of the session runs in the background. */
  get hasJobs(): boolean {
    return this.#hosted.view.live.jobs.length > 0;
  }

  /** Begins to show the session, when the client knows its id: its notices, its commands, and its extensions. */
  begin(): void {
    for (const { code, message } of this.#hosted.session.notices) this.#take({ type: "notice", code, message });
    this.#knownCommands = "";
    void this.#start().then(() => this.#sendCommands());
  }

  /** Extensions bring commands when they start. */
  async #start(): Promise<void> {
    if (this.#hosted.session.extensions) await this.#attach();
    await this.#started;
  }

  /** Sends the whole conversation. */
  async replay(): Promise<void> {
    const entries = await this.#hosted.session.sessionManager.getBranch();
    for (const update of replay(entries, this.#updatesParts)) this.#send(update);
  }

  async getState(): Promise<SessionState> {
    const { session } = this.#hosted;
    const [{ models }, { levels }] = await Promise.all([
      this.#execute({ type: "get_available_models" }),
      this.#execute({ type: "get_available_thinking_levels" }),
    ]);
    const { permissions, model, thinkingLevel } = session;
    const choices = { permissions, models, model, thinkingLevels: levels, thinkingLevel };
    const configOptions = toConfigOptions(choices);
    this.#knownOptions = JSON.stringify(configOptions);
    return { modes: toModes(permissions), configOptions };
  }

  async prompt(blocks: readonly unknown[]): Promise<PromptResponse> {
    if (this.#cancelPrompt)
      throw new JsonRpcError("invalid_request", "A prompt is already being answered. Cancel it first.");
    let isCancelled = false;
    // A command of an extension may go on for ever: a cancelled prompt is answered nevertheless.
    const cancelled = new Promise<PromptResponse>((resolve) => {
      this.#cancelPrompt = () => {
        isCancelled = true;
        void this.#hosted.abort().finally(() => resolve({ stopReason: "cancelled" }));
      };
    });
    const run = this.#run(blocks).then(
      (stopReason): PromptResponse => ({ stopReason: isCancelled ? "cancelled" : stopReason }),
      (error: unknown): PromptResponse => {
        // The protocol wants this answer to a cancelled prompt, however it ended.
        if (isCancelled) return { stopReason: "cancelled" };
        throw error;
      },
    );
    try {
      return await Promise.race([run, cancelled]);
    } finally {
      this.#cancelPrompt = undefined;
    }
  }

  async #run(blocks: readonly unknown[]): Promise<PromptResponse["stopReason"]> {
    const { session } = this.#hosted;
    const { text, images, context } = toPrompt(blocks);
    const command = findEditorCommand(text, session.isExtensionCommand(text));
    if (command) {
      const port = { execute: <Name extends CommandName>(each: Command<Name>) => this.#execute(each), say: this.#say };
      await command.run(port, command.argument);
      await this.#sendCommands();
      return "end_turn";
    }
    await this.#attached;
    const { end } = await runPrompt(this.#hosted, text, { images, context, source: "rpc" });
    await session.waitForIdle();
    const stopReason = toStopReason(end);
    await this.#sendUsage();
    return stopReason;
  }

  /** Ends what is in progress. Then the prompt is answered. */
  async cancel(): Promise<void> {
    this.#cancelPrompt?.();
    void this.#dialogs?.then((dialogs) => dialogs.cancelAll());
    await this.#hosted.abort();
  }

  async setMode(mode: string): Promise<void> {
    await this.#execute({ type: "set_permission_mode", mode });
  }

  /** Answers with all options, because one may change others. */
  async setOption(id: string, value: string): Promise<SessionConfigOption[]> {
    if (id === "mode" && isPermissionMode(value)) await this.setMode(value);
    else if (id === "model") await this.#execute({ type: "set_model", ...splitModel(value) });
    else if (id === "thinking") await this.#execute({ type: "set_thinking_level", level: value as ThinkingLevelName });
    else
      throw new JsonRpcError(
        "invalid_params",
        `There is no option ${JSON.stringify(id)} with the value ${JSON.stringify(value)}.`,
      );
    return (await this.getState()).configOptions;
  }

  /** `reason` is what its run ends with. */
  async close(reason?: string): Promise<void> {
    this.#cancelPrompt?.();
    void this.#dialogs?.then((dialogs) => dialogs.close());
    await this.#parts.host.dispose(reason);
    for (const cleanUp of this.#cleanUps) cleanUp();
  }

  /** Shows a terminal of the editor in the call that runs in it. */
  showTerminal(toolCallId: string, terminalId: string): void {
    for (const update of this.#updates.showTerminal(toolCallId, terminalId)) this.#send(update);
  }

  #execute<Name extends CommandName>(command: Command<Name>): Promise<CommandData<Name>> {
    return this.#parts.host.execute(this.id, command);
  }

  readonly #say = (text: string): void => {
    this.#send({
      sessionUpdate: "agent_message_chunk",
      messageId: this.#parts.host.ids(),
      content: { type: "text", text },
    });
  };

  #send(update: SessionUpdate): void {
    this.#parts.connection.notify("session/update", { sessionId: this.id, update }, this.#redactor.redactLine);
  }

  #take(event: SessionEvent): void {
    for (const redacted of this.#redactor.redactEvent(event)) {
      for (const update of this.#updates.map(redacted)) this.#send(update);
    }
    if (event.type === "approval_requested") void this.#ask(event.approval);
    if (event.type === "approval_resolved") this.#questions.get(event.approvalId)?.abort();
    if (event.type === "model_changed" || event.type === "permission_mode_changed") void this.#sendOptions();
  }

  /** Never rejects. A client that cannot be asked denies. */
  async #ask(approval: Approval): Promise<void> {
    const asking = new AbortController();
    this.#questions.set(approval.id, asking);
    const { session } = this.#hosted;
    const call = this.#updates.getCall(approval.toolCallId);
    const request = this.#redactor.redact(toPermissionRequest(this.id, approval, call));
    try {
      const response = await this.#parts.connection.request("session/request_permission", request, asking.signal);
      session.approve(approval.id, toApprovalAnswer(approval, response));
    } catch (error) {
      const reason =
        error instanceof RequestFailed && error.kind === "refused" ? `the editor said: ${error.message}` : "";
      session.approve(approval.id, toDenyAnswer(reason));
    } finally {
      this.#questions.delete(approval.id);
    }
  }

  /** Gives the extensions of the session the interface of the client, once. */
  #attach(): Promise<void> {
    this.#attached ??= this.#shareInterface();
    return this.#attached;
  }

  async #shareInterface(): Promise<void> {
    const { ui } = await this.#openDialogs();
    // Not waited for: extensions may ask something when they start, and the first of them may be loading.
    this.#started = this.#hosted.session
      .attachSurface({ mode: "rpc", ui })
      .catch((error: unknown) => this.#take({ type: "notice", code: "extension", message: getErrorMessage(error) }));
  }

  #openDialogs(): Promise<SessionDialogs> {
    const { connection, client, host, report } = this.#parts;
    this.#dialogs ??= import("./dialogs.ts").then(({ createDialogs }) =>
      createDialogs({
        sessionId: this.id,
        connection,
        client,
        ids: host.ids,
        redact: (value) => this.#redactor.redact(value),
        send: (update) => this.#send(update),
        report,
      }),
    );
    return this.#dialogs;
  }

  /** Never rejects: the session may have been closed meanwhile. */
  async #sendCommands(): Promise<void> {
    try {
      const { commands } = await this.#execute({ type: "get_commands" });
      const availableCommands = listCommands(commands);
      const known = JSON.stringify(availableCommands);
      if (known === this.#knownCommands) return;
      this.#knownCommands = known;
      this.#send({ sessionUpdate: "available_commands_update", availableCommands });
    } catch (error) {
      this.#parts.report(getErrorMessage(error));
    }
  }

  /** Never rejects: the session may have been closed meanwhile. */
  async #sendOptions(): Promise<void> {
    try {
      const known = this.#knownOptions;
      const { configOptions } = await this.getState();
      if (this.#knownOptions !== known) this.#send({ sessionUpdate: "config_option_update", configOptions });
    } catch (error) {
      this.#parts.report(getErrorMessage(error));
    }
  }

  async #sendUsage(): Promise<void> {
    const { contextUsage, cost } = await this.#execute({ type: "get_session_stats" });
    if (!contextUsage) return;
    const { tokens: used, contextWindow: size } = contextUsage;
    this.#send({ sessionUpdate: "usage_update", used, size, cost: { amount: cost, currency: "USD" } });
  }
}

/** A provider's name has no slash, and a model's id may have several. */
function splitModel(value: string): { provider: string; modelId: string } {
  const [provider = "", ...rest] = value.split("/");
  return { provider, modelId: rest.join("/") };
}

/** Looks in the tools that are shown now: extensions can add some at any time. */
const createFindTool =
  (session: AgentSession): UpdatesParts["findTool"] =>
  (name) => {
    const tool =
      session.tools.find((each) => each.name === name) ?? session.knownTools.find((each) => each.name === name);
    if (!tool) return undefined;
    const {
      label,
      shows,
      readOnly = false,
    } = tool as typeof tool & Partial<NonNullable<ReturnType<UpdatesParts["findTool"]>>>;
    return { label, readOnly, ...(shows && { shows }) };
  };
