/** The one gateway of an account: it can be found and controlled by the account's other programs, and stops in order. */
import { unlink } from "node:fs/promises";
import { systemIds } from "@tau/ai";
import { writeWhole } from "@tau/tools/durable";
import type { RequestFrame } from "@tau/protocol/gateway";
import type { GatewayFiles } from "@tau/protocol/node";
import { acquireLease, nodeFileSystem, tolerate } from "@tau/tools/platform";
import { GatewayError } from "../errors.ts";
import { type Gateway, type GatewayOptions, startGateway } from "../gateway.ts";
import { callMethod } from "../methods/index.ts";
import { createOwnClient } from "../own-client.ts";
import { type ControlSocket, openControlSocket } from "./control-socket.ts";
import type { DrainOptions } from "./drain.ts";
import { openGatewayDirectory } from "./gateway-directory.ts";
import { openLogFile } from "./log-file.ts";

export type ServeOptions = Omit<GatewayOptions, "log"> & {
  /** Called when another program of the account asks to stop. */
  onStop: () => void;
};

export interface ServedGateway {
  readonly gateway: Gateway;
  /** Lets what runs come to its end, as long as that may take, and ends the rest. Nothing is left behind. */
  stop(options?: DrainOptions): Promise<void>;
}

/** The answer of `status`. */
export interface GatewayStatus {
  pid: number;
  url: string;
  version: string;
  uptimeMs: number;
  connections: number;
  openSessions: number;
  runningSessions: number;
}

/** Throws `already_running`, `wrong_owner` and what `startGateway` throws, with a sentence for people. */
export async function serveGateway({ onStop, ...options }: ServeOptions): Promise<ServedGateway> {
  const files = await openGatewayDirectory(options.agentDir);
  const outcome = await acquireLease(files.lease);
  if (outcome.kind === "busy") {
    const { holder, advice } = outcome;
    const message = advice ?? "`tau gateway status` says more, and `tau gateway stop` ends it.";
    throw new GatewayError("already_running", `A gateway of yours runs already, as process ${holder.pid}. ${message}`);
  }
  const { lease } = outcome;
  let gateway: Gateway | undefined;
  let control: ControlSocket | undefined;
  const log = openLogFile({ path: files.log, secrets: () => gateway?.parts.devices.listSeenTokens() ?? [] });
  const end = async () => {
    await gateway?.stop();
    await lease.release();
    await log.close();
    // The last: by this, whoever has asked the gateway to stop knows that it has.
    await control?.close();
  };
  try {
    const onCertificate = async () => gateway && (await writeAddress(files, gateway));
    gateway = await startGateway({ ...options, log: log.write, onCertificate });
    const { url, parts } = gateway;
    const started = gateway;
    control = await openControlSocket(files.control, async (request) => {
      switch (request["command"]) {
        case "status":
          return getStatus(started);
        case "stop":
          return onStop();
        case "call":
          return await callOwn(started, request);
        default:
          throw new GatewayError("unknown_method", "The gateway does not know this command.");
      }
    });
    await writeAddress(files, started);
    parts.log(`The gateway ${parts.version} listens on ${url}, as process ${process.pid}.`);
    return {
      gateway,
      async stop(drain = {}) {
        const running = await started.drain(drain);
        parts.log(
          running === 0
            ? "The gateway stops."
            : `The gateway stops, and ends ${running === 1 ? "a run" : `${running} runs`}.`,
        );
        await tolerate(unlink(files.address), "ENOENT");
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Where programs of the account find the gateway, and what they know it by. */
async function writeAddress({ address }: GatewayFiles, { url, fingerprint }: Gateway): Promise<void> {
  const bytes = Buffer.from(`${JSON.stringify({ url, pid: process.pid, fingerprint })}\n`);
  await writeWhole(nodeFileSystem, { path: address, bytes, ids: systemIds, syncs: false });
}

function getStatus({ url, parts }: Gateway): GatewayStatus {
  const sessions = parts.sessions.list();
  return {
    pid: process.pid,
    url,
    version: parts.version,
    uptimeMs: parts.clock.now() - parts.startedAt,
    connections: parts.connections.count,
    openSessions: sessions.length,
    runningSessions: sessions.filter(({ status }) => status === "running").length,
  };
}

/** A method, as if the account's own device called it. */
async function callOwn({ parts }: Gateway, { method, params }: Record<string, unknown>): Promise<unknown> {
  const frame = { type: "req", id: "control", method: String(method), params: params ?? {} } as RequestFrame;
  return await callMethod({ client: createOwnClient("control"), requestId: frame.id, parts }, frame);
}
