import type { ExtensionAPI } from "@tau/extensions";

export default function (tau: ExtensionAPI) {
  tau.registerCommand("report", {
    description: "Write a report about a problem",
    async handler(_args, { ui, hasUI }) {
      if (!hasUI) return;
      const kind = await ui.select("What is it?", ["a defect", "a wish"]);
      const title = kind && (await ui.input("In a few words?", "It does not …", { timeout: 60_000 }));
      const text = title && (await ui.editor("Details", "What happened:\n\nWhat should have happened:\n"));
      // Undefined where the user pressed Escape, or the time was over.
      if (!text || !(await ui.confirm("Send it?", title))) return ui.notify("Nothing is sent.", "warning");
      tau.sendUserMessage(`Write an issue about ${kind}: ${title}\n\n${text}`);
    },
  });
}
