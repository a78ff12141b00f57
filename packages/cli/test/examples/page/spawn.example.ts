import { once } from "node:events";
import type { ExtensionAPI } from "@tau/extensions";

export default function (tau: ExtensionAPI) {
  tau.registerCommand("shout", {
    description: "Repeat a text in capitals",
    handler: async (text, { ui }) => {
      const program = await tau.spawn("tr", ["a-z", "A-Z"]);
      program.stdin.end(text);
      const [answer] = await once(program.stdout, "data");
      ui.notify(String(answer));
      await program.end();
    },
  });
}
