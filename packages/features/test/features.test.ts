/** Each feature keeps the contract. A feature that is not listed here fails the first test. */
import { startWireServer, call, text } from "@tau/ai/testing";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAgentSession } from "@tau/harness";
import { expect, onTestFinished, test } from "vitest";
import {
  agents,
  allFeatures,
  ask,
  calc,
  inspectImage,
  ast,
  browser,
  btw,
  codemode,
  context,
  debug,
  discovery,
  github,
  goal,
  hooks,
  init,
  kernels,
  lsp,
  mcp,
  memory,
  plan,
  review,
  titles,
  todo,
  undo,
  watch,
  web,
  worktrees,
} from "../src/index.ts";
import { weather } from "./found-tools.ts";
import { type FeatureContractCase, featureContract } from "./feature-contract.ts";

const cases: readonly FeatureContractCase[] = [
  // A task that fails before a model is asked.
  { create: agents, call: call("task", { description: "look", prompt: "Look.", model: "nobody/none" }) },
  { create: todo, call: call("todo", { todos: [{ content: "one", status: "pending" }] }) },
  { create: discovery, call: call("tool_search", { query: "weather" }), beside: [weather()] },
  // Tested with servers in `mcp/session.test.ts`.
  { create: mcp },
  // Tested with repositories in `worktrees`.
  { create: worktrees },
  {
    create: plan,
    call: call("propose_plan", { name: "Fix it", content: "1. Look.\n2. Fix." }),
    params: { planMode: true },
  },
  { create: ask, call: call("ask", { question: "Which?" }), params: { planMode: true } },
  { create: codemode, call: call("codemode", { code: "return 1" }), params: { defaultTools: ["+codemode"] } },
  {
    create: lsp,
    call: call("lsp", { action: "status" }),
    beside: [discovery()],
  },
  { create: debug, call: call("debug", { action: "sessions" }), beside: [discovery()] },
  { create: calc, call: call("calc", { expression: "1 + 1" }), params: { defaultTools: ["+calc"] } },
  {
    create: inspectImage,
    call: call("inspect_image", { path: "a.gif" }),
    files: { "a.gif": "GIF89a\u0001\u0000\u0001\u0000" },
    params: { defaultTools: ["+inspect_image"] },
  },
  {
    create: kernels,
    call: call("eval", { language: "javascript", code: "1 + 1" }),
    params: { defaultTools: ["+eval"] },
  },
  { create: ast, call: call("ast_grep", { pattern: "foo($A)" }), params: { defaultTools: ["+ast_grep"] } },
  // Tested with servers in `web`.
  { create: web },
  // Tested with a real one in `browser`.
  { create: browser },
  // Tested with a server in `github`.
  { create: github },
  // Off by default. Tested in `memory`.
  { create: memory },
  // Has no tools. Tested in `undo`.
  { create: undo },
  // Tested with scripts in `hooks`.
  { create: hooks },
  // Has no tools. Tested in `context`.
  { create: context },
  // Have no tools. Tested in `review`, `init` and `btw`.
  { create: review },
  { create: init },
  { create: btw },
  // Has no tools. Tested in `titles.test.ts`.
  { create: titles },
  // Has no tools. Tested with rules in `watch`.
  { create: watch },
  // Has no tools. Tested in `goal.test.ts`.
  { create: goal },
];

test("the contract applies to all features", () => {
  expect(cases.map(({ create }) => create().name)).toEqual(allFeatures.map(({ name }) => name));
});

for (const contractCase of cases) featureContract(contractCase);

test("a request that says hi stays below 7,500 bytes with all features, and todo costs less than 500", async () => {
  const measure = async (features: typeof allFeatures): Promise<number> => {
    const server = await startWireServer("openai-completions", [
      { kind: "answer", answer: { content: [text("Hi.")] } },
    ]);
    onTestFinished(() => server.close());
    const cwd = await mkdtemp(join(tmpdir(), "tau-hi-"));
    onTestFinished(() => rm(cwd, { recursive: true }));
    const agentDir = join(cwd, "agent");
    await mkdir(agentDir);
    const models = [{ id: "small", name: "Small", contextWindow: 32_000, maxTokens: 4_000 }];
    const acme = { baseUrl: server.url, api: "openai-completions", apiKey: "acme-key-0123456789", models };
    await writeFile(join(agentDir, "models.json"), JSON.stringify({ providers: { acme } }));
    const session = await createAgentSession({ cwd, agentDir, model: "acme/small", features });
    await session.prompt("hi");
    await session.dispose();
    return Buffer.byteLength(JSON.stringify(server.requests[0]!.body));
  };
  const bytes = await measure([...allFeatures, weather()]);
  expect(bytes).toBeLessThanOrEqual(7_500);
  expect((await measure([agents()])) - (await measure([]))).toBeLessThan(900);
  // The tools that find others are there only if there are some.
  expect((await measure([discovery(), weather()])) - (await measure([discovery()]))).toBeLessThan(1_000);
  expect((await measure([todo()])) - (await measure([]))).toBeLessThan(500);
});
