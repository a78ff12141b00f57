/** `ctx.modelRegistry` of extensions, with pi's names. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeExtension } from "./extension-kit.ts";
import { createModelWorkspace, run } from "./kit.ts";

test("an extension lists models of a type, and sees what a provider is asked with", async () => {
  const workspace = await createModelWorkspace([]);
  await mkdir(workspace.agentDir, { recursive: true, mode: 0o700 });
  const key = { type: "api_key", key: "key-in-the-file" };
  await writeFile(join(workspace.agentDir, "auth.json"), JSON.stringify({ stored: key }), { mode: 0o600 });
  const path = join(workspace.directory, "seen.json");
  await writeExtension(
    workspace,
    "look",
    `
    const config = {
      baseUrl: "https://mine.example/v1",
      api: "openai-completions",
      models: [{ id: "small", name: "Small", contextWindow: 1000, maxTokens: 100 }],
    };
    const large = { ...config.models[0], id: "large", headers: { "x-size": "large" } };
    tau.registerProvider("mine", { ...config, apiKey: "key-of-mine", headers: { "x-team": "kites" }, models: [...config.models, large] });
    tau.registerProvider("keyless", config);
    tau.registerProvider("stored", config);
    tau.registerCommand("look", { async handler(_args, { modelRegistry: models }) {
      const names = (list) => list.filter(({ provider }) => provider !== "acme").filter(({ id }) => id === "small").map(({ provider }) => provider);
      const seen = {
        all: names(models.getModelsOfType("chat")),
        available: names(await models.getAvailableOfType("chat")),
        ofProvider: names(models.getModelsOfType("chat", "keyless")),
        images: models.getModelsOfType("image"),
        found: models.getModelOfType("chat", "mine", "small").id,
        notFound: models.getModelOfType("image", "mine", "small") ?? null,
        statuses: ["mine", "keyless", "stored"].map(models.getProviderAuthStatus),
        auth: await Promise.all(["mine", "keyless", "stored"].map(models.getProviderAuth)),
        registered: models.getRegisteredProviderIds(),
        url: models.getRegisteredProviderConfig("mine").baseUrl,
        nobody: models.getRegisteredProviderConfig("nobody") ?? null,
      };
      models.unregisterProvider("mine");
      seen.afterwards = models.getRegisteredProviderIds();
      process.getBuiltinModule("node:fs").writeFileSync(${JSON.stringify(path)}, JSON.stringify(seen));
    } });
    `,
  );
  expect((await run(workspace, ["-p", "/look"])).code).toBe(0);
  const baseUrl = "https://mine.example/v1";
  expect(JSON.parse(await readFile(path, "utf8"))).toEqual({
    all: ["mine", "keyless", "stored"],
    available: ["mine", "stored"],
    ofProvider: ["keyless"],
    images: [],
    found: "small",
    notFound: null,
    statuses: [{ configured: true }, { configured: false }, { configured: true, source: "stored" }],
    auth: [
      { auth: { apiKey: "key-of-mine", headers: { "x-team": "kites" }, baseUrl }, source: expect.any(String) },
      null,
      { auth: { apiKey: "key-in-the-file", baseUrl }, source: expect.stringContaining("auth.json") },
    ],
    registered: ["mine", "keyless", "stored"],
    url: baseUrl,
    nobody: null,
    afterwards: ["keyless", "stored"],
  });
});
