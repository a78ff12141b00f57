import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { call, scriptedModel, text } from "@tau/ai/testing";
import { reduce, type View } from "@tau/protocol";
import { expect, onTestFinished, test } from "vitest";
import { createHost, type Host } from "../../src/host/host.ts";
import type { Cursor } from "../../src/host/hosted-session.ts";
import { SettingsManager } from "../../src/settings/settings-manager.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { type ContractStep, type ContractSurface, surfaceContract } from "../../src/testing/surface-contract.ts";

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

async function openHost() {
  const directory = mkdtempSync(join(tmpdir(), "tau-host-"));
  const outside = mkdtempSync(join(homedir(), ".tau-outside-"));
  onTestFinished(() => [directory, outside].forEach((path) => rmSync(path, { recursive: true, force: true })));
  writeFileSync(join(outside, "note.txt"), "outside");
  const model = scriptedModel([]);
  let release = () => {};
  const look = {
    name: "look",
    label: "look",
    description: "Looks around.",
    parameters: { type: "object", properties: {} },
    execute: async (_id: string, _params: unknown, signal?: AbortSignal) => {
      await new Promise<void>((resolve) => {
        release = resolve;
        signal?.addEventListener("abort", () => resolve(), { once: true });
      });
      return { content: [{ type: "text" as const, text: "A wall." }] };
    },
  };
  const host = createHost({
    agentDir: join(directory, "agent"),
    params: {
      cwd: directory,
      agentDir: join(directory, "agent"),
      model,
      customTools: [look],
      settingsManager: SettingsManager.inMemory({ compaction: { keepRecentTokens: 10 } }),
      ask: "surface",
    },
  });
  onTestFinished(() => host.dispose());
  const sessionId = await host.open(await SessionManager.create(directory, join(directory, "sessions")));
  const turns = { answer: (step: ContractStep) => [text((step as { text: string }).text)] };
  const script = (steps: readonly ContractStep[]) =>
    model.add(
      ...steps.map((step) => {
        if (step.kind === "look") return [call("look")];
        if (step.kind === "ask") return [call("read", { path: join(outside, "note.txt") })];
        return turns.answer(step);
      }),
    );
  return { host, sessionId, script, release: () => release() };
}

test.each([
  ["in the same process", false],
  ["behind a wire of JSON", true],
])("a surface %s ends each step with the view of the host", async (_name, throughJson) => {
  const { host, sessionId, script, release } = await openHost();
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
