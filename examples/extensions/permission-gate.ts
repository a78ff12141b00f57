/**
 * Asks before a command that can lose work: deleting recursively, discarding changes, rewriting what others have. The answer
 * can apply for the rest of the session. Where nobody can be asked, such a command is blocked.
 */
import type { ExtensionAPI } from "@tau/extensions";

const risks: readonly { pattern: RegExp; does: string }[] = [
  { pattern: /\brm\s+(?:-\w*[rR]\w*|--recursive)\b/, does: "deletes directories" },
  { pattern: /\bgit\s+(?:reset\s+--hard|clean\s+-\w*f|checkout\s+--?\s)/, does: "discards changes" },
  { pattern: /\bgit\s+push\b.*\s(?:-f|--force\S*)(?:\s|$)/, does: "rewrites a branch that others have" },
  { pattern: /\b(?:sudo|doas)\s/, does: "runs as another user" },
];

const answers = { once: "Allow once", session: "Allow in this session", never: "Block" } as const;

export default function permissionGate(tau: ExtensionAPI): void {
  /** Commands that the user has allowed for the rest of the session. */
  const allowed = new Set<string>();

  tau.on("tool_call", async ({ toolName, input }, { hasUI, ui }) => {
    if (toolName !== "bash") return undefined;
    const command = String(input["command"]);
    const does = risks.find(({ pattern }) => pattern.test(command))?.does;
    if (does === undefined || allowed.has(does)) return undefined;
    if (!hasUI) return { block: true, reason: `The command ${does}, and nobody can be asked.` };
    const answer = await ui.select(`This command ${does}:\n${command}`, Object.values(answers));
    if (answer === answers.session) allowed.add(does);
    if (answer === answers.once || answer === answers.session) return undefined;
    return { block: true, reason: `The user does not want a command that ${does}.` };
  });
}
