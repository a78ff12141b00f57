/** A session as print mode sees it: in this process, or in a gateway. */
import type { HostedSession } from "@tau/harness/host";
import type { ApprovalAnswer, SessionEvent, View } from "@tau/protocol";

export interface ShownSession {
  readonly view: View;
  /** Returns how to stop. */
  onEvent(listener: (event: SessionEvent) => void): () => void;
  /** Called after each event, and after a break in the connection to a gateway. Returns how to stop. */
  onChange(listener: (view: View) => void): () => void;
  approve(approvalId: string, answer: ApprovalAnswer): void;
  abort(): Promise<void>;
}

export const toShownSession = (hosted: HostedSession): ShownSession => ({
  get view() {
    return hosted.view;
  },
  onEvent: (listener) => hosted.subscribe((item) => void (item.kind === "event" && listener(item.event))),
  onChange: (listener) => hosted.subscribe(() => listener(hosted.view)),
  approve: (approvalId, answer) => void hosted.session.approve(approvalId, answer),
  abort: () => hosted.abort(),
});
