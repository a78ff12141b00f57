/** Guards of an agent, and an agent as a tool of another. */
import { type AI, complete, completeSimple, type Model, stream, streamSimple } from "@tau/ai";
import { call, scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { type CreateAgentOptions, createAgent, defineTool } from "../../src/index.ts";
import { createTestSession, transcript } from "../../src/testing/index.ts";

const toAI = (model: Model): AI => ({
  model,
  stream: (context, options) => stream(model, context, options),
  complete: (context, options) => complete(model, context, options),
  streamSimple: (context, options) => streamSimple(model, context, options),
  completeSimple: (context, options) => completeSimple(model, context, options),
});

function open(turns: ScriptedTurn[], options: Omit<CreateAgentOptions, "ai"> = {}) {
  const model = scriptedModel(turns);
  const agent = createAgent({ ai: toAI(model), ...options });
  onTestFinished(async () => {
    await agent.dispose();
    model.dispose();
  });
  return { model, agent };
}

describe("guards", () => {
  test("a prompt that an input guard refuses is neither sent nor written", async () => {
    const input = [
      () => undefined,
      (prompt: string) => (prompt.includes("card") ? "It has a card number." : undefined),
    ];
    const { agent, model } = open([[text("Hello.")]], { guards: { input } });
    await expect(agent.run("My card is 4111.")).rejects.toMatchObject({
      code: "denied",
      message: "The prompt was refused: It has a card number.",
    });
    await expect(agent.stream("My card is 4111.").result()).rejects.toMatchObject({ code: "denied" });
    expect(model.asked).toHaveLength(0);
    expect(await agent.run("Hi.")).toBe("Hello.");
    expect(transcript(await agent.session())).toEqual(["user: Hi.", "assistant: Hello."]);
  });

  test("an answer that an output guard refuses is not returned", async () => {
    const seen: string[] = [];
    const output = [async (answer: string) => (seen.push(answer), answer.includes("price") ? "No prices." : undefined)];
    const { agent } = open([[text("The price is 7.")], [text('{"n":1}')]], { guards: { output } });
    await expect(agent.run("What is it?")).rejects.toThrow("The answer was refused: No prices.");
    const schema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] } as const;
    expect(await agent.run("And now?", { output: schema })).toMatchObject({ value: { n: 1 } });
    expect(seen).toEqual(["The price is 7.", '{"n":1}']);
  });

  test("a guard that throws refuses", async () => {
    const input = [() => Promise.reject(new Error("the service is down"))];
    const { agent, model } = open([[text("Hello.")]], { guards: { input } });
    await expect(agent.run("Hi.")).rejects.toThrow("The prompt was refused: a guard failed (the service is down).");
    expect(model.asked).toHaveLength(0);
  });

  test("an agent with output guards does not stream what they have not seen", () => {
    const { agent } = open([], { guards: { output: [() => undefined] } });
    expect(() => agent.stream("Hi.")).toThrow("cannot stream");
  });

  test("a guard that is no function is refused", () => {
    expect(() => open([], { guards: { input: ["no" as never] } })).toThrow(/guards/);
  });
});

describe("an agent as a tool", () => {
  const expert = { name: "expert", description: "Knows the stock." };

  test("answers in a child of the session that calls, with its own prompt, model and tools", async () => {
    const stock = defineTool({ name: "stock", description: "Counts.", execute: () => "7 left" });
    const { agent, model } = open([[call("stock")], [text("There are 7.")]], {
      tools: [],
      customTools: [stock],
      systemPrompt: "You know the stock.",
    });
    const { session, prompt } = await openCaller([[call("expert", { prompt: "How many?" })], [text("Seven.")]], agent);
    await prompt("How many are left?");
    expect(transcript(session).slice(1)).toEqual([
      'call expert {"prompt":"How many?"}',
      "result expert: There are 7.",
      "assistant: Seven.",
    ]);
    const [request] = model.asked;
    expect(request!.context.systemPrompt).toContain("You know the stock.");
    expect(request!.context.tools?.map(({ name }) => name)).toEqual(["stock"]);
    expect((await session.sessionManager.getEntries()).filter(({ type }) => type === "usage")).toHaveLength(1);
  });

  test("has the policy of the session that calls, and its questions have the name of the agent", async () => {
    const made: string[] = [];
    const pay = defineTool({
      name: "pay",
      description: "Pays.",
      needsApproval: true,
      execute: () => void made.push("paid"),
    });
    const { agent } = open([[call("pay")], [text("Paid.")]], { tools: [], customTools: [pay] });
    const summaries: string[] = [];
    const { prompt } = await openCaller([[call("expert", { prompt: "Pay." })], [text("Done.")]], agent, {
      ask: async ({ summary }) => {
        summaries.push(summary);
        return { decision: "allow" };
      },
    });
    await prompt("Pay it.");
    expect([summaries.length, summaries[0]?.startsWith("expert: "), made]).toEqual([1, true, ["paid"]]);
  });

  test("is denied what nobody can be asked about, also where the session keeps questions for later", async () => {
    const made: string[] = [];
    const pay = defineTool({
      name: "pay",
      description: "Pays.",
      needsApproval: true,
      execute: () => void made.push("paid"),
    });
    const { agent } = open([[call("pay")], [text("I may not.")]], { tools: [], customTools: [pay] });
    const { session, prompt } = await openCaller([[call("expert", { prompt: "Pay." })], [text("Done.")]], agent);
    await prompt("Pay it.");
    expect(made).toEqual([]);
    expect(transcript(session)[2]).toBe("result expert: I may not.");
  });

  test("gives its guards a say", async () => {
    const { agent, model } = open([[text("The price is 7.")]], {
      tools: [],
      guards: { input: [(prompt) => (prompt === "secret" ? "No." : undefined)], output: [() => "No prices."] },
    });
    const turn = [call("expert", { prompt: "secret" }), call("expert", { prompt: "price" })];
    const { session, prompt } = await openCaller([turn, [text("Nothing.")]], agent);
    await prompt("Tell me.");
    const results = transcript(session).filter((line) => line.startsWith("result"));
    expect(results).toEqual([
      "result expert (error): The prompt was refused: No.",
      "result expert (error): The answer was refused: No prices.",
    ]);
    expect(model.asked).toHaveLength(1);
  });

  test("with a parameter that would not apply there is refused by name", () => {
    const { agent } = open([], { cwd: "/" });
    expect(() => agent.asTool(expert)).toThrow(/with the parameter (?:use|cwd)/);
  });

  test("fails outside of a session", async () => {
    const { agent } = open([], { tools: [], use: undefined as never });
    await expect(agent.asTool(expert).execute("1", { prompt: "Hi." })).rejects.toThrow("only be called in a session");
  });

  async function openCaller(
    turns: ScriptedTurn[],
    agent: ReturnType<typeof open>["agent"],
    params: Parameters<typeof createTestSession>[1] = {},
  ) {
    const kit = await createTestSession(turns, { customTools: [agent.asTool(expert)], ...params });
    onTestFinished(() => kit.dispose());
    return kit;
  }
});
