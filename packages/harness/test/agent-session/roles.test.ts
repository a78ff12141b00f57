/** Roles stand for models wherever one is named. */
import { expect, onTestFinished, test } from "vitest";
import { createAgentSession } from "../../src/construct/create-agent-session.ts";
import { SessionManager } from "../../src/session/session-manager.ts";
import { openWithRoles as open, says } from "./roles-kit.ts";

const roles = { smol: "house/tiny:low", slow: "large:high", plan: "@slow", mine: "house/other" };
const settings = { defaultModel: "house/usual", roles };

test("a session that names no role has the model and the level of the settings", async () => {
  const { session, getAsked } = await open(settings);
  expect(session.thinkingLevel).toBe("medium");
  await session.prompt("Hello?");
  expect(getAsked()).toEqual(["usual"]);
});

test("a session begins with the model and the level of a role", async () => {
  const { session, getAsked } = await open(settings, { model: "@plan" });
  expect(session.thinkingLevel).toBe("high");
  await session.prompt("Hello?");
  expect(getAsked()).toEqual(["large"]);
});

test("a session changes to a role, and its settings can name one", async () => {
  const { session } = await open({ ...settings, defaultModel: "@mine" });
  expect(session.model?.id).toBe("other");
  await session.setModel("@smol");
  expect([session.model?.id, session.thinkingLevel]).toEqual(["tiny", "low"]);
  await session.setModel("@slow:minimal");
  expect([session.model?.id, session.thinkingLevel]).toEqual(["large", "minimal"]);
});

test("the role default is the model of a new session, with its level, unless the settings name a model", async () => {
  const { session } = await open({ roles: { default: "house/large:low" } });
  expect([session.model?.id, session.thinkingLevel]).toEqual(["large", "low"]);
  const stored = await open({ defaultModel: "house/usual", roles: { default: "house/large:low" } });
  expect([stored.session.model?.id, stored.session.thinkingLevel]).toEqual(["usual", "medium"]);
});

test("a role without a model is the default model, and the model of a role is never replaced by another", async () => {
  const { session } = await open(settings, { model: "@commit" });
  expect([session.model?.id, session.thinkingLevel]).toEqual(["usual", "medium"]);
  const wrong = open({ roles: { default: "house/no-such-model-here" } });
  expect((await wrong).session.model).toBeUndefined();
  expect((await wrong).session.modelProblem).toContain("no-such-model-here");
});

test("roles can be among the models to choose from", async () => {
  const { session } = await open(settings, { models: ["@slow", "@smol"] });
  expect(session.modelRegistry.scope(session.modelPatterns!).models).toMatchObject([
    { model: { id: "large" }, thinkingLevel: "high" },
    { model: { id: "tiny" }, thinkingLevel: "low" },
  ]);
  expect(session.modelRegistry.scope(["@none", "house/*"])).toMatchObject({
    models: [{}, {}, {}, {}],
    problems: [{ pattern: "@none", kind: "not_found" }],
  });
});

test("an unknown role and a role of a provider are refused in words", async () => {
  const { session } = await open(settings);
  await expect(session.setModel("@fast")).rejects.toThrow(
    'There is no role "fast". The roles are: default, smol, slow, plan, commit, mine.',
  );
  await expect(open(settings, { model: "@slow", provider: "house" })).rejects.toThrow("Leave the provider out.");
  await expect(open({ roles: { slow: "@plan", plan: "@slow" } }, { model: "@slow" })).rejects.toThrow(
    "@slow → @plan → @slow",
  );
});

test("a role is logged and reported with its model, and survives reopening", async () => {
  const { session, agentDir, cwd } = await open(settings);
  const changes: unknown[] = [];
  session.onSessionEvent((event) => event.type === "model_changed" && changes.push(event));
  await session.setModel("@slow");
  await session.prompt("Hello?");
  expect(session.role).toBe("slow");
  await session.dispose();
  expect(changes).toEqual([
    { type: "model_changed", provider: "house", modelId: "large", thinkingLevel: "high", role: "slow" },
  ]);
  const sessionManager = await SessionManager.open(session.sessionFile!, { agentDir });
  expect(await sessionManager.getChoices()).toMatchObject({ model: { modelId: "large", role: "slow" } });
  const again = await createAgentSession({ cwd, agentDir, sessionManager });
  onTestFinished(() => again.dispose());
  expect([again.model?.id, again.role]).toEqual(["large", "slow"]);
  await again.setModel("house/large");
  expect(again.role).toBeUndefined();
});

test("the default of a session is the model that was chosen in it, also after other roles", async () => {
  const { session } = await open(settings, { model: "house/other" });
  for (const [name, model] of [
    ["@smol", "tiny"],
    ["@default", "other"],
    ["@slow", "large"],
    ["@commit", "other"],
  ] as const) {
    await session.setModel(name);
    expect([session.model?.id, session.role]).toEqual([model, name.slice(1)]);
  }
});

test("roles of the parameters are used instead of those of the settings", async () => {
  const { session } = await open(settings, { roles: { slow: "house/tiny", default: "house/other" } });
  expect(session.model?.id).toBe("usual");
  expect(session.resolveModel("@plan")).toMatchObject({ model: { id: "tiny" }, role: "plan" });
  expect(session.modelRegistry.resolve("@default")).toMatchObject({ model: { id: "other" } });
});

test("a child has the model and level of its role, and that of its parent if the role has none", async () => {
  const { api, getAsked } = await open(settings, { model: "other", provider: "house" }, [
    says("a"),
    says("b"),
    says("c"),
  ]);
  for (const model of ["@slow", "@commit", "@smol:off"])
    await (await api.openChild({ name: "explorer", model })).prompt("Look.");
  expect(getAsked()).toEqual(["large", "other", "tiny"]);
});
