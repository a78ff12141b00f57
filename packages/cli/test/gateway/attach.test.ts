import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createKeybindings } from "../../src/interactive/keybindings.ts";
import { App } from "../../src/interactive/app.ts";
import type { Program } from "../../src/interactive/program.ts";
import { Themes } from "../../src/interactive/themes.ts";
import { SettingsManager } from "@tau/config/settings";
import type { ClientSocket } from "@tau/protocol/client";
import { connectToGateway } from "@tau/protocol/node";
import { VirtualTerminal } from "@tau/tui/testing";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { createRemoteClient, waitUntilLoaded } from "../../src/gateway/remote-client.ts";
import { watchConnection } from "../../src/gateway/watch-connection.ts";
import { createWorkspace, run, textReply, toolReply } from "../kit.ts";
import { type GatewayWorkspace, openGateway } from "./kit.ts";

const history: Program["history"] = { list: async () => [], append: async () => {}, settle: async () => {} };
/** These tests use no more of it. */
const program = { home: undefined, version: "1.2.3", history } as unknown as Program;

async function attach({ agentDir, directory }: GatewayWorkspace) {
  const cable = new Cable();
  const createSocket = (url: string) => cable.plug(new WebSocket(url));
  const gateway = await connectToGateway({ agentDir, abilities: { approvals: true, ui: true }, createSocket });
  onTestFinished(() => gateway.close());
  const { sessionId } = await gateway.call("sessions.create", { cwd: directory });
  await waitUntilLoaded(gateway.session(sessionId));
  const terminal = await VirtualTerminal.create(80, 24);
  const app = new App({
    client: createRemoteClient(gateway, sessionId),
    terminal,
    themes: new Themes({ mode: "none", files: [] }),
    settings: SettingsManager.inMemory({}).get(),
    keybindings: createKeybindings(),
    program,
    getBranch: async () => undefined,
    copy: () => {},
    now: () => performance.now(),
  });
  const ended = app.run();
  onTestFinished(() => app.stop());
  const screen = async () => (await terminal.getViewport()).map((line) => line.trimEnd()).join("\n");
  const press = (key: string) => terminal.sendInput(key);
  const type = (text: string) => {
    for (const character of text) press(character);
  };
  // What is typed before the session is shown waits for it.
  await expect.poll(screen).toContain("Model: acme/small");
  return { gateway, sessionId, screen, type, press, app, ended, cable };
}

/** A connection that loses what a client sends over it after `pull`, without a notice before `cut`. */
class Cable {
  #isPulled = false;
  #last: string | undefined;
  #socket: WebSocket | undefined;

  plug(socket: WebSocket): ClientSocket {
    this.#isPulled = false;
    this.#socket = socket;
    const send = socket.send.bind(socket);
    const sendUnlessPulled = (text: string) => {
      if (!this.#isPulled) send(text);
      this.#isPulled ||= this.#last !== undefined && text.includes(this.#last);
    };
    return Object.assign(socket, { send: sendUnlessPulled }) as ClientSocket;
  }

  /** Pulls it when something with this text was sent. */
  pullAfter(text: string): void {
    this.#last = text;
  }

  pull(): void {
    this.#isPulled = true;
  }

  cut(): void {
    this.#socket?.terminate();
  }
}

test("what is typed is answered by the session of the gateway, and a question can be answered", async () => {
  const workspace = await openGateway([
    textReply("Hello from there."),
    toolReply("read", { path: "/etc/hostname" }),
    textReply("I have read it."),
  ]);
  const { screen, type } = await attach(workspace);
  type("Hello");
  type("\r");
  await expect.poll(screen).toContain("Hello from there.");
  type("Read it");
  type("\r");
  await expect.poll(screen).toContain("/etc/hostname");
  await expect.poll(screen).toContain("Allow this?");
  // A key that comes as soon as the question does not answer it: somebody may have been typing.
  const answer = async () => {
    if ((await screen()).includes("Allow this?")) type("\r");
    return await screen();
  };
  await expect.poll(answer).toContain("I have read it.");
});

test("while the gateway is away the terminal says so, and keeps what is typed and sent", async () => {
  const workspace = await openGateway([textReply("Hello.")]);
  const { gateway, type, screen } = await attach(workspace);
  const said: string[] = [];
  const stops = [watchConnection(gateway, (message) => said.push(message))];
  onTestFinished(() => stops.forEach((stop) => stop()));
  expect(said).toEqual([]);
  await workspace.stop();
  await expect.poll(() => said).toEqual([expect.stringContaining("was stopped")]);
  // One that begins to look now is told too.
  const late: string[] = [];
  stops.push(watchConnection(gateway, (message) => late.push(message)));
  expect(late).toEqual([expect.stringContaining("is lost")]);
  type("A thought");
  type("\r");
  await expect.poll(screen).toContain("There is no connection to the gateway now.");
  expect((await screen()).split("A thought").length - 1).toBe(1);
});

test("a message that is lost on its way is shown until it is said, once, and to those who leave", async () => {
  const workspace = await openGateway([textReply("Heard.")]);
  const { type, screen, cable, app, ended } = await attach(workspace);
  cable.pull();
  type("Lost on its way\r");
  await expect.poll(screen).toContain("being sent: Lost on its way");
  cable.cut();
  await expect.poll(screen).toContain("Heard.");
  await expect.poll(screen).not.toContain("being sent");
  expect((await screen()).split("Lost on its way").length - 1).toBe(1);
  expect(app.view.log.entries.filter((entry) => JSON.stringify(entry).includes("Lost on its way")).length).toBe(1);
  cable.pull();
  type("Lost again\r");
  await expect.poll(screen).toContain("being sent: Lost again");
  app.stop();
  expect(await ended).toMatchObject({ draft: "", late: ["Lost again"] });
});

test("leaving does not end the session", async () => {
  const workspace = await openGateway([textReply("Hello."), textReply("Again.")]);
  const { gateway, sessionId, type, screen, ended } = await attach(workspace);
  type("Hello");
  type("\r");
  await expect.poll(screen).toContain("Hello.");
  type("\x04");
  await ended;
  expect(await gateway.session(sessionId).call("execute", { prompt: "Are you there?" })).toMatchObject({
    answer: "Again.",
  });
});

/** `/ask` of an extension asks which, and shows what was chosen. */
async function openGatewayWithExtension() {
  const workspace = await openGateway([]);
  const directory = join(workspace.agentDir, "extensions");
  await mkdir(directory, { recursive: true });
  const source = `export default (tau) => tau.registerCommand("ask", { handler: async (_args, { ui }) => {
    ui.setStatus("mood", "curious");
    ui.setWidget("list", ["a line of the widget"]);
    ui.notify("You chose " + (await ui.select("Which one?", ["this", "that"])));
    ui.setStatus("mood", undefined);
  } });`;
  await writeFile(join(directory, "ask.ts"), source);
  return workspace;
}

test("a dialog of an extension in the gateway is shown and answered, and what it shows is shown", async () => {
  const { screen, type, press } = await attach(await openGatewayWithExtension());
  type("/ask");
  type("\r");
  await expect.poll(screen).toContain("Which one?");
  expect(await screen()).toContain("curious");
  expect(await screen()).toContain("a line of the widget");
  press("\x1b[B");
  type("\r");
  await expect.poll(screen).toContain("You chose that");
  expect((await screen()).split("You chose").length - 1).toBe(1);
  await expect.poll(screen).not.toContain("curious");
});

test("a dialog is closed when somebody else answers it, and stays open for others when the terminal is left", async () => {
  const workspace = await openGatewayWithExtension();
  const { sessionId, screen, type, app, ended } = await attach(workspace);
  const other = await connectToGateway({ agentDir: workspace.agentDir, abilities: { ui: true } });
  onTestFinished(() => other.close());
  const session = other.session(sessionId);
  const answer = async (value: string) => {
    await expect.poll(() => session.ui.dialogs.length).toBe(1);
    return await session.answerDialog(session.ui.dialogs[0]!.id, { value });
  };
  type("/ask");
  type("\r");
  await expect.poll(screen).toContain("Which one?");
  expect(await answer("this")).toBe(true);
  await expect.poll(screen).toContain("You chose this");
  expect(await screen()).not.toContain("Which one?");
  type("/ask");
  type("\r");
  await expect.poll(screen).toContain("Which one?");
  app.stop();
  await ended;
  expect(await answer("that")).toBe(true);
});

test("a session that is left for another one goes on", async () => {
  const workspace = await openGateway([{ kind: "raw", chunks: [], ending: "hang" }]);
  const { gateway, sessionId, app, type, screen } = await attach(workspace);
  type("Begin");
  type("\r");
  await expect.poll(() => app.view.live.run).toBeDefined();
  type("/new");
  type("\r");
  await expect.poll(() => app.sessionId).not.toBe(sessionId);
  await gateway.session(app.sessionId).call("get_state");
  expect(await screen()).not.toContain("was stopped");
  expect((await gateway.session(sessionId).call("get_state")).isStreaming).toBe(true);
  // Otherwise the gateway would wait for it before it stops.
  await gateway.session(sessionId).call("abort");
});

test("nothing of the session that was left is drawn until the other one is there", async () => {
  const workspace = await openGateway([textReply("An answer.")]);
  const { sessionId, app, type, screen, cable } = await attach(workspace);
  type("Begin\r");
  await expect.poll(screen).toContain("An answer.");
  cable.pullAfter("new_session");
  type("/new\r");
  await expect.poll(() => app.sessionId).not.toBe(sessionId);
  type("typed meanwhile");
  await expect.poll(screen).toContain("typed meanwhile");
  await expect.poll(screen).not.toMatch(/Begin|An answer/);
});

test("without a terminal it says what to do instead", async () => {
  const { code, err } = await run(await createWorkspace(), ["attach"]);
  expect({ code, err }).toMatchObject({ code: 2, err: expect.stringContaining("tau -p --gateway") });
});
