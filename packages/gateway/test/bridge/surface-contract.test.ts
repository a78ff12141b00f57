import { type EventEnvelope, reduce, unwrapEvent, type View } from "@tau/protocol";
import type { EventFrame, SnapshotFrame } from "@tau/protocol/gateway";
import type { Cursor, Host } from "@tau/harness/host";
import { type ContractSurface, openContractHost, surfaceContract } from "@tau/harness/testing";
import { expect, onTestFinished, test } from "vitest";
import { connectRaw, openTestGateway, type RawClient } from "../../src/testing/index.ts";

test("a surface behind a socket ends each step with the view of the host", async () => {
  const contract = await openContractHost();
  onTestFinished(contract.close);
  const opened = await openTestGateway({ options: { openDirectory: async () => contract.host } });
  onTestFinished(opened.close);
  const { gateway, token, workspace } = opened;
  const connect = () => connectRaw(gateway.url, { token });
  // The gateway finds the sessions of a host when it opens the first one.
  await (await connect()).must("sessions.create", { cwd: workspace });
  const createSurface = async (_host: Host, sessionId: string): Promise<ContractSurface> => {
    let view: View | undefined;
    let cursor: Cursor = { epoch: "", seq: 0 };
    const take = (frame: EventFrame) => {
      if (frame.type !== "event" || !("seq" in frame)) return;
      cursor = { epoch: frame.epoch, seq: frame.seq };
      if (frame.event === "session.snapshot") ({ view } = (frame as SnapshotFrame).payload);
      else view = reduce(view!, unwrapEvent(frame as EventEnvelope)!);
    };
    let client: RawClient;
    const join = async (from?: Cursor) => {
      client = await connect();
      client.socket.on("message", (data: Buffer) => take(JSON.parse(data.toString()) as EventFrame));
      const resume = from && { epoch: from.epoch, lastSeq: from.seq };
      await client.must("sessions.subscribe", { sessionId, ...(resume && { resume }) });
    };
    await join();
    return {
      execute: ({ type, ...params }) => client.must(`session.${type}`, { sessionId, ...params }),
      view: () => view!,
      cursor: () => cursor,
      disconnect: () => client.socket.terminate(),
      reconnect: (from) => join(from),
      close: () => client.close(),
    };
  };
  const { host, sessionId, script, release } = contract;
  const settle = async (surface: ContractSurface) => {
    await expect.poll(() => surface.cursor().seq).toBe(host.get(sessionId).position.seq);
  };
  const { steps, questions } = await surfaceContract(
    { host, sessionId, connect: createSurface, script, settle },
    release,
  );
  expect(steps).toHaveLength(9);
  for (const step of steps) expect(step.surface, step.name).toEqual(JSON.parse(JSON.stringify(step.host)));
  expect(questions).toHaveLength(2);
});
