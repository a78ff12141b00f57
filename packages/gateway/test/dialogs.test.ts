/** Dialogs, notes and widgets of extensions, through a real gateway. */
import { createFakeClock } from "@tau/ai/testing";
import { GatewayClient } from "@tau/protocol/client";
import { expect, onTestFinished, test } from "vitest";
import { disconnectMs } from "../src/sessions/open-session.ts";
import { connectRaw, openTestGateway, type RawClient } from "../src/testing/index.ts";

interface Api {
  registerCommand(name: string, command: { handler: (args: string, context: Context) => Promise<void> }): void;
}
interface Context {
  hasUI: boolean;
  ui: Record<string, (...args: unknown[]) => unknown>;
}

/** `/ask METHOD ARGUMENTS` calls a method of the interface, and keeps what it returned. */
async function open() {
  const answers: unknown[] = [];
  const extension = (api: Api) => {
    api.registerCommand("ask", {
      handler: async (args, { ui, hasUI }) => {
        const [method, ...rest] = JSON.parse(args) as [string, ...unknown[]];
        answers.push([await ui[method]!(...rest), hasUI]);
      },
    });
  };
  const params = { extensions: { factories: [extension] } } as never;
  const clock = createFakeClock(Date.now());
  const kit = await openTestGateway({ params, options: { clock } });
  onTestFinished(kit.close);
  const connect = (connectFields: object = { abilities: { ui: true } }) =>
    connectRaw(kit.gateway.url, { token: kit.token, connect: { ...connectFields } });
  const client = await connect();
  const { sessionId } = await client.must<{ sessionId: string }>("sessions.create", { cwd: kit.workspace });
  const follow = (other: RawClient) => other.must("sessions.subscribe", { sessionId });
  const ask = (...call: unknown[]) =>
    void client.call("session.prompt", { sessionId, message: `/ask ${JSON.stringify(call)}` }).catch(() => undefined);
  const answer = (other: RawClient, id: string, value: object) =>
    other.must<{ accepted: boolean }>("dialogs.answer", { sessionId, id, answer: value });
  return { ...kit, clock, client, connect, sessionId, follow, ask, answer, answers };
}

const listUi = (client: RawClient, event: string) =>
  client.events().flatMap((frame) => (frame.event === `session.dialog.${event}` ? [frame.payload as never] : []));
const findDialogs = (client: RawClient) => listUi(client, "requested") as { id: string; dialog: object }[];
const waitForDialog = async (client: RawClient, count = 1) => {
  await expect.poll(() => findDialogs(client).length).toBe(count);
  return findDialogs(client)[count - 1]!;
};

test("a dialog is answered by the first client that does, and the others are told that it is over", async () => {
  const { client, connect, follow, ask, answer, answers } = await open();
  const other = await connect();
  await follow(client);
  await follow(other);
  ask("select", "Which?", ["one", "two"]);
  const { id, dialog } = await waitForDialog(other);
  expect(dialog).toEqual({ method: "select", title: "Which?", options: ["one", "two"] });
  await expect(answer(other, id, { value: "three" })).rejects.toMatchObject({ code: "invalid_parameters" });
  await expect(answer(other, id, { confirmed: true })).rejects.toMatchObject({ code: "invalid_parameters" });
  await expect(answer(other, id, { value: "one", cancelled: true })).rejects.toMatchObject({
    code: "invalid_parameters",
  });
  expect(await answer(other, id, { value: "two" })).toEqual({ accepted: true });
  expect(await answer(client, id, { value: "one" })).toEqual({ accepted: false });
  await expect.poll(() => answers).toEqual([["two", true]]);
  for (const each of [client, other]) await expect.poll(() => listUi(each, "resolved")).toMatchObject([{ id }]);
});

test("every kind of dialog has its answer", async () => {
  const { client, follow, ask, answer, answers } = await open();
  await follow(client);
  const calls: [unknown[], object, unknown][] = [
    [["confirm", "Sure?", "Really?"], { confirmed: true }, true],
    [["confirm", "Sure?", "Really?"], { cancelled: true }, false],
    [["input", "Name", "Ann"], { value: "Bob" }, "Bob"],
    [["editor", "Text", "a\nb"], { value: "c\nd" }, "c\nd"],
    [["select", "Which?", ["one"]], { cancelled: true }, undefined],
  ];
  for (const [index, [call, given, expected]] of calls.entries()) {
    ask(...call);
    const { id } = await waitForDialog(client, index + 1);
    await answer(client, id, given);
    await expect.poll(() => answers.at(-1)).toEqual([expected, true]);
    await expect.poll(() => answers.length).toBe(index + 1);
  }
});

test.each([
  ["nobody follows the session", undefined],
  ["the client does not show dialogs", { abilities: { approvals: true } }],
  ["the client may not approve", { abilities: { ui: true }, scopes: ["read", "write"] }],
])("a dialog is answered with its default if %s", async (_name, connectFields) => {
  const { client, connect, follow, ask, answers } = await open();
  if (connectFields) await follow(await connect(connectFields));
  ask("confirm", "Sure?", "Really?");
  await expect.poll(() => answers).toEqual([[false, false]]);
  expect(findDialogs(client)).toEqual([]);
});

test("a client without the scope to approve sees what is shown, and no dialogs", async () => {
  const { client, connect, follow, ask, answer, answers, sessionId } = await open();
  const reader = await connect({ abilities: { ui: true }, scopes: ["read"] });
  await follow(client);
  await follow(reader);
  ask("setStatus", "build", "green");
  await expect.poll(() => listUi(reader, "note")).toMatchObject([{ note: { statusText: "green" } }]);
  ask("confirm", "Sure?", "Really?");
  const { id } = await waitForDialog(client);
  await expect(reader.must("dialogs.answer", { sessionId, id, answer: { confirmed: true } })).rejects.toMatchObject({
    code: "forbidden",
  });
  await answer(client, id, { confirmed: false });
  await expect.poll(() => answers.length).toBe(2);
  expect(findDialogs(reader)).toEqual([]);
});

test("whoever follows a session gets what is open and shown, and not what is over", async () => {
  const { client, connect, follow, ask, answer, answers, gateway, token, sessionId } = await open();
  await follow(client);
  ask("setStatus", "build", "red");
  ask("setStatus", "gone", "soon");
  ask("setWidget", "list", ["a", "b"]);
  ask("notify", "Once.");
  await expect.poll(() => answers.length).toBe(4);
  ask("setStatus", "build", "green");
  ask("setStatus", "gone");
  ask("input", "Name");
  const { id } = await waitForDialog(client);
  await expect.poll(() => answers.length).toBe(6);
  const late = await connect();
  await follow(late);
  await waitForDialog(late);
  await expect
    .poll(() => listUi(late, "note"))
    .toMatchObject([
      { note: { method: "setStatus", statusText: "green" } },
      { note: { method: "setWidget", widgetLines: ["a", "b"] } },
    ]);
  const library = new GatewayClient({ url: gateway.url, deviceId: "local", key: token, abilities: { ui: true } });
  onTestFinished(() => library.close());
  await library.connect();
  const remote = library.session(sessionId);
  await expect
    .poll(() => remote.ui)
    .toEqual({
      dialogs: [{ id, dialog: { method: "input", title: "Name" } }],
      statuses: [{ key: "build", text: "green" }],
      widgets: [{ key: "list", lines: ["a", "b"], placement: "aboveEditor" }],
      title: undefined,
    });
  expect(await remote.answerDialog(id, { value: "Ann" })).toBe(true);
  await expect.poll(() => remote.ui.dialogs).toEqual([]);
  expect(await answer(client, id, { value: "Bob" })).toEqual({ accepted: false });
  await expect.poll(() => answers.at(-1)).toEqual(["Ann", true]);
});

test("a dialog waits for a client to come back, and is cancelled when none does", async () => {
  const { client, connect, follow, ask, answer, answers, clock } = await open();
  const first = await connect();
  await follow(first);
  ask("confirm", "Sure?", "Really?");
  const { id } = await waitForDialog(first);
  first.close();
  await first.closed;
  const second = await connect();
  await follow(second);
  expect((await waitForDialog(second)).id).toBe(id);
  await clock.advance(2 * disconnectMs);
  await answer(second, id, { confirmed: true });
  await expect.poll(() => answers).toEqual([[true, true]]);
  ask("confirm", "Again?", "Really?");
  await waitForDialog(second, 2);
  await second.must("sessions.unsubscribe", {
    sessionId: (await client.must<{ sessions: { id: string }[] }>("sessions.list")).sessions[0]!.id,
  });
  await clock.advance(disconnectMs);
  await expect.poll(() => answers.length).toBe(2);
  expect(answers[1]).toEqual([false, expect.any(Boolean)]);
});

test("what a client says of itself counts in every session that it follows, and for dialogs that are open", async () => {
  const { client, follow, ask, answer, answers, sessionId, workspace, clock } = await open();
  const other = await client.must<{ sessionId: string }>("sessions.create", { cwd: workspace });
  await client.must("sessions.subscribe", { sessionId: other.sessionId });
  await follow(client);
  ask("confirm", "Sure?", "Really?");
  await waitForDialog(client);
  // Said in another session: nobody answers here any more, as if the client had left.
  await client.must("session.initialize", { sessionId: other.sessionId, ui: false });
  await clock.advance(disconnectMs);
  await expect.poll(() => answers).toEqual([[false, true]]);

  await client.must("session.initialize", { sessionId: other.sessionId, ui: true });
  ask("confirm", "Sure?", "Really?");
  const { id } = await waitForDialog(client, 2);
  await client.must("session.initialize", { sessionId, ui: false });
  await client.must("session.initialize", { sessionId, ui: true });
  expect(await waitForDialog(client, 3)).toMatchObject({ id });
  await answer(client, id, { confirmed: true });
  await expect.poll(() => answers.at(-1)).toEqual([true, true]);
});

test("an option with a key of the session is shown without it, and can be chosen", async () => {
  const { client, follow, ask, answer, answers, gateway, sessionId } = await open();
  const key = "sk-secret-0123456789abcdef";
  const { session } = gateway.parts.sessions.find(sessionId)!.hosted;
  session.authStorage.setRuntimeApiKey("scripted", key);
  await follow(client);
  ask("select", "Which?", ["none", `use ${key}`]);
  const { id, dialog } = await waitForDialog(client);
  const { options } = dialog as { options: string[] };
  expect(options[1]).not.toContain(key);
  await answer(client, id, { value: options[1] });
  await expect.poll(() => answers).toEqual([[`use ${key}`, true]]);
});

test("a dialog ends when its time is up, and when its session is closed", async () => {
  const { client, follow, ask, answers, clock, sessionId } = await open();
  await follow(client);
  ask("input", "Name", "Ann", { timeout: 5_000 });
  expect((await waitForDialog(client)).dialog).toMatchObject({ timeout: 5_000 });
  await clock.advance(5_000);
  await expect.poll(() => answers.length).toBe(1);
  ask("input", "Name");
  await waitForDialog(client, 2);
  await client.must("sessions.close", { sessionId });
  await expect.poll(() => answers.length).toBe(2);
});
