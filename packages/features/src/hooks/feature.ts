/** Hooks: commands of the user and of a trusted project that run at certain moments of a session. */
import type { Feature } from "@tau/extensions";
import { hasHooks } from "./has-hooks.ts";
import { hookSettings } from "./settings.ts";

export const hooks = (): Feature => ({
  name: "hooks",
  summary: "Commands that run before and after tool calls, at prompts, at the start and the end.",
  commands: [{ name: "hooks", description: "Hooks: which there are, and what they did last" }],
  settings: hookSettings,
  opensWithSession: hasHooks,
  load: async (place) => (await import("./hooks.ts")).createHooksExtension(place),
});
