import type { StreamFn } from "@tau/agent";
import { getModel, type Model, type SimpleStreamOptions, systemClock } from "@tau/ai";
import { SettingsManager } from "@tau/config/settings";
import { expect, test } from "vitest";
import { withRunOptions } from "./request.ts";

test("the service tier of the settings goes to providers that have one, and to no others", async () => {
  const settings = SettingsManager.inMemory({ serviceTier: "priority" });
  const tiers: unknown[] = [];
  const streamFn = ((_model: Model, _context: unknown, options?: SimpleStreamOptions) => {
    tiers.push(options?.serviceTier);
  }) as unknown as StreamFn;
  const send = withRunOptions(streamFn, {
    settings: () => settings.get(),
    sessionId: "s",
    env: {},
    ambientCredentials: true,
    clock: systemClock,
  });
  for (const model of [
    getModel("openai", "gpt-6.1-sol"),
    getModel("openai-codex", "gpt-6.1-sol"),
    getModel("xai", "grok-4.5"),
  ])
    void send(model!, { messages: [] });
  expect(tiers).toEqual(["priority", "priority", undefined]);
});
