import type { GatewayScope } from "@tau/protocol/gateway";
import type { EncodedFrame } from "./encoded-frame.ts";

/** How much may wait for a client that reads slowly. */
export const maxBufferedBytes = 1024 * 1024;

/** Whether a client answers questions of the policy, and dialogs of extensions. */
export interface ClientAbilities {
  readonly approvals: boolean;
  readonly ui: boolean;
}

/** A client that has shown who it is. It may be a WebSocket or, for one request, HTTP. */
export interface Client {
  readonly connectionId: string;
  readonly deviceId: string;
  readonly scopes: ReadonlySet<GatewayScope>;
  readonly abilities: ClientAbilities;
  setAbilities(abilities: ClientAbilities): void;
  /** `canWait`: it may be written a moment later, together with others. */
  send(frame: EncodedFrame, canWait?: boolean): void;
  /** How much was sent and is still waiting here, because the client reads slowly. */
  readonly bufferedBytes: number;
  /** Codes are those of WebSocket. */
  close(code: number, reason: string): void;
  /** Called once when it is gone; a moment later where it is gone already. Returns how to stop. */
  onClosed(listener: () => void): () => void;
}

/** For `onClosed` of a client that is gone already. */
export function callSoon(listener: () => void): () => void {
  let isStopped = false;
  queueMicrotask(() => isStopped || listener());
  return () => void (isStopped = true);
}
