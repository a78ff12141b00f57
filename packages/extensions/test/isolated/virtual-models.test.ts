/** Virtual models of extensions that run in a process of their own. */
import type { Model } from "@tau/ai";
import type { ModelRouteRequest } from "@tau/extensions";
import { describe, expect, test } from "vitest";
import { type HostOptions, load } from "./kit.ts";

const code = `export default (tau) => {
  tau.registerVirtualModel({ provider: "router", id: "auto", name: "Auto", thinkingLevels: ["low", "high"],
    route: async (request) => {
      if (request.thinkingLevel === "high") await new Promise((resolve, reject) =>
        request.signal.addEventListener("abort", () => reject(new Error("aborted"))));
      if (request.reason === "direct") tau.unregisterVirtualModel("router", "auto");
      return { model: { provider: "acme", id: "small" }, thinkingLevel: "low",
        state: { words: request.messages.map(({ content }) => content), failed: request.failed?.message.content,
          keys: Object.keys(request.model), previous: request.previous?.model.headers } };
    } });
};`;

const model = { provider: "acme", id: "small", headers: { authorization: "secret" } } as unknown as Model;
const request = (fields: Partial<ModelRouteRequest> = {}): ModelRouteRequest => ({
  model,
  thinkingLevel: "low",
  reason: "user",
  previous: { model },
  failed: { model, message: { role: "assistant", content: [{ type: "text", text: "half" }] } as never },
  messages: [{ role: "user", content: "my words", timestamp: 0 }],
  ...fields,
});

const open = async (options: HostOptions = {}) => {
  const host = await load(code, options);
  const virtual = () => host.extension.virtualModels.get("router/auto");
  return {
    host,
    virtual,
    route: (fields?: Partial<ModelRouteRequest>) => virtual()!.route(request(fields), {} as never),
  };
};

describe.skipIf(process.platform !== "linux")("A virtual model of an isolated extension", () => {
  test("is described, and routes in its process, with the conversation if it may read the session", async () => {
    const { virtual, route } = await open();
    expect(virtual()).toMatchObject({ provider: "router", id: "auto", name: "Auto", thinkingLevels: ["low", "high"] });
    expect(await route()).toEqual({
      model: { provider: "acme", id: "small" },
      thinkingLevel: "low",
      state: { words: ["my words"], failed: [{ type: "text", text: "half" }], keys: ["provider", "id"] },
    });
  });

  test("gets no word of the conversation without the capability", async () => {
    const { route } = await open({ policy: { defaultCaps: ["events", "tool"], mode: "strict" } });
    expect((await route()).state).toEqual({ words: [], failed: [], keys: ["provider", "id"] });
  });

  test("is aborted with the request, and is gone once it is removed", async () => {
    const changes: string[] = [];
    const { virtual, route } = await open({ ports: { onVirtualModelsChange: () => void changes.push("changed") } });
    const controller = new AbortController();
    const routed = route({ thinkingLevel: "high", signal: controller.signal });
    controller.abort();
    await expect(Promise.resolve(routed)).rejects.toThrow("aborted");
    await route({ reason: "direct" });
    await expect.poll(virtual).toBeUndefined();
    // Once when it was loaded, and once when it was removed.
    expect(changes).toEqual(["changed", "changed"]);
  });
});
