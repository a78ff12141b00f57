import type { ExtensionAPI } from "@tau/extensions";

export default function (tau: ExtensionAPI) {
  tau.registerCommand("count", {
    description: "Count in all sessions",
    handler: async (_args, { cwd, ui }) => {
      const counter = await tau.shared(`counter ${cwd}`, () => ({ value: 0, close() {} }));
      ui.notify(String(++counter.value));
    },
  });
}
