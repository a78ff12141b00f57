/** Command and process substitutions. */
import type { ParsedScript, ProcessSubstitutionPart } from "unbash";
import { deepen, inSubshell, type Scope } from "./analysis.ts";
import { emptyText, known, limitOptions, unknown, type Options, type Text } from "./text.ts";

/** Returns the texts that `$(…)` may become. It runs in a shell of its own, so nothing that it sets remains. */
export function substitute(script: ParsedScript | undefined, scope: Scope): Options<Text> {
  if (!script) return [unknown()];
  const output = inSubshell(deepen(scope), (inner) => inner.interpreter.runScript(script, inner));
  return limitOptions(output.map((text) => ({ ...text, text: text.text.replace(/\n+$/, "") })));
}

/** `<(…)` becomes a path with the output of the script. `>(…)` reads what the command reads: it may write it there. */
export function substituteProcess(part: ProcessSubstitutionPart, scope: Scope): Text {
  const path = scope.analysis.createPipePath();
  const { script } = part;
  if (!script) return known(path);
  if (part.operator === "<") {
    const output = inSubshell(deepen(scope), (inner) => inner.interpreter.runScript(script, inner));
    scope.state.files.set(path, output);
  } else {
    scope.analysis.sinks.set(path, script);
  }
  return known(path);
}

/** Runs the scripts that received the output of a command through `>(…)`. */
export function runSinks(paths: readonly string[], input: Options<Text>, scope: Scope): void {
  for (const path of paths) {
    const script = scope.analysis.sinks.get(path);
    if (!script) continue;
    scope.analysis.sinks.delete(path);
    const stdin = input.length > 0 ? input : [emptyText];
    const outer = deepen(scope, { stdin: limitOptions(stdin) });
    inSubshell(outer, (inner) => inner.interpreter.runScript(script, inner));
  }
}
