/** HTTP as bytes: what is sent is exactly what a test says. */
import { createConnection, type Socket } from "node:net";
import { once } from "node:events";

export interface RawAnswer {
  status: number;
  headers: string;
  body: string;
}

export const portOf = (url: string): number => Number(new URL(url).port);

/** Sends the text, and resolves with the first answer. The connection is closed afterwards. */
export async function sendRaw(port: number, text: string): Promise<RawAnswer> {
  const socket = createConnection(port, "127.0.0.1");
  let received = "";
  socket.on("data", (chunk) => (received += chunk.toString("latin1")));
  // The server may close it before everything was sent.
  socket.on("error", () => {});
  socket.write(text);
  const answer = await new Promise<RawAnswer>((resolve) => {
    const look = (isOver: boolean) => {
      const parsed = parseAnswer(received, isOver);
      if (parsed) resolve(parsed);
    };
    socket.on("data", () => look(false));
    socket.on("close", () => look(true));
  });
  socket.destroy();
  return answer;
}

function parseAnswer(text: string, isOver: boolean): RawAnswer | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return isOver ? { status: 0, headers: "", body: text } : undefined;
  const headers = text.slice(0, end);
  const body = text.slice(end + 4);
  const length = Number(/content-length: (\d+)/i.exec(headers)?.[1] ?? 0);
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(headers)?.[1]);
  return status === 101 || body.length >= length || isOver ? { status, headers, body } : undefined;
}

export interface RequestLines {
  method?: string;
  path?: string;
  /** Names and values; a name may come twice. */
  headers: readonly (readonly [string, string])[];
  body?: string;
  version?: string;
}

export function formatRequest({
  method = "GET",
  path = "/",
  headers,
  body = "",
  version = "1.1",
}: RequestLines): string {
  const length: readonly (readonly [string, string])[] = method === "GET" ? [] : [["Content-Length", `${body.length}`]];
  const lines = [...headers, ...length].map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/${version}\r\n${lines.join("")}\r\n${body}`;
}

export const upgradeHeaders: readonly (readonly [string, string])[] = [
  ["Connection", "Upgrade"],
  ["Upgrade", "websocket"],
  ["Sec-WebSocket-Version", "13"],
  ["Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="],
];

/** An upgraded connection whose frames are written by hand. */
export async function openRawSocket(port: number): Promise<Socket> {
  const socket = createConnection(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(formatRequest({ headers: [["Host", `127.0.0.1:${port}`], ...upgradeHeaders] }));
  await once(socket, "data");
  return socket;
}
