/** Command and process substitutions. */
import type { ParsedScript, ProcessSubstitutionPart } from "unbash";
import { deepen, type Scope } from "./analysis.ts";
import { emptyText, known, limitOptions, unknown, type Options, type Text } from "./text.ts";

/** What `$(…)` may become. It runs in a shell of its own, so nothing that it sets remains. */
export function substitute(script: ParsedScript | undefined, scope: Scope): Options<Text> {
  if (!script) return [unknown()];
  const inner = deepen(scope, { state: scope.state.clone(), loop: undefined });
  const output = scope.interpreter.runScript(script, inner);
  return limitOptions(output.map((text) => ({ ...text, text: text.text.replace(/\n+$/, "") })));
}

/** `<(…)` becomes a path with the output of the script. `>(…)` reads what the command reads: it may write it there. */
export function substituteProcess(part: ProcessSubstitutionPart, scope: Scope): Text {
  const path = scope.analysis.createPipePath();
  if (!part.script) return known(path);
  if (part.operator === "<") {
    const inner = deepen(scope, { state: scope.state.clone(), loop: undefined });
    scope.state.files.set(path, scope.interpreter.runScript(part.script, inner));
  } else {
    scope.analysis.sinks.set(path, part.script);
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
    const inner = deepen(scope, { state: scope.state.clone(), stdin: limitOptions(stdin), loop: undefined });
    scope.interpreter.runScript(script, inner);
  }
}
