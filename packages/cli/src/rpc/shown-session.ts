/** The session that an RPC client shows, which may become another one: its events and questions go out on the wire. */
import { getErrorMessage } from "@tau/ai";
import type { Host, HostedSession } from "@tau/harness/host";
import { PiEvents, type PiRecord } from "./pi-events.ts";
import type { Wire } from "./wire.ts";

export class ShownSession {
  readonly #host: Host;
  readonly #wire: Wire;
  #hosted: HostedSession;
  #pi: PiEvents;
  #stopListening: () => void;

  constructor(host: Host, sessionId: string, wire: Wire) {
    this.#host = host;
    this.#wire = wire;
    this.#hosted = host.get(sessionId);
    [this.#pi, this.#stopListening] = this.#listen(this.#hosted);
  }

  get id(): string {
    return this.#hosted.session.sessionId;
  }

  /** What the session had to tell before anyone listened. */
  tellNotices(): void {
    for (const { code, message } of this.#hosted.session.notices) this.tell(code, message);
  }

  tell(code: string, message: string): void {
    this.#wire.notify("event", { type: "notice", code, message });
    this.#wire.pi({ type: "notice", code, message });
  }

  /** The session takes prompts again: pi's clients hear of the end of the run only now. */
  settle(): void {
    this.#pi.settle();
  }

  /** Shows another session, which is open already, and closes this one once its clients have heard of its end. */
  async switchTo(sessionId: string): Promise<void> {
    if (sessionId === this.id) return;
    const before = this.id;
    try {
      await this.#host.close(before);
    } finally {
      this.#pi.settle();
      this.#stopListening();
      this.#hosted = this.#host.get(sessionId);
      [this.#pi, this.#stopListening] = this.#listen(this.#hosted);
      this.tellNotices();
    }
  }

  /** The client is gone. */
  async end(): Promise<void> {
    await this.#host.dispose("gateway_disconnected");
    this.#pi.settle();
    this.#stopListening();
  }

  #listen(hosted: HostedSession): [PiEvents, () => void] {
    const { session } = hosted;
    const wire = this.#wire;
    const send = (record: PiRecord) => {
      wire.pi(record);
      if (record.type === "agent_settled") wire.notify("settled", { aborted: record["aborted"] });
    };
    const pi = new PiEvents(send, session.thinkingLevel);
    const settle = () => {
      session.waitForIdle().then(
        () => pi.settle(),
        (error: unknown) => this.tell("run_failed", getErrorMessage(error)),
      );
    };
    const stopEngine = session.subscribe((event) => pi.take(event));
    const stopEvents = hosted.subscribe((item) => {
      if (item.kind !== "event") return;
      const { event } = item;
      wire.notify("event", event);
      pi.takeLifecycle(event);
      if (event.type === "approval_requested") wire.ask(event.approval);
      if (event.type === "agent_end") settle();
    });
    return [
      pi,
      () => {
        stopEngine();
        stopEvents();
      },
    ];
  }
}
