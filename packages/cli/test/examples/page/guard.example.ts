import type { ExtensionAPI } from "@tau/extensions";

export default function (tau: ExtensionAPI) {
  tau.on("tool_call", ({ toolName, input }) => {
    if (toolName !== "bash") return undefined;
    const command = String(input["command"]);
    if (/\bcurl\b/.test(command)) return { block: true, reason: "Use the tool fetch, not curl." };
    // Changed in place: the policy judges what is left, and that is what runs.
    input["command"] = `export CI=1; ${command}`;
    return undefined;
  });
  // What the user types after an exclamation mark. `result` takes the place of running it.
  tau.on("user_bash", ({ command }) =>
    command.startsWith("sudo ")
      ? { result: { output: "Not here.\n", exitCode: 1, cancelled: false, truncated: false } }
      : undefined,
  );
}
