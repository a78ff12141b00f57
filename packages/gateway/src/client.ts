import type { EventFrame, GatewayScope, ResponseFrame } from "@tau/protocol/gateway";

/** Bytes of a frame. What many clients get is encoded once, and they share it. */
export type EncodedFrame = Buffer;

export const encodeFrame = (frame: EventFrame | ResponseFrame): EncodedFrame => Buffer.from(JSON.stringify(frame));

/** A client that has shown who it is. It may be a WebSocket or, for one request, HTTP. */
export interface Client {
  readonly connectionId: string;
  readonly deviceId: string;
  readonly scopes: ReadonlySet<GatewayScope>;
  /** Whether it answers questions of the policy, and dialogs of extensions. */
  readonly abilities: { readonly approvals: boolean; readonly ui: boolean };
  send(frame: EncodedFrame): void;
  /** How much was sent and is still waiting here, because the client reads slowly. */
  readonly bufferedBytes: number;
  /** Codes are those of WebSocket. */
  close(code: number, reason: string): void;
  /** Called once when it is gone. Returns how to stop. */
  onClosed(listener: () => void): () => void;
}
