import { getErrorMessage } from "@tau/ai/internal";
import type { AgentSession } from "@tau/harness";
import { type Host, type HostedSession, createSessionFrameRedactor } from "@tau/harness/host";
import type { ApprovalAnswer } from "@tau/protocol";
import { leaveSession } from "../hosting/leave-session.ts";
import { receiveMessages } from "../hosting/receive-messages.ts";
import type { RpcUi } from "./extension-ui.ts";
import { questionRecord } from "./framing.ts";
import { OpenQuestions } from "./open-questions.ts";
import { type FollowedPiEvents, followPiEvents, type PiRecord } from "./pi-events.ts";
import type { Wire } from "./wire.ts";

interface CurrentSessionParts {
  host: Host;
  sessionId: string;
  wire: Wire;
  /** Ends the program, because an extension wants that. */
  stop: () => void;
}

/** The session of an RPC client, which can be switched. Its events and questions are written to the wire. */
export class CurrentSession {
  readonly #host: Host;
  readonly #wire: Wire;
  readonly #stop: () => void;
  /** The questions that wait for an answer of the client. */
  readonly questions = new OpenQuestions();
  /** For the first session that has extensions. */
  #opening: Promise<RpcUi> | undefined;
  #ui: RpcUi | undefined;
  /** The session whose extensions have the interface of this client. */
  #attached: AgentSession | undefined;
  /** Settles when they have it. */
  #attaching: Promise<void> | undefined;
  /** Settles when they have started. */
  #starting: Promise<unknown> | undefined;
  #hosted: HostedSession;
  #piEvents: FollowedPiEvents;
  #unsubscribe: () => void;
  #stopReceiving: (() => void) | undefined;

  constructor({ host, sessionId, wire, stop }: CurrentSessionParts) {
    this.#host = host;
    this.#wire = wire;
    this.#stop = stop;
    this.#hosted = host.get(sessionId);
    [this.#piEvents, this.#unsubscribe] = this.#subscribe(this.#hosted);
  }

  get id(): string {
    return this.#hosted.session.sessionId;
  }

  /** The interface of the extensions; undefined without any. */
  get ui(): RpcUi | undefined {
    return this.#ui;
  }

  /**
   * Resolves when a command may run, so that extensions ask this client and nobody else. Undefined if there is nothing to
   * wait for.
   */
  get attaching(): Promise<void> | undefined {
    return this.#attaching;
  }

  /** Resolves when the extensions have started, which may take as long as the client does not answer them. */
  get starting(): Promise<unknown> | undefined {
    return this.#starting;
  }

  /** The client is listening from now on. */
  begin(): void {
    this.sendNotices();
    this.attach();
    this.#receive();
  }

  #receive(): void {
    this.#stopReceiving = receiveMessages(this.#hosted, this.#host.agentDir);
  }

  /** Answers a question. One that is no longer open, such as while the session is being left, is ignored. */
  approve(approvalId: string, answer: ApprovalAnswer): void {
    this.#hosted.session.approve(approvalId, answer);
  }

  /** Lends the client's interface to the extensions of the session, once there are any. */
  attach(): void {
    const { session } = this.#hosted;
    if (!session.extensions || this.#attached === session) return;
    this.#attached = session;
    this.#opening ??= openUi(this.#wire, this.questions, this.#host);
    this.#attaching = this.#attach(session, this.#opening);
  }

  async #attach(session: AgentSession, opening: Promise<RpcUi>): Promise<void> {
    this.#ui = await opening;
    const surface = {
      mode: "rpc",
      ui: this.#ui.ui,
      show: async (sessionId: string) => {
        await this.switchTo(sessionId);
        await this.#attaching;
        await this.#starting;
      },
      reset: () => this.#ui?.reset(),
      shutdown: () => void session.waitForIdle().then(this.#stop, this.#stop),
    } as const;
    // Not awaited: extensions may ask something when they start, and the answer is a line that has to be read.
    this.#starting = session
      .attachSurface(surface)
      .catch((error: unknown) => this.#sendNotice("extension", getErrorMessage(error)));
    this.#attaching = undefined;
  }

  /** Sends the notices from before the client was listening. */
  sendNotices(): void {
    for (const { code, message } of this.#hosted.session.notices) this.#sendNotice(code, message);
  }

  #sendNotice(code: string, message: string): void {
    const notice = { type: "notice", code, message };
    this.#wire.notify("event", notice);
    this.#wire.sendPi(notice);
  }

  /** Sends the end of the run to clients of pi's framing, because the session accepts prompts again. */
  settle(): void {
    this.#piEvents.settle();
  }

  /** Closes this session and continues with another one, which is open already. */
  async switchTo(sessionId: string): Promise<void> {
    if (sessionId === this.id) return;
    this.#stopReceiving?.();
    try {
      await leaveSession(this.#host, this.id, this.#host.get(sessionId).session);
    } finally {
      this.#ui?.reset();
      this.settle();
      this.#unsubscribe();
      this.#hosted = this.#host.get(sessionId);
      [this.#piEvents, this.#unsubscribe] = this.#subscribe(this.#hosted);
      this.sendNotices();
      this.attach();
      this.#receive();
    }
  }

  /** Ends the run and closes all sessions, because the client has disconnected. */
  async end(): Promise<void> {
    this.#ui?.close();
    this.#stopReceiving?.();
    await this.#host.dispose("gateway_disconnected");
    this.settle();
    this.#unsubscribe();
  }

  #subscribe(hosted: HostedSession): [FollowedPiEvents, () => void] {
    const { session } = hosted;
    const wire = this.#wire;
    wire.redactor = createSessionFrameRedactor(session);
    const send = (record: PiRecord) => {
      wire.sendPi(record);
      if (record.type === "agent_settled") wire.notify("settled", { aborted: record["aborted"] });
    };
    const onFailed = (error: unknown) => this.#sendNotice("run_failed", getErrorMessage(error));
    const piEvents = followPiEvents(hosted, { send, onFailed });
    const unsubscribeSession = hosted.subscribe((item) => {
      if (item.kind !== "event") return;
      const { event } = item;
      wire.notify("event", event);
      if (event.type === "approval_requested") {
        wire.write(questionRecord(wire.framing ?? "pi", event.approval));
        this.questions.open(event.approval.id);
      }
      if (event.type === "approval_resolved") this.questions.close(event.approvalId);
    });
    const stopListening = session.onFirstExtension(async () => {
      this.attach();
      await this.#attaching;
    });
    const unsubscribe = () => {
      piEvents.stop();
      unsubscribeSession();
      stopListening();
    };
    return [piEvents, unsubscribe];
  }
}

/** Late, because most sessions have no extensions. */
async function openUi(wire: Wire, questions: OpenQuestions, { ids: createId }: Host): Promise<RpcUi> {
  const { createRpcUi } = await import("./extension-ui.ts");
  return createRpcUi(wire, questions, createId);
}
