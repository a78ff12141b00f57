/** The entries of single providers, such as `@tau/ai/anthropic`. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, expectTypeOf, test } from "vitest";
import type { SelectedModel } from "../src/bind-model.ts";
import { getBuiltinModels, getProviders, getUnlistedModel } from "../src/catalog/catalog.ts";
import { createAI as createAnyAI } from "../src/create-ai.ts";
import { anthropic, createAI } from "../src/entries/anthropic.ts";
import type { SelectModel } from "../src/entry.ts";
import { getApiProvider, registerApiProvider, unregisterApiProviders } from "../src/registry.ts";
import { scriptedModel } from "../src/testing/index.ts";
import { anthropicMessagesDialect } from "../src/testing/dialects/anthropic-messages.ts";
import { text } from "../src/testing/script.ts";
import { startWireServer, type WireReply } from "../src/testing/wire-server.ts";
import { user } from "./protocols/kit.ts";

const src = join(import.meta.dirname, "..", "src");

/** A script without types. */
const generator: string = "../../../scripts/generate-entries.mjs";
const { formatEntries } = (await import(generator)) as { formatEntries: () => Map<string, string> };

test("are what the generator writes for the catalogue", () => {
  const ignoreLayout = (code: string) => code.replaceAll(/\s|,(?=\s*[\]})])/g, "");
  for (const [path, code] of formatEntries()) {
    expect(ignoreLayout(readFileSync(join(src, path), "utf8"))).toBe(ignoreLayout(code));
  }
  expect(readdirSync(join(src, "entries"))).toEqual(
    getProviders()
      .map((provider) => `${provider}.ts`)
      .sort(),
  );
});

test("select the models that the catalogue has, listed, retired and unlisted, with the same properties", async () => {
  for (const provider of getProviders()) {
    const name = provider.replaceAll(/-(\w)/g, (_dash, letter: string) => letter.toUpperCase());
    const entry = (await import(`../src/entries/${provider}.ts`)) as Record<string, SelectModel<string>>;
    expect(Object.keys(entry).sort()).toEqual([name, "createAI"].sort());
    const select = entry[name]!;
    for (const model of getBuiltinModels(provider)) expect(select(model.id).model).toEqual(model);
    expect(select("a-new-model").model).toEqual(getUnlistedModel(provider, "a-new-model"));
    expect(select("a-new-model").notice).toBe(createAnyAI({ provider, model: "a-new-model" }).notice);
  }
});

describe("a selected model", () => {
  afterEach(() => unregisterApiProviders("test"));

  const hello = { messages: [user("Hello")] };

  test("is bound to its options, by both forms of createAI", async () => {
    const answer: WireReply = { kind: "answer", answer: { content: [text("Hi.")] } };
    const server = await startWireServer(anthropicMessagesDialect, [answer, answer]);
    try {
      const options = { apiKey: "bound", baseUrl: server.url, config: { temperature: 0.5 } };
      for (const create of [createAI, createAnyAI]) {
        const message = await create(anthropic("claude-sonnet-4-5", options)).completeSimple(hello);
        expect(message.content).toMatchObject([{ text: "Hi." }]);
      }
      expect(server.requests).toHaveLength(2);
      for (const { headers, body } of server.requests) {
        expect(headers["x-api-key"]).toBe("bound");
        expect(body).toMatchObject({ model: "claude-sonnet-4-5", temperature: 0.5 });
      }
    } finally {
      await server.close();
    }
  });

  test("is sent by an API that a program registered in place of ours", async () => {
    const scripted = scriptedModel([{ content: [text("Registered.")] }]);
    const own = getApiProvider(scripted.api)!;
    registerApiProvider({ ...own, api: "anthropic-messages" }, "test");
    const message = await createAI(anthropic("claude-sonnet-4-5")).complete(hello);
    expect(message.content).toMatchObject([{ text: "Registered." }]);
    scripted.dispose();
  });

  test("has typed ids, also takes others, and refuses unknown options", () => {
    expectTypeOf(anthropic).returns.toEqualTypeOf<SelectedModel>();
    expectTypeOf<"claude-opus-4-5">().toExtend<Parameters<typeof anthropic>[0]>();
    expect(() => anthropic("claude-opus-4-5", { baseURL: "x" } as object)).toThrow(
      'anthropic has no option "baseURL". Did you mean "baseUrl"?',
    );
    expect(() => anthropic("")).toThrow('anthropic has no model "".');
  });
});
