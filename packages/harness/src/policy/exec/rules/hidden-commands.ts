/** Commands behind a program that nothing is known about. */
import { baseName } from "../paths.ts";
import type { Invocation } from "../programs/invocation.ts";
import { Analysis, AnalysisLimitError, deepen, type Scope } from "../shell/analysis.ts";
import type { Text } from "../shell/text.ts";

/** Their arguments are text. */
const takesText =
  /^(?:[a-z]*grep|rg|ag|ack|man|info|apropos|whatis|tldr|cheat|expr|jq|yq|say|espeak|cowsay|figlet|notify-send|logger|wc|diff|cmp|comm)$/;
const maxCommands = 32;

/**
 * A program without rules may run what its arguments name, as `nocache rm -rf /` does. They need not mean that, so only what
 * is never right is reported.
 */
export function judgeHiddenCommands({ name, args }: Invocation, mayRun: (name: string) => boolean, scope: Scope): void {
  let count = 0;
  for (let start = 0; start < args.length - 1; start++) {
    if (!mayRun(baseName(args[start]!.text)) || takesText.test(name)) continue;
    if (++count > maxCommands) throw new AnalysisLimitError("The command has too many parts.");
    judgeHidden(args.slice(start), scope);
  }
}

/** `op run -- CMD`: whatever a program does otherwise, what follows the dashes may be a command. */
export function judgeBehindDashes({ args }: Invocation, mayRun: (name: string) => boolean, scope: Scope): void {
  const start = args.findIndex(({ text }) => text === "--") + 1;
  if (start > 0 && start < args.length - 1 && mayRun(baseName(args[start]!.text)))
    judgeHidden(args.slice(start), scope);
}

function judgeHidden(words: readonly Text[], scope: Scope): void {
  const analysis = new Analysis(scope.analysis.context, scope.analysis);
  scope.interpreter.runCommand(words, deepen(scope, { analysis, state: scope.state.clone() }));
  for (const finding of analysis.findings)
    if (finding.tier === "critical" && finding.class !== "credential_change" && finding.class !== "shutdown")
      scope.analysis.report({ ...finding, command: scope.command });
}
