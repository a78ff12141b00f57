/**
 * A Unix socket in the gateway's directory, for commands of the same account: who can open it could read the
 * account's token beside it too. One line of JSON asks, and one answers.
 */
import { chmod, unlink } from "node:fs/promises";
import { once } from "node:events";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { systemClock } from "@tau/ai";
import { getErrorMessage, isRecord, tryParseJson, untilTimeout } from "@tau/ai/internal";
import { systemCode, tolerate } from "@tau/tools/platform";
import { GatewayError, toFault } from "../errors.ts";

export interface ControlSocket {
  /** Also those that wait for the end. */
  close(): Promise<void>;
}

/** The kernel takes no longer ones; macOS takes the least. */
const maxPathBytes = 103;

/** `answer` throws what is refused. A socket that a process left behind is replaced: the caller holds the lease. */
export async function openControlSocket(
  path: string,
  answer: (request: Record<string, unknown>) => Promise<unknown>,
): Promise<ControlSocket> {
  if (Buffer.byteLength(path) > maxPathBytes) {
    const advice = "Set TAU_DIR to a directory with a shorter path.";
    throw new GatewayError("unavailable", `${path} is too long for the name of a socket. ${advice}`);
  }
  await tolerate(unlink(path), "ENOENT");
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    void serve(socket, answer);
  });
  server.listen(path);
  await once(server, "listening");
  await chmod(path, 0o600);
  return {
    async close() {
      const closed = once(server, "close");
      server.close();
      // Without waiting for the other ends.
      for (const socket of sockets) socket.destroySoon();
      await closed;
    },
  };
}

async function serve(socket: Socket, answer: (request: Record<string, unknown>) => Promise<unknown>): Promise<void> {
  const reply = (value: object) => void (socket.writable && socket.write(`${JSON.stringify(value)}\n`));
  try {
    for await (const line of createInterface({ input: socket })) {
      const request = tryParseJson(line);
      if (!isRecord(request)) return void socket.destroy();
      await answer(request).then(
        (data) => reply({ ok: true, data: data ?? null }),
        (error: unknown) => reply({ ok: false, error: { ...toFault(error), message: getErrorMessage(error) } }),
      );
    }
  } catch (error) {
    // The other end is gone.
    if (systemCode(error) === undefined) throw error;
  } finally {
    socket.destroy();
  }
}

export interface ControlAnswer {
  data: unknown;
  /** Resolves when the gateway has closed the connection: it has ended. */
  ended: Promise<void>;
  close(): void;
}

interface AskOptions {
  /** How long the gateway may take. Default 10 s. */
  maxMs?: number;
}

/** Asks a running gateway. Undefined if none listens. Throws what it refuses, and `unresponsive` where no answer comes. */
export async function askControl(
  path: string,
  request: Record<string, unknown>,
  { maxMs = 10_000 }: AskOptions = {},
): Promise<ControlAnswer | undefined> {
  const socket = createConnection(path);
  const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  try {
    await once(socket, "connect");
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "ECONNREFUSED"].includes(systemCode(error) ?? "")) return undefined;
    if (systemCode(error) !== "EACCES") throw error;
    throw new GatewayError("wrong_owner", `${path} belongs to another user, whose gateway is not yours to control.`);
  }
  socket.write(`${JSON.stringify(request)}\n`);
  const lines = createInterface({ input: socket });
  const first = new Promise<string>((resolve) => {
    lines.once("line", resolve);
    void ended.then(() => resolve(""));
  });
  const close = () => void socket.destroy();
  const outcome = await untilTimeout(first, maxMs, systemClock);
  if (outcome.kind === "timeout") {
    close();
    const message = `The gateway has not answered for ${Math.round(maxMs / 1_000)} s, although its process is there.`;
    throw new GatewayError("unresponsive", message);
  }
  const answer = tryParseJson(outcome.value);
  if (isRecord(answer) && answer["ok"] === true) return { data: answer["data"], ended, close };
  close();
  const fault = isRecord(answer) && isRecord(answer["error"]) ? answer["error"] : {};
  throw new GatewayError(
    String(fault["code"] ?? "unavailable"),
    String(fault["message"] ?? "The gateway ended meanwhile."),
  );
}
