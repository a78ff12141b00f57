import type { ExtensionAPI } from "@tau/extensions";

const levels = ["off", "low", "high"] as const;

export default function (tau: ExtensionAPI) {
  tau.registerCommand("think", {
    description: "Think that much, and ask again",
    getArgumentCompletions: (prefix) =>
      levels.filter((level) => level.startsWith(prefix)).map((level) => ({ value: level, label: level })),
    async handler(args, ctx) {
      const level = levels.find((name) => name === args.trim());
      if (!level) return ctx.ui.notify(`One of ${levels.join(", ")}.`, "warning");
      await ctx.waitForIdle();
      tau.setThinkingLevel(level);
      tau.sendUserMessage("Think about your last answer again.");
    },
  });
}
