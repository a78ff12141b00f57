/** A gateway of this process, as `tau gateway` starts it. */
import { onTestFinished } from "vitest";
import { main } from "../../src/start/main.ts";
import { createIo, createModelWorkspace, type ModelWorkspace, type Workspace } from "../kit.ts";
import type { WireReply } from "@tau/ai/testing";

export interface GatewayWorkspace extends ModelWorkspace {
  /** Stops it, as Ctrl-C does. */
  stop: () => Promise<void>;
}

export async function openGateway(replies: readonly WireReply[]): Promise<GatewayWorkspace> {
  const workspace = await createModelWorkspace(replies);
  return { ...workspace, stop: await startGateway(workspace) };
}

/** Returns how to stop it, as Ctrl-C does. */
export async function startGateway(workspace: Workspace): Promise<() => Promise<void>> {
  const controller = new AbortController();
  let onErr = (_err: string) => {};
  const listening = new Promise<void>((resolve) => {
    onErr = (err) => void (err.includes("Listening on") && resolve());
  });
  const { io, written } = createIo(workspace, { signal: controller.signal, onErr: (err) => onErr(err) });
  const ended = main(["gateway", "--port", "0"], io);
  const stop = async () => {
    controller.abort("SIGINT");
    await ended;
  };
  onTestFinished(stop);
  const failed = ended.then(() => Promise.reject(new Error(`The gateway ended: ${written.err}`)));
  await Promise.race([listening, failed]);
  failed.catch(() => {});
  return stop;
}
