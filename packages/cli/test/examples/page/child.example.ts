import type { ExtensionAPI } from "@tau/extensions";

export default function (tau: ExtensionAPI) {
  tau.registerCommand("explain", {
    description: "Let another session explain a file",
    handler: async (path, { ui }) => {
      const child = await tau.openChild({ name: "explainer", tools: ["read", "grep"] });
      const { kind, text, reason } = await child.prompt(`Explain ${path} in three sentences.`);
      ui.notify(kind === "done" ? text : `It did not work: ${reason}`);
      await child.close();
    },
  });
}
