import type { ExtensionAPI } from "@tau/extensions";

export default function (tau: ExtensionAPI) {
  tau.registerCommand("hello", {
    description: "Say hello",
    handler: (args, ctx) => ctx.ui.notify(`Hello ${args || "world"}!`),
  });
}
