import { SettingsManager } from "@tau/config/settings";
import { resolveCompactionSettings } from "@tau/harness/session";
import { expect, test } from "vitest";

test("the defaults of the settings for compaction are those of the compaction module", () => {
  const model = { provider: "a", id: "b", contextWindow: 1_000_000 };
  const { compaction } = SettingsManager.inMemory({}).get();
  expect(resolveCompactionSettings(compaction, model)).toEqual(resolveCompactionSettings({}, model));
});
