import type { Cursor, Host } from "@tau/harness/host";
import { type ContractSurface, openContractHost, surfaceContract } from "@tau/harness/testing";
import { VirtualTerminal } from "@tau/tui/testing";
import { expect, onTestFinished, test } from "vitest";
import { App } from "../../src/interactive/app.ts";
import { createKeybindings } from "../../src/interactive/keybindings.ts";
import type { Program } from "../../src/interactive/program.ts";
import { Themes } from "../../src/interactive/themes.ts";
import type { SessionClient } from "../../src/interactive/session-client.ts";

/** The script does not use it. */
const history: Program["history"] = { list: async () => [], append: async () => {}, settle: async () => {} };
const program = { home: undefined, version: "1.2.3", history } as unknown as Program;

/** The terminal over a connection that can be cut. */
async function connect(host: Host, sessionId: string): Promise<ContractSurface & { app: App }> {
  let cursor: Cursor = { epoch: "", seq: 0 };
  let subscribe = (_from?: Cursor) => {};
  let stop = () => {};
  const client: SessionClient = {
    sessionId,
    execute: (command) => host.execute(sessionId, command),
    subscribe: (onSnapshot, onEvent) => {
      subscribe = (from) => {
        stop = host.subscribe(
          sessionId,
          (item) => {
            cursor = { seq: item.position.seq, epoch: item.position.epoch };
            if (item.kind === "snapshot") onSnapshot(item.view);
            else onEvent(item.event);
          },
          from,
        );
      };
      subscribe();
      return () => stop();
    },
    to: () => client,
  };
  const app = new App({
    client,
    terminal: await VirtualTerminal.create(80, 24),
    themes: new Themes({ mode: "none", files: [] }),
    settings: host.get(sessionId).session.settings,
    keybindings: createKeybindings(),
    program,
    getBranch: async () => undefined,
    copy: () => {},
    now: () => performance.now(),
  });
  void app.run();
  return {
    app,
    execute: client.execute,
    view: () => app.view,
    cursor: () => cursor,
    disconnect: () => stop(),
    reconnect: (from) => subscribe(from),
    close: () => app.stop(),
  };
}

test("the terminal ends each step of the contract with the view of the host", async () => {
  const { host, sessionId, script, release, close } = await openContractHost();
  onTestFinished(close);
  const settle = async () => {};
  const { steps } = await surfaceContract({ host, sessionId, connect, script, settle }, release);
  expect(steps).toHaveLength(9);
  for (const step of steps) expect(step.surface, step.name).toEqual(step.host);
});
