import { getErrorMessage } from "@tau/ai/internal";
import type { Host, HostedSession } from "@tau/harness/host";
import { questionRecord } from "./framing.ts";
import { PiEvents, type PiRecord } from "./pi-events.ts";
import type { Wire } from "./wire.ts";

/** The session of an RPC client, which can be switched. Its events and questions are written to the wire. */
export class CurrentSession {
  readonly #host: Host;
  readonly #wire: Wire;
  #hosted: HostedSession;
  #piEvents: PiEvents;
  #unsubscribe: () => void;

  constructor(host: Host, sessionId: string, wire: Wire) {
    this.#host = host;
    this.#wire = wire;
    this.#hosted = host.get(sessionId);
    [this.#piEvents, this.#unsubscribe] = this.#subscribe(this.#hosted);
  }

  get id(): string {
    return this.#hosted.session.sessionId;
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
    try {
      await this.#host.close(this.id);
    } finally {
      this.settle();
      this.#unsubscribe();
      this.#hosted = this.#host.get(sessionId);
      [this.#piEvents, this.#unsubscribe] = this.#subscribe(this.#hosted);
      this.sendNotices();
    }
  }

  /** Ends the run and closes all sessions, because the client has disconnected. */
  async end(): Promise<void> {
    await this.#host.dispose("gateway_disconnected");
    this.settle();
    this.#unsubscribe();
  }

  #subscribe(hosted: HostedSession): [PiEvents, () => void] {
    const { session } = hosted;
    const wire = this.#wire;
    const send = (record: PiRecord) => {
      wire.sendPi(record);
      if (record.type === "agent_settled") wire.notify("settled", { aborted: record["aborted"] });
    };
    const piEvents = new PiEvents(send, session.thinkingLevel);
    const settleWhenIdle = () => {
      session.waitForIdle().then(
        () => piEvents.settle(),
        (error: unknown) => this.#sendNotice("run_failed", getErrorMessage(error)),
      );
    };
    const unsubscribeEngine = session.subscribe((event) => piEvents.handle(event));
    const unsubscribeSession = hosted.subscribe((item) => {
      if (item.kind !== "event") return;
      const { event } = item;
      wire.notify("event", event);
      piEvents.handleSessionEvent(event);
      if (event.type === "approval_requested") wire.write(questionRecord(wire.framing ?? "pi", event.approval));
      if (event.type === "agent_end") settleWhenIdle();
    });
    const unsubscribe = () => {
      unsubscribeEngine();
      unsubscribeSession();
    };
    return [piEvents, unsubscribe];
  }
}
