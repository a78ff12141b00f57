import type { ExtensionAPI } from "@tau/extensions";

export default function (tau: ExtensionAPI) {
  tau.registerShortcut("ctrl+alt+d", {
    description: "Insert the date",
    handler: (ctx) => ctx.ui.pasteToEditor(new Date().toISOString().slice(0, 10)),
  });
}
