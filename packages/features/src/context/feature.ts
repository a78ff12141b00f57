/** The description of the feature `context`. */
import type { Feature } from "@tau/extensions";

export const contextCommand = { name: "context", description: "Show what fills the window of the model, by tokens" };

export const context = (): Feature => ({
  name: "context",
  summary: "Shows what fills the window of the model.",
  commands: [contextCommand],
  load: async () => (await import("./context.ts")).createContextExtension(),
});
