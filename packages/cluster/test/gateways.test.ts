/** Gateways of one cluster, with clients on each of them. */
import { existsSync } from "node:fs";
import { headers, type Msg } from "@nats-io/transport-node";
import { call, scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { connectRaw, type TestGatewayOptions } from "@tau/gateway/testing";
import { checkStream, countEpochs, type GatewayNode, getFrames, getText, useCluster } from "./kit.ts";
import { hasNats } from "./nats-servers.ts";

const isLong = process.env["TAU_LONG"] === "1";

/** The next time that a session is opened, that waits for `goOn`. */
function delayOpening({ gateway }: GatewayNode, sessionId: string) {
  const { sessions } = gateway.parts;
  const open = sessions.open.bind(sessions);
  let [tell, goOn] = [() => {}, () => {}];
  const asked = new Promise<void>((resolve) => (tell = resolve));
  const waiting = new Promise<void>((resolve) => (goOn = resolve));
  sessions.open = async (id) => {
    if (id !== sessionId) return await open(id);
    sessions.open = open;
    tell();
    await waiting;
    return await open(id);
  };
  return { asked, goOn };
}

describe.skipIf(!hasNats)("gateways of a cluster", () => {
  const { openGateway, createSession } = useCluster();

  test("a client of any node gets the same frames, and its prompts are run where the session is", async () => {
    const [a, b] = await Promise.all([openGateway("a1", ["First.", "Second."]), openGateway("b1", [])]);
    const sessionId = await createSession(a);
    await a.client.must("sessions.subscribe", { sessionId });
    await b.client.must("sessions.subscribe", { sessionId });
    await a.client.must("session.execute", { sessionId, prompt: "Say the first." });
    await b.client.must("session.execute", { sessionId, prompt: "Say the second." });
    await expect.poll(() => getFrames(b.client, sessionId).length).toBe(getFrames(a.client, sessionId).length);
    expect(getText(getFrames(b.client, sessionId))).toBe("First.Second.");
    const [response, first] = b.client.frames.slice(-getFrames(b.client, sessionId).length - 2);
    expect([response?.type, first && "event" in first && first.event]).toEqual(["res", "session.snapshot"]);
    checkStream(getFrames(a.client, sessionId));
    checkStream(getFrames(b.client, sessionId));
    expect(b.gateway.parts.sessions.list()).toEqual([]);
    expect(await b.client.call("session.get_state", { sessionId: "nobody" })).toMatchObject({
      error: { code: "not_found" },
    });
  });

  test("a client that leaves while it is subscribed at another node is not followed there", async () => {
    const [a, b] = await Promise.all([openGateway("a8", []), openGateway("b8", [])]);
    const sessionId = await createSession(a);
    const { asked, goOn } = delayOpening(a, sessionId);
    b.client.call("sessions.subscribe", { sessionId }).catch(() => undefined);
    await asked;
    b.client.socket.terminate();
    await expect.poll(() => b.gateway.parts.connections.count).toBe(0);
    goOn();
    // What b's node says of its next client comes after what it has said of the first.
    const next = await connectRaw(b.gateway.url, { token: b.token });
    await next.must("session.get_state", { sessionId });
    next.close();
    await expect.poll(() => a.gateway.parts.subscriptions.count(sessionId)).toBe(0);
  });

  test("the frames of a session follow the response that announces them, also if several are subscribed to at once", async () => {
    const [a, b] = await Promise.all([openGateway("a10", []), openGateway("b10", [])]);
    const [first, second] = [await createSession(a), await createSession(a)];
    const { asked, goOn } = delayOpening(a, second);
    const late = b.client.call("sessions.subscribe", { sessionId: second });
    await asked;
    await b.client.must("sessions.subscribe", { sessionId: first });
    const { subscriptions } = a.gateway.parts;
    await expect.poll(() => getFrames(b.client, first).length).toBe(1);
    await expect.poll(() => subscriptions.listClients(first)[0]?.bufferedBytes).toBe(0);
    // The response and the snapshot arrive in one piece.
    const deliver = b.cable.collect();
    goOn();
    await expect.poll(() => subscriptions.listClients(second)[0]?.bufferedBytes).toBeGreaterThan(0);
    await a.cluster.node.bus.nats.flush();
    deliver();
    const response = await late;
    await expect.poll(() => getFrames(b.client, second).length).toBe(1);
    const [snapshot] = getFrames(b.client, second);
    expect(b.client.frames.indexOf(snapshot!)).toBeGreaterThan(b.client.frames.indexOf(response));
  });

  test("when its node is stopped or cut off, a session goes on elsewhere and every client keeps its stream", async () => {
    const nodes = await Promise.all([
      openGateway("a2", ["From a."]),
      openGateway("b2", ["From b."]),
      openGateway("c2", ["From c."]),
    ]);
    const [a, b, c] = nodes as [GatewayNode, GatewayNode, GatewayNode];
    const sessionId = await createSession(a);
    for (const { client } of nodes) await client.must("sessions.subscribe", { sessionId });
    await c.client.must("session.execute", { sessionId, prompt: "Say where." });
    // Nobody can reach it any more, and it does not know that.
    a.cable.cut();
    const isOn = (node: GatewayNode) => node.gateway.parts.sessions.find(sessionId) !== undefined;
    await expect.poll(() => isOn(b) || isOn(c)).toBe(true);
    await expect.poll(() => countEpochs(b.client, sessionId)).toBe(2);
    await expect.poll(() => countEpochs(c.client, sessionId)).toBe(2);
    await b.client.must("session.execute", { sessionId, prompt: "And now?" });
    a.cable.heal();
    // Its own client goes on too, with what has happened meanwhile.
    await expect.poll(() => countEpochs(a.client, sessionId)).toBe(2);
    expect(isOn(a)).toBe(false);
    const answer = isOn(b) ? "From b." : "From c.";
    for (const { client } of nodes) {
      await expect.poll(() => JSON.stringify(getFrames(client, sessionId))).toContain(answer);
      checkStream(getFrames(client, sessionId));
    }
    const entries = await a.client.must<{ entries: { type: string }[] }>("session.get_entries", { sessionId });
    const said = JSON.stringify(entries);
    expect(said.split("From a.").length).toBe(2);
    expect(said.split(answer).length).toBe(2);
  });

  // Reading is tried for 20 seconds.
  test.runIf(isLong)(
    "when no server answers for half a minute, clients go on by themselves with what they follow",
    async () => {
      const [a, b] = await Promise.all([openGateway("a9", ["Said."]), openGateway("b9", ["Said."])]);
      const [kept, left] = [await createSession(a), await createSession(a)];
      for (const sessionId of [kept, left]) {
        for (const { client } of [a, b]) await client.must("sessions.subscribe", { sessionId });
      }
      await a.client.must("session.execute", { sessionId: kept, prompt: "Say it." });
      for (const { cable } of [a, b]) cable.cut();
      const hasLost = ({ logged }: GatewayNode) => logged.some((line) => line.includes("has lost its sessions"));
      await expect.poll(() => hasLost(a) && hasLost(b)).toBe(true);
      for (const { client } of [a, b]) await client.must("sessions.unsubscribe", { sessionId: left });
      const counts = [a, b].map(({ client }) => getFrames(client, left).length);
      await new Promise((resolve) => setTimeout(resolve, 30_000));
      for (const { cable } of [a, b]) cable.heal();
      for (const { client } of [a, b]) {
        await expect.poll(() => countEpochs(client, kept)).toBe(2);
        checkStream(getFrames(client, kept));
        expect(getFrames(client, kept).some(({ event }) => event === "session.closed")).toBe(false);
        await client.must("session.get_state", { sessionId: left });
      }
      expect([a, b].map(({ client }) => getFrames(client, left).length)).toEqual(counts);
    },
  );

  test("a message that waits, the list of sessions and questions are there on every node, also when a node is lost", async () => {
    const waiting: ScriptedTurn = (_context, { signal }) =>
      new Promise((resolve) => signal!.addEventListener("abort", () => resolve([text("Late.")])));
    const a = await openGateway("a3", scriptedModel([waiting]));
    const b = await openGateway("b3", ["Said on b.", "More on b."]);
    const sessionId = await createSession(a);
    await b.client.must("sessions.subscribe", { sessionId });
    await b.client.must("session.prompt", { sessionId, message: "Work for long." });
    await expect.poll(() => a.model.asked.length).toBe(1);
    await b.client.must("session.follow_up", { sessionId, message: "Say this afterwards." });
    const listed = async ({ client }: GatewayNode) =>
      (await client.must<{ sessions: { id: string; status: string }[] }>("sessions.list")).sessions.find(
        ({ id }) => id === sessionId,
      )?.status;
    await expect.poll(() => listed(b)).toBe("running");
    expect(await b.client.must("inbox.list", { sessionId, state: "waiting" })).toMatchObject({
      messages: [{ text: "Say this afterwards." }],
    });
    expect(await b.client.must("approvals.list")).toEqual({ approvals: [] });
    a.cable.cut();
    await expect.poll(() => JSON.stringify(getFrames(b.client, sessionId))).toContain("Say this afterwards.");
    await expect.poll(() => b.model.asked.length).toBeGreaterThan(0);
    await expect.poll(async () => await b.client.must("inbox.list", { sessionId })).toEqual({ messages: [] });
    await expect.poll(() => listed(b)).toBe("idle");
    const entries = JSON.stringify(await b.client.must("session.get_entries", { sessionId }));
    expect(entries.split("Say this afterwards.").length).toBeLessThanOrEqual(3);
    a.cable.heal();
  });
  test("a node that loses its connection for a moment loses neither frames nor answers", async () => {
    let finish = () => {};
    const waiting: ScriptedTurn = () => new Promise((resolve) => (finish = () => resolve([text("Late.")])));
    const a = await openGateway("a4", scriptedModel([[text("Early.")], waiting]));
    const b = await openGateway("b4", []);
    const sessionId = await createSession(a);
    for (const { client } of [a, b]) await client.must("sessions.subscribe", { sessionId });
    await a.client.must("session.execute", { sessionId, prompt: "Say something." });
    const answer = b.client.must("session.execute", { sessionId, prompt: "Say more." });
    await expect.poll(() => a.model.asked.length).toBe(2);
    const { nodeId } = b.cluster;
    b.cable.cut();
    finish();
    await expect.poll(() => getText(getFrames(a.client, sessionId))).toBe("Early.Late.");
    b.cable.heal();
    expect(await answer).toMatchObject({ answer: "Late." });
    await expect.poll(() => getFrames(b.client, sessionId).length).toBe(getFrames(a.client, sessionId).length);
    checkStream(getFrames(b.client, sessionId));
    // Nobody took it for dead: these are the frames that were sent while it was away.
    expect([b.cluster.nodeId, countEpochs(b.client, sessionId)]).toEqual([nodeId, 1]);
  });

  test("a session takes any number of messages, and the records of those that were said are put together", async () => {
    const answers = Array.from({ length: 12 }, (_, index) => `Answer ${index}.`);
    const a = await openGateway("a5", answers);
    const sessionId = await createSession(a);
    for (const [index] of answers.entries()) {
      await a.client.must("session.prompt", { sessionId, message: `Message ${index}.` });
      await expect.poll(() => a.gateway.parts.sessions.find(sessionId)!.hosted.session.hasWork).toBe(false);
    }
    expect(await a.client.must("inbox.list", { sessionId })).toEqual({ messages: [] });
    const { bus } = a.cluster.node;
    const subject = `tau.inbox.${sessionId}`;
    await expect
      .poll(async () => {
        const { seq: to } = (await bus.readLast("tau-inbox", subject))!;
        let count = 0;
        for await (const _ of bus.readRange("tau-inbox", subject, { from: 1, to })) count++;
        return count;
      })
      .toBeLessThan(17);
  });

  test("questions and given-up messages are dealt with at any node, and a question expires with its node", async () => {
    const outside = "/outside.txt";
    const asks: ScriptedTurn = () => [call("write", { path: outside, content: "x" })];
    const more: TestGatewayOptions = {
      params: { ask: "surface" },
      settings: { gateway: { queue: { cap: 2, drop: "old" } } },
    };
    const a = await openGateway("a6", scriptedModel([asks, [text("Denied.")], asks]), more);
    const b = await openGateway("b6", ["Said on b.", "Said again.", "And again."], more);
    const sessionId = await createSession(a);
    await b.client.must("sessions.subscribe", { sessionId });
    const listQuestions = async () =>
      (await b.client.must<{ approvals: { approval: { id: string } }[] }>("approvals.list")).approvals;
    const listDead = async () =>
      (await b.client.must<{ messages: { id: string; text: string }[] }>("inbox.list", { state: "dead" })).messages;
    await b.client.must("session.prompt", { sessionId, message: "Write." });
    await expect.poll(async () => (await listQuestions()).length).toBe(1);
    const [question] = await listQuestions();
    await b.client.must("session.approve", { sessionId, approvalId: question!.approval.id, decision: "deny" });
    await expect.poll(() => a.gateway.parts.sessions.find(sessionId)!.hosted.session.hasWork).toBe(false);
    await b.client.must("session.prompt", { sessionId, message: "Write again." });
    await expect.poll(async () => (await listQuestions()).length).toBe(1);
    for (const message of ["Left out.", "Second.", "Third."]) {
      await b.client.must("session.follow_up", { sessionId, message });
    }
    expect(await listDead()).toMatchObject([{ text: "Left out." }]);
    a.cable.cut();
    await expect.poll(() => b.gateway.parts.sessions.find(sessionId)).toBeDefined();
    expect(await listQuestions()).toEqual([]);
    const [dead] = await listDead();
    // It would take the place of one that waits.
    await expect.poll(() => b.client.must("inbox.list", { sessionId, state: "waiting" })).toEqual({ messages: [] });
    await b.client.must("inbox.replay", { id: dead!.id });
    const getEntries = async () => JSON.stringify(await b.client.must("session.get_entries", { sessionId }));
    for (const said of ["Second.", "Third.", "Left out."]) await expect.poll(getEntries).toContain(said);
    expect(await listDead()).toEqual([]);
    expect(await getEntries()).toMatch(/"toolName":"write".*"toolName":"write"/);
    expect(existsSync(outside)).toBe(false);
    checkStream(getFrames(b.client, sessionId));
    a.cable.heal();
  });

  test("a dialog of an extension is answered at any node", async () => {
    const answers: unknown[] = [];
    const extension = (api: {
      registerCommand(name: string, command: { handler: (args: string, context: Context) => Promise<void> }): void;
    }) =>
      api.registerCommand("ask", {
        handler: async (question, { ui }) => void answers.push(await ui.confirm(question, "Really?")),
      });
    interface Context {
      ui: { confirm(title: string, message: string): Promise<boolean> };
    }
    const a = await openGateway("w", [], { params: { extensions: { factories: [extension] } } as never });
    const b = await openGateway("x", []);
    const sessionId = await createSession(a);
    const other = await connectRaw(b.gateway.url, { token: b.token, connect: { abilities: { ui: true } } });
    onTestFinished(() => other.close());
    await other.must("sessions.subscribe", { sessionId });
    void a.client.call("session.prompt", { sessionId, message: "/ask Sure?" }).catch(() => undefined);
    const listDialogs = () => other.events().filter(({ event }) => event === "session.dialog.requested");
    await expect.poll(() => listDialogs().length).toBe(1);
    const { id } = listDialogs()[0]!.payload as { id: string };
    const answer = { sessionId, id, answer: { confirmed: true } };
    expect(await other.must("dialogs.answer", answer)).toEqual({ accepted: true });
    await expect.poll(() => answers).toEqual([true]);
    expect(await other.must("dialogs.answer", answer)).toEqual({ accepted: false });
  });

  test("what another node says is checked, and who waits for an answer is told what is wrong", async () => {
    const never: ScriptedTurn = () => new Promise(() => {});
    const [a, b] = await Promise.all([openGateway("a7", []), openGateway("b7", scriptedModel([never]))]);
    const [{ node: own }, { node: other }] = [a.cluster, b.cluster];
    const { nats } = own.bus;
    const read = (message: Msg) =>
      JSON.parse(Buffer.from(message.headers?.get("Tau-Message") || "bnVsbA==", "base64").toString()) as unknown;
    const hear = (subject: string) => {
      const heard: unknown[] = [];
      const subscription = nats.subscribe(subject, {
        callback: (_error, message) => void (read(message) !== null && heard.push(read(message))),
      });
      onTestFinished(() => subscription.unsubscribe());
      return heard;
    };
    const createSpeaker = (nodeId: string) => {
      let count = 0;
      return (message: unknown, content = "{}") => {
        const sent = headers();
        sent.set("Tau-Node", nodeId);
        sent.set("Tau-Number", String(++count));
        sent.set("Tau-Message", Buffer.from(JSON.stringify(message)).toString("base64"));
        nats.publish(`tau.to.${own.membership.nodeId}.${nodeId.split(".")[0]}`, content, { headers: sent });
      };
    };
    for (const beat of ["not JSON", "null", '{"nodeId":7}']) nats.publish("tau.beat.z", beat);
    const isHeard = ({ logged }: GatewayNode) => logged.filter((line) => line.includes("tau.beat.z")).length === 3;
    await expect.poll(() => isHeard(a) && isHeard(b)).toBe(true);
    const answers = hear("tau.to.z.1.a7");
    const say = createSpeaker("z.1");
    const client = { connectionId: "1", deviceId: "d", scopes: ["read"], abilities: { approvals: false, ui: false } };
    const ask = { kind: "call", callId: "1", client, method: "health", requestId: "1" };
    const wrong: [message: unknown, problem: RegExp, content?: string][] = [
      [{ ...ask, client: { ...client, scopes: ["root"] } }, /scopes/],
      [{ ...ask, client: { ...client, abilities: undefined } }, /abilities/],
      [{ ...ask, priority: 1 }, /priority/],
      [{ ...ask, method: 7 }, /method/],
    ];
    for (const [message] of wrong) say(message);
    say(ask, "[1]");
    say(ask, "not JSON");
    const problems = [...wrong.map(([, problem]) => problem), /object/, /object/];
    const faults = problems.map((problem) => ({
      callId: "1",
      fault: { code: "invalid_parameters", message: expect.stringMatching(problem) },
    }));
    await expect.poll(() => answers).toMatchObject(faults);
    // Nobody waits for an answer to these.
    const lost = [null, "call", { kind: "later" }, { kind: "taken", connectionId: "1", bytes: "all" }];
    for (const message of lost) say(message);
    const countLogged = () => a.logged.filter((line) => line.includes("z.1")).length;
    await expect.poll(countLogged).toBe(lost.length);
    say(ask);
    await expect.poll(() => answers.at(-1)).toEqual({ kind: "answer", callId: "1" });

    const calls = hear(`tau.to.${other.membership.nodeId}.a7`) as { callId: string }[];
    const answer = createSpeaker(other.membership.nodeId);
    const sessionId = await createSession(b);
    const unreadable = [
      { message: { kind: "fault", fault: "none" }, problem: /"fault" has to be an object/ },
      { message: { kind: "answer" }, content: "not JSON", problem: /is not JSON/ },
    ];
    for (const { message, content, problem } of unreadable) {
      const count = calls.length;
      const waiting = a.client.call("session.execute", { sessionId, prompt: "Work." });
      await expect.poll(() => calls.length).toBe(count + 1);
      answer({ ...message, callId: calls[count]!.callId }, content);
      expect(await waiting).toMatchObject({
        error: { code: "unknown_outcome", message: expect.stringMatching(problem) },
      });
    }
    await b.client.must("session.abort", { sessionId });
    for (const { logged } of [a, b]) expect(logged.filter((line) => line.includes("was lost"))).toEqual([]);
  });
});
