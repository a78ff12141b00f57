import { reduce, type View } from "@tau/protocol";
import { expect, onTestFinished, test } from "vitest";
import type { Host } from "../../src/host/host.ts";
import type { Cursor } from "../../src/host/hosted-session.ts";
import { openContractHost } from "../../src/testing/contract-host.ts";
import { type ContractSurface, surfaceContract } from "../../src/testing/surface-contract.ts";

/** A surface in the same process: it reduces what it is told, as the terminal and the page do. */
function createSurface(host: Host, sessionId: string, throughJson: boolean): ContractSurface {
  let view: View | undefined;
  let cursor: Cursor = { epoch: "", seq: 0 };
  let stop = () => {};
  const cross = <T>(value: T): T => (throughJson ? (JSON.parse(JSON.stringify(value)) as T) : value);
  const connect = (from?: Cursor) => {
    stop = host.subscribe(
      sessionId,
      (item) => {
        const { seq, epoch } = item.position;
        if (item.kind === "event") expect(seq).toBe(cursor.seq + 1);
        cursor = { seq, epoch };
        view = item.kind === "snapshot" ? cross(item.view) : reduce(view!, cross(item.event));
      },
      from,
    );
  };
  connect();
  return {
    execute: (command) => host.execute(sessionId, command),
    view: () => view!,
    cursor: () => cursor,
    disconnect: () => stop(),
    reconnect: (from) => connect(from),
    close: () => stop(),
  };
}

test.each([
  ["in the same process", false],
  ["behind a wire of JSON", true],
])("a surface %s ends each step with the view of the host", async (_name, throughJson) => {
  const { host, sessionId, script, release, close } = await openContractHost();
  onTestFinished(close);
  const connect = (to: Host, id: string) => createSurface(to, id, throughJson);
  const { steps, questions } = await surfaceContract(
    { host, sessionId, connect, script, settle: async () => {} },
    release,
  );
  expect(steps.map(({ name }) => name)).toEqual([
    "a prompt",
    "steering",
    "an approval",
    "a denial",
    "an abort",
    "a lost connection",
    "a branch",
    "a compaction",
    "navigation",
  ]);
  for (const step of steps) expect(step.surface, step.name).toEqual(JSON.parse(JSON.stringify(step.host)));
  expect(questions).toHaveLength(2);
});
