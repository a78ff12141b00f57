/** Conversations with the client of the official SDK, in this process. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { WireReply } from "@tau/ai/testing";
import { text, thinking } from "@tau/ai/testing";
import { describe, expect, test } from "vitest";
import { canary, startAuthorizationServer } from "../../config/test/auth/authorization-server.ts";
import { visit } from "../../config/test/auth/kit.ts";
import type { RequestPermissionRequest } from "./acp-sdk.ts";
import { connectClient, initialize, joinText, listUpdates, newSession, prompt } from "./acp-kit.ts";
import { writeExtension } from "./extension-kit.ts";
import { createModelWorkspace, createWorkspace, textReply, toolReply } from "./kit.ts";

const hang: WireReply = { kind: "raw", chunks: [], ending: "hang" };
const nothing = () => {};

/** A client that answers every permission request with an option of this kind. */
function answering(kind: string, asked: RequestPermissionRequest[] = []) {
  return (app: Parameters<Parameters<typeof connectClient>[1]>[0]) =>
    void app.onRequest("session/request_permission", ({ params }) => {
      asked.push(params);
      const option = params.options.find((each) => each.kind === kind)!;
      return { outcome: { outcome: "selected", optionId: option.optionId } };
    });
}

describe("initialize", () => {
  test("answers with our version whatever the client speaks, and with what we can do", async () => {
    const { agent } = connectClient(await createWorkspace(), nothing);
    const answer = await agent.request("initialize", { protocolVersion: 9 });
    expect(answer).toMatchObject({
      protocolVersion: 1,
      agentInfo: { name: "tau" },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {}, additionalDirectories: {} },
      },
    });
    expect(answer.authMethods?.map(({ id }) => id)).toContain("login:anthropic");
    expect(answer.authMethods?.some((method) => "type" in method)).toBe(false);
  });

  test("offers a login in a terminal to clients that can open one", async () => {
    const { agent } = connectClient(await createWorkspace(), nothing);
    const { authMethods } = await initialize(agent, { auth: { terminal: true } });
    expect(authMethods?.[0]).toMatchObject({ type: "terminal", args: ["login"] });
  });
});

describe("without a key", () => {
  test("a session needs authentication, and the message says what to do", async () => {
    const workspace = await createWorkspace();
    const { agent } = connectClient(workspace, nothing);
    await initialize(agent);
    await expect(newSession(agent, workspace)).rejects.toMatchObject({
      code: -32_000,
      message: expect.stringContaining("tau auth login"),
    });
  });

  test("a key that the provider refuses needs authentication too", async () => {
    const workspace = await createModelWorkspace([{ kind: "status", status: 401, body: "{}" }]);
    const { agent } = connectClient(workspace, nothing);
    await initialize(agent);
    const { sessionId } = await newSession(agent, workspace);
    await expect(prompt(agent, sessionId, "Hi")).rejects.toMatchObject({ code: -32_000 });
  });
});

describe("authenticate", () => {
  test("shows the address of a login in the editor, and stores the login", async () => {
    const workspace = await createWorkspace();
    const server = await startAuthorizationServer();
    const { agent, err } = connectClient(
      workspace,
      (app) =>
        app.onRequest("elicitation/create", async ({ params }) => {
          if (!("url" in params)) throw new Error("It has no address.");
          await visit(server.approve(params.url as string));
          return { action: "accept" };
        }),
      { oauthProviders: [server.provider()] },
    );
    const { authMethods } = await initialize(agent, { elicitation: { url: {} } });
    expect(authMethods).toContainEqual(expect.objectContaining({ id: "login:here", name: "Log in to Here" }));
    await agent.request("authenticate", { methodId: "login:here" });
    expect(await readFile(join(workspace.agentDir, "auth.json"), "utf8")).toContain(canary);
    expect(err()).not.toContain(canary);
  });

  test("is refused for a way that does not exist, and needs authentication if it fails", async () => {
    const server = await startAuthorizationServer();
    const { agent } = connectClient(
      await createWorkspace(),
      (app) =>
        app.onRequest("elicitation/create", async ({ params }) => {
          const back = new URL(server.approve((params as { url: string }).url));
          back.searchParams.delete("code");
          back.searchParams.set("error", "access_denied");
          await visit(back.href);
          return { action: "decline" };
        }),
      { oauthProviders: [server.provider()] },
    );
    await initialize(agent, { elicitation: { url: {} } });
    await expect(agent.request("authenticate", { methodId: "login:nobody" })).rejects.toMatchObject({ code: -32_602 });
    await expect(agent.request("authenticate", { methodId: "login:here" })).rejects.toMatchObject({ code: -32_000 });
  });
});

describe("a prompt", () => {
  test("streams thoughts and text, in order and once", async () => {
    const answer = "A longer answer, in many pieces. ".repeat(20);
    const workspace = await createModelWorkspace(
      [{ kind: "answer", answer: { content: [thinking("Let me see."), text(answer)] } }],
      "anthropic-messages",
    );
    const { agent, updates } = connectClient(workspace, nothing);
    await initialize(agent);
    const { sessionId } = await newSession(agent, workspace);
    expect(await prompt(agent, sessionId, "Say it.")).toEqual({ stopReason: "end_turn" });
    expect(joinText(updates)).toBe(answer);
    expect(joinText(updates, "agent_thought_chunk")).toBe("Let me see.");
    expect(listUpdates(updates, "agent_message_chunk").length).toBeGreaterThan(3);
    expect(new Set(listUpdates(updates, "agent_message_chunk").map(({ messageId }) => messageId)).size).toBe(1);
    expect(listUpdates(updates, "usage_update").at(-1)).toMatchObject({ size: 64_000, cost: { currency: "USD" } });
  });

  test("shows an edit as a diff with its place, and a to-do list as a plan", async () => {
    const workspace = await createModelWorkspace([
      toolReply("edit", { path: "a.txt", edits: [{ oldText: "one", newText: "two" }] }),
      toolReply("todo", { todos: [{ content: "Test it", status: "in_progress" }] }),
      textReply("Done."),
    ]);
    const path = join(workspace.directory, "a.txt");
    await writeFile(path, "zero\none\nthree\n");
    const { agent, updates } = connectClient(workspace, nothing);
    await initialize(agent);
    const { sessionId } = await newSession(agent, workspace);
    await prompt(agent, sessionId, "Change it.");
    const changes = listUpdates(updates, "tool_call_update").filter(({ locations }) => locations?.[0]?.line === 2);
    expect(changes).toMatchObject([
      {
        content: [{ type: "diff", path, oldText: "zero\none\nthree", newText: "zero\ntwo\nthree" }],
        locations: [{ path, line: 2 }],
      },
    ]);
    expect(listUpdates(updates, "plan")).toMatchObject([
      { entries: [{ content: "Test it", status: "in_progress", priority: "medium" }] },
    ]);
  });

  test("takes images, links and texts that the editor attaches, and the model gets them", async () => {
    const workspace = await createModelWorkspace([textReply("I see.")]);
    const models = JSON.parse(await readFile(join(workspace.agentDir, "models.json"), "utf8")) as {
      providers: { acme: { models: Record<string, unknown>[] } };
    };
    for (const model of models.providers.acme.models) model["input"] = ["text", "image"];
    await writeFile(join(workspace.agentDir, "models.json"), JSON.stringify(models));
    await writeFile(join(workspace.directory, "notes.txt"), "the saved notes");
    const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const { agent } = connectClient(workspace, nothing);
    await initialize(agent);
    const { sessionId } = await newSession(agent, workspace);
    await agent.request("session/prompt", {
      sessionId,
      prompt: [
        { type: "text", text: "Look at " },
        { type: "resource_link", uri: `file://${workspace.directory}/notes.txt`, name: "notes.txt" },
        { type: "resource", resource: { uri: `file://${workspace.directory}/draft.ts#L3`, text: "const draft = 1;" } },
        { type: "image", data: pixel, mimeType: "image/png" },
      ],
    });
    const sent = JSON.stringify(workspace.server.requests[0]!.body);
    for (const part of ["the saved notes", "const draft = 1;", "draft.ts#L3", pixel]) expect(sent).toContain(part);
  });

  test("fails with the reason if the provider does", async () => {
    const workspace = await createModelWorkspace([
      { kind: "status", status: 400, body: JSON.stringify({ error: { message: "The model is on fire." } }) },
    ]);
    const { agent } = connectClient(workspace, nothing);
    await initialize(agent);
    const { sessionId } = await newSession(agent, workspace);
    await expect(prompt(agent, sessionId, "Hi")).rejects.toMatchObject({
      code: -32_603,
      message: expect.stringContaining("The model is on fire."),
    });
  });

  test("is refused while another one is being answered, which goes on", async () => {
    const workspace = await createModelWorkspace([hang]);
    const { agent } = connectClient(workspace, nothing);
    await initialize(agent);
    const { sessionId } = await newSession(agent, workspace);
    const first = prompt(agent, sessionId, "Wait.");
    await expect.poll(() => workspace.server.requests.length).toBe(1);
    await expect(prompt(agent, sessionId, "Me too.")).rejects.toMatchObject({ code: -32_600 });
    await agent.notify("session/cancel", { sessionId });
    expect(await first).toEqual({ stopReason: "cancelled" });
  });
});

describe("a permission request", () => {
  const read = toolReply("read", { path: "/etc/hostname" });

  test("that is allowed once executes the call, and the next one is asked about again", async () => {
    const asked: RequestPermissionRequest[] = [];
    const workspace = await createModelWorkspace([read, textReply("One."), read, textReply("Two.")]);
    const { agent, updates } = connectClient(workspace, answering("allow_once", asked));
    await initialize(agent);
    const { sessionId } = await newSession(agent, workspace);
    await prompt(agent, sessionId, "Read it.");
    await prompt(agent, sessionId, "Again.");
    expect(asked).toHaveLength(2);
    expect(asked[0]).toMatchObject({
      toolCall: { title: "Read /etc/hostname", kind: "read", locations: [{ path: "/etc/hostname" }] },
    });
    const name = (await readFile("/etc/hostname", "utf8")).trim();
    expect(JSON.stringify(listUpdates(updates, "tool_call_update"))).toContain(name);
  });

  test("that is allowed for the session is not asked about again", async () => {
    const asked: RequestPermissionRequest[] = [];
    const workspace = await createModelWorkspace([read, read, textReply("Done.")]);
    const { agent } = connectClient(workspace, answering("allow_always", asked));
    await initialize(agent);
    const { sessionId } = await newSession(agent, workspace);
    await prompt(agent, sessionId, "Read it twice.");
    expect(asked).toHaveLength(1);
  });

  test("that is denied fails the call, and the run continues", async () => {
    const workspace = await createModelWorkspace([read, textReply("Without it, then.")]);
    const { agent, updates } = connectClient(workspace, answering("reject_once"));
    await initialize(agent);
    const { sessionId } = await newSession(agent, workspace);
    expect(await prompt(agent, sessionId, "Read it.")).toEqual({ stopReason: "end_turn" });
    expect(listUpdates(updates, "tool_call_update").filter(({ status }) => status === "failed")).toHaveLength(1);
    expect(joinText(updates)).toBe("Without it, then.");
  });

  test("that the client does not know denies the call", async () => {
    const workspace = await createModelWorkspace([read, textReply("Without it, then.")]);
    const { agent, updates } = connectClient(workspace, nothing);
    await initialize(agent);
    const { sessionId } = await newSession(agent, workspace);
    await prompt(agent, sessionId, "Read it.");
    expect(listUpdates(updates, "tool_call_update").filter(({ status }) => status === "failed")).toHaveLength(1);
  });

  test("that nobody answers is taken back when its time is over, and the run continues", async () => {
    const workspace = await createModelWorkspace([read, textReply("Without it, then.")]);
    const settings = { defaultModel: "acme/small", approvals: { timeoutMs: 20 } };
    await writeFile(join(workspace.agentDir, "settings.json"), JSON.stringify(settings));
    let wasTakenBack = false;
    const { agent, updates } = connectClient(workspace, (app) =>
      app.onRequest("session/request_permission", async ({ signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        wasTakenBack = true;
        return { outcome: { outcome: "cancelled" } };
      }),
    );
    await initialize(agent);
    const { sessionId } = await newSession(agent, workspace);
    expect(await prompt(agent, sessionId, "Read it.")).toEqual({ stopReason: "end_turn" });
    expect(joinText(updates)).toBe("Without it, then.");
    await expect.poll(() => wasTakenBack).toBe(true);
  });

  test("that is open when the prompt is cancelled is taken back, and the prompt is answered at once", async () => {
    const workspace = await createModelWorkspace([read]);
    let ask = nothing;
    const asked = new Promise<void>((resolve) => (ask = resolve));
    let wasTakenBack = false;
    const { agent, updates } = connectClient(workspace, (app) =>
      app.onRequest("session/request_permission", async ({ signal }) => {
        ask();
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        wasTakenBack = true;
        return { outcome: { outcome: "cancelled" } };
      }),
    );
    await initialize(agent);
    const { sessionId } = await newSession(agent, workspace);
    const prompted = prompt(agent, sessionId, "Read it.");
    await asked;
    await agent.notify("session/cancel", { sessionId });
    expect(await prompted).toEqual({ stopReason: "cancelled" });
    await expect.poll(() => wasTakenBack).toBe(true);
    expect(listUpdates(updates, "tool_call_update").filter(({ status }) => status === "failed")).toHaveLength(1);
  });
});

describe("modes and options", () => {
  test("are offered, chosen and reported, in both forms", async () => {
    const workspace = await createModelWorkspace([
      toolReply("write", { path: "a.txt", content: "x" }),
      textReply("No."),
    ]);
    const asked: RequestPermissionRequest[] = [];
    const { agent, seen } = connectClient(workspace, answering("reject_once", asked));
    await initialize(agent);
    const { sessionId, modes, configOptions } = await newSession(agent, workspace);
    expect(modes).toMatchObject({
      currentModeId: "edit",
      availableModes: [{ id: "plan" }, { id: "ask" }, { id: "edit" }, { id: "free" }],
    });
    expect(configOptions?.map(({ id, category }) => [id, category])).toEqual([
      ["mode", "mode"],
      ["model", "model"],
    ]);
    await agent.request("session/set_mode", { sessionId, modeId: "plan" });
    await seen("current_mode_update", ({ currentModeId }) => currentModeId === "plan");
    await agent.request("session/set_mode", { sessionId, modeId: "ask" });
    await seen("current_mode_update", ({ currentModeId }) => currentModeId === "ask");
    await seen("config_option_update", (update) => update.configOptions[0]?.currentValue === "ask");
    await prompt(agent, sessionId, "Write it.");
    expect(asked).toMatchObject([{ toolCall: { kind: "edit", content: [{}, { type: "diff", newText: "x" }] } }]);
  });

  test("a model and a thinking level can be chosen, and what is wrong is refused", async () => {
    const workspace = await createModelWorkspace([textReply("Hi.")]);
    const { agent } = connectClient(workspace, nothing);
    await initialize(agent);
    const { sessionId } = await newSession(agent, workspace);
    const set = (configId: string, value: string) =>
      agent.request("session/set_config_option", { sessionId, configId, value });
    const { configOptions } = await set("model", "acme/large");
    expect(configOptions.map(({ id, currentValue }) => [id, currentValue])).toEqual([
      ["mode", "edit"],
      ["model", "acme/large"],
      ["thinking", expect.any(String)],
    ]);
    expect((await set("thinking", "high")).configOptions[2]).toMatchObject({ currentValue: "high" });
    for (const [id, value] of [
      ["model", "acme/none"],
      ["thinking", "loud"],
      ["mode", "architect"],
      ["colour", "red"],
    ] as const)
      await expect(set(id, value)).rejects.toMatchObject({ code: -32_602 });
    await expect(agent.request("session/set_mode", { sessionId, modeId: "architect" })).rejects.toMatchObject({
      code: -32_602,
    });
    await prompt(agent, sessionId, "Hi");
    expect(workspace.server.requests[0]!.body).toMatchObject({ model: "large" });
  });
});

describe("slash commands", () => {
  test("are listed with those of extensions, and answered without the model", async () => {
    const workspace = await createModelWorkspace([]);
    await writeExtension(
      workspace,
      "greeter",
      `tau.registerCommand("greet", { description: "Says hello", handler: async (args, ctx) => ctx.ui.notify("Hello " + args) });`,
    );
    const { agent, seen, updates } = connectClient(workspace, nothing);
    await initialize(agent, { session: { notices: {} } });
    const { sessionId } = await newSession(agent, workspace);
    const { availableCommands } = await seen("available_commands_update");
    expect(availableCommands.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["compact", "permissions", "greet"]),
    );
    expect(availableCommands.map(({ name }) => name)).not.toContain("quit");
    expect(await prompt(agent, sessionId, "/name  A good name")).toEqual({ stopReason: "end_turn" });
    expect(await seen("session_info_update")).toMatchObject({ title: "A good name" });
    await prompt(agent, sessionId, "/session");
    expect(joinText(updates)).toContain("Messages: 0");
    expect(await prompt(agent, sessionId, "/greet Ada")).toEqual({ stopReason: "end_turn" });
    expect(await seen("notice", ({ title }) => title === "Hello Ada")).toMatchObject({ severity: "info" });
    await expect(prompt(agent, sessionId, "/model nobody/nothing")).rejects.toMatchObject({ code: -32_602 });
    expect(workspace.server.requests).toEqual([]);
  });
});

test("commands that /reload finds are listed again", async () => {
  const workspace = await createModelWorkspace([]);
  const { agent, seen, updates } = connectClient(workspace, nothing);
  await initialize(agent);
  const { sessionId } = await newSession(agent, workspace);
  await seen("available_commands_update");
  await prompt(agent, sessionId, "/session");
  expect(listUpdates(updates, "available_commands_update")).toHaveLength(1);
  await mkdir(join(workspace.agentDir, "prompts"), { recursive: true });
  await writeFile(join(workspace.agentDir, "prompts", "review.md"), "Review it.");
  await prompt(agent, sessionId, "/reload");
  await seen("available_commands_update", (update) => update.availableCommands.some(({ name }) => name === "review"));
});

describe("a question of an extension", () => {
  const open = async () => {
    const workspace = await createModelWorkspace([]);
    await writeExtension(
      workspace,
      "asking",
      `tau.registerCommand("ask", { description: "Asks", handler: async (args, ctx) =>
        ctx.ui.notify(JSON.stringify([await ctx.ui.select("Which?", ["a", "b"]), await ctx.ui.confirm("Sure?", "Really"), await ctx.ui.input("Name?")])) });`,
    );
    return workspace;
  };

  test("is a form where the client shows forms", async () => {
    const workspace = await open();
    const answers: Record<string, string> = { "Which?": "b", "Sure?\nReally": "yes", "Name?": "Ada" };
    const { agent, seen } = connectClient(workspace, (app) =>
      app.onRequest("elicitation/create", ({ params }) => ({
        action: "accept",
        content: { answer: answers[params.message]! },
      })),
    );
    await initialize(agent, { elicitation: { form: {} }, session: { notices: {} } });
    const { sessionId } = await newSession(agent, workspace);
    await prompt(agent, sessionId, "/ask");
    expect(await seen("notice", ({ title }) => title.startsWith("["))).toMatchObject({ title: '["b",true,"Ada"]' });
  });

  test("is a choice where it shows none, and a text cannot be asked for", async () => {
    const workspace = await open();
    const { agent, seen, updates, err } = connectClient(workspace, (app) =>
      app.onRequest("session/request_permission", ({ params }) => ({
        outcome: { outcome: "selected", optionId: params.options[0]!.optionId },
      })),
    );
    await initialize(agent, { session: { notices: {} } });
    const { sessionId } = await newSession(agent, workspace);
    await prompt(agent, sessionId, "/ask");
    expect(await seen("notice", ({ title }) => title.startsWith("["))).toMatchObject({ title: '["a",true,null]' });
    const statuses = [...listUpdates(updates, "tool_call"), ...listUpdates(updates, "tool_call_update")];
    expect(statuses.map(({ status }) => status)).toEqual(["pending", "pending", "completed", "completed"]);
    expect(err()).toContain("Name?");
  });

  test("is cancelled with the prompt", async () => {
    const workspace = await open();
    let wasAsked = false;
    const { agent } = connectClient(workspace, (app) =>
      app.onRequest("elicitation/create", () => {
        wasAsked = true;
        return new Promise<never>(nothing);
      }),
    );
    await initialize(agent, { elicitation: { form: {} }, session: { notices: {} } });
    const { sessionId } = await newSession(agent, workspace);
    const prompted = prompt(agent, sessionId, "/ask");
    await expect.poll(() => wasAsked).toBe(true);
    await agent.notify("session/cancel", { sessionId });
    expect(await prompted).toEqual({ stopReason: "cancelled" });
    expect(await prompt(agent, sessionId, "/session")).toEqual({ stopReason: "end_turn" });
  });
});
