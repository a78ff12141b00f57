/** The parts of `node:http` that a handler uses. A page that imports this package has no types of Node. */

export interface NodeRequest {
  readonly method?: string | undefined;
  readonly headers: Readonly<Partial<Record<"authorization" | "origin" | "content-length", string | undefined>>>;
  readonly readableEnded: boolean;
  readonly destroyed: boolean;
  on(event: "data", listener: (chunk: Uint8Array) => void): unknown;
  once(event: "end" | "close", listener: () => void): unknown;
  pause(): { removeAllListeners(event: "data"): unknown };
}

export interface NodeResponse {
  readonly headersSent: boolean;
  readonly destroyed: boolean;
  writeHead(status: number, headers: Readonly<Record<string, string>>): unknown;
  flushHeaders(): void;
  write(text: string): boolean;
  end(text?: string): unknown;
  destroy(): unknown;
  on(event: "drain" | "close", listener: () => void): unknown;
  once(event: "close", listener: () => void): unknown;
  off(event: "drain" | "close", listener: () => void): unknown;
}
