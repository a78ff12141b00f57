/** Gateways of one cluster, each with a cable of its own to the server and a client. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel, type ScriptedModel, text } from "@tau/ai/testing";
import type { JoinCluster } from "@tau/gateway/port";
import type { EventFrame } from "@tau/protocol/gateway";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import {
  connectRaw,
  openTestGateway,
  type RawClient,
  type TestGateway,
  type TestGatewayOptions,
} from "@tau/gateway/testing";
import { type Cluster, joinCluster } from "../src/cluster.ts";
import { type NatsServers, startNats } from "./nats-servers.ts";
import { openProxy, type TcpProxy } from "./tcp-proxy.ts";

/** Less than what counts for users, and enough for a busy machine. */
export const quickTiming = { beatMs: 200, deadAfterMs: 1_000, holdMs: 3_000 };

export interface GatewayNode extends TestGateway {
  client: RawClient;
  cable: TcpProxy;
  cluster: Cluster;
}

export interface ClusterKit {
  readonly nats: NatsServers;
  /** The directory of the sessions. */
  readonly workspace: string;
  openGateway(name: string, model: string[] | ScriptedModel, more?: TestGatewayOptions): Promise<GatewayNode>;
  createSession(node: GatewayNode): Promise<string>;
}

/** Starts a server for all tests of a file. */
export function useCluster(): ClusterKit {
  let [nats, workspace]: [NatsServers | undefined, string] = [undefined, ""];
  beforeAll(async () => {
    nats = await startNats();
    workspace = await mkdtemp(join(tmpdir(), "tau-cluster-work-"));
  });
  afterAll(async () => {
    await nats?.close();
    if (workspace) await rm(workspace, { recursive: true, force: true });
  });
  return {
    get nats() {
      return nats!;
    },
    get workspace() {
      return workspace;
    },
    async openGateway(name, given, more = {}) {
      const model = Array.isArray(given) ? scriptedModel(given.map((answer) => [text(answer)])) : given;
      const cable = await openProxy(nats!.servers[0]!.port);
      const address = { url: `nats://127.0.0.1:${cable.port}?name=${name}`, timing: quickTiming };
      let cluster: Cluster | undefined;
      const joinNode: JoinCluster = async (own) => (cluster = await joinCluster({ ...own, ...address }));
      const options = { ...more.options, startDirectory: workspace, joinCluster: joinNode };
      const node = await openTestGateway({ model, ...more, options });
      const client = await connectRaw(node.gateway.url, { token: node.token });
      onTestFinished(async () => {
        client.close();
        cable.heal();
        await node.close();
        await cable.close();
      });
      return { ...node, client, cable, cluster: cluster! };
    },
    createSession: async ({ client }) =>
      (await client.must<{ sessionId: string }>("sessions.create", { cwd: workspace })).sessionId,
  };
}

export const getFrames = (client: RawClient, sessionId: string): EventFrame[] =>
  client.events().filter(({ payload }) => (payload as { sessionId?: string }).sessionId === sessionId);

export const countEpochs = (client: RawClient, sessionId: string): number =>
  new Set(getFrames(client, sessionId).flatMap((frame) => ("epoch" in frame ? [frame.epoch] : []))).size;

/** Each epoch begins with a snapshot, and has neither a gap nor an event twice. */
export function checkStream(frames: readonly EventFrame[]): void {
  let last: { epoch: string; seq: number } | undefined;
  for (const frame of frames) {
    if (!("seq" in frame)) continue;
    const { epoch, seq, event } = frame;
    if (event === "session.snapshot") last = { epoch: epoch!, seq };
    else {
      expect({ epoch, seq, event }).toEqual({ epoch: last?.epoch, seq: (last?.seq ?? 0) + 1, event });
      last = { epoch: epoch!, seq };
    }
  }
}

/** Joins the text that was streamed. */
export const getText = (frames: readonly EventFrame[]): string =>
  frames
    .filter(({ event }) => event === "session.message.delta")
    .map(({ payload }) => (payload as { delta?: string }).delta ?? "")
    .join("");
