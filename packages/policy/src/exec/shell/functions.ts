/** Calls of functions, and functions that start themselves again and again. */
import type { CompoundCommand, CompoundList, Redirected } from "unbash";
import { deepen, report, type Scope } from "./analysis.ts";
import { emptyText, type Options, type Text } from "./text.ts";
import { runBody } from "./walk.ts";

export function callFunction(
  name: string,
  body: CompoundCommand | Redirected | CompoundList,
  args: readonly Text[],
  scope: Scope,
): Options<Text> {
  scope.analysis.calledFunctions.add(body);
  if (detectRecursion(name, scope)) return [emptyText];
  const { state } = scope;
  const positional = state.positional;
  const returns: (typeof state)[] = [];
  state.positional = [args];
  const call = { name, returns, recursions: new Map(), pipeline: scope.pipeline, backgrounds: scope.backgrounds };
  const output = runBody(body, deepen(scope, { calls: [...scope.calls, call], loop: undefined }));
  state.merge(returns);
  state.positional = positional;
  return output;
}

/** A function that calls itself in the background, or twice in one pipeline, multiplies without end. */
export function detectRecursion(name: string, scope: Scope): boolean {
  const outer = scope.calls.findLast((call) => call.name === name);
  if (!outer) return false;
  const count = (outer.recursions.get(scope.pipeline) ?? 0) + 1;
  outer.recursions.set(scope.pipeline, count);
  const multiplies = scope.backgrounds > outer.backgrounds || (scope.pipeline !== outer.pipeline && count > 1);
  if (multiplies) {
    report({ ...scope, command: null }, "critical", "fork_bomb", `${name} starts itself again and again.`);
  }
  return true;
}
