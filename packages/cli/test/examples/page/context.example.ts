import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ExtensionAPI } from "@tau/extensions";

export default function (tau: ExtensionAPI) {
  // With each prompt, kept in the log: the model still sees it later.
  tau.on("before_agent_start", async () => {
    const { code, stdout } = await tau.exec("git", ["log", "-1", "--format=%s"]);
    if (code !== 0) return undefined;
    return { message: { customType: "last-commit", content: `The last commit: ${stdout}`, display: false } };
  });
  // With each request, not kept: only what is true now. At the end, so that the provider's cache still applies.
  tau.on("context", async ({ messages }, { cwd }) => {
    const notes = await readFile(join(cwd, "NOTES.md"), "utf8").catch(() => "");
    if (notes === "") return undefined;
    return { messages: [...messages, { role: "user", content: `Our notes:\n${notes}`, timestamp: Date.now() }] };
  });
}
