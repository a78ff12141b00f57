/** Loops: over known words each round is walked, otherwise one round that may be any. */
import {
  type ArithmeticFor,
  type Assignment,
  type CompoundList,
  type For,
  forEachChild,
  type Select,
  type SyntaxNode,
  type While,
} from "unbash";
import { deepen, report, type Scope } from "./analysis.ts";
import { findChanged } from "./arithmetic.ts";
import { expandWords } from "./expand.ts";
import {
  concatOptions,
  emptyText,
  joinOrigins,
  limitOptions,
  origins,
  unknown,
  type Options,
  type Text,
} from "./text.ts";

type RunList = (list: CompoundList, scope: Scope) => Options<Text>;

const silent: Options<Text> = [emptyText];
const maxRounds = 24;

export function runFor(node: For | Select, scope: Scope, runList: RunList): Options<Text> {
  const lists = node.wordlist ? expandWords(node.wordlist, scope) : scope.state.positional;
  const outputs: Text[] = [];
  for (const list of lists) {
    const exits = scope.state.clone();
    const loop = [exits];
    const inner = deepen(scope, { loop });
    const rounds = node.type === "Select" || list.length > maxRounds ? [list] : list.map((text) => [text]);
    let output = silent;
    for (const round of rounds) {
      scope.state.set(node.name.value, round.length === 0 ? [[]] : round.map((text) => [text]));
      output = concatOptions(output, runList(node.body, inner));
    }
    scope.state.merge(loop.length > 1 || rounds.length === 0 ? loop : []);
    outputs.push(...output);
  }
  return limitOptions(outputs);
}

export function runLoop(node: While | ArithmeticFor, scope: Scope, runList: RunList): Options<Text> {
  const loop = [scope.state.clone()];
  const inner = deepen(scope, { loop });
  for (const [name, origin] of findAssigned(node.body)) {
    const values = scope.state.variables.get(name) ?? [[]];
    scope.state.set(name, [...values, [unknown(joinOrigins(values.flat()) | origin)]]);
  }
  const isEndless = node.type === "While" ? isAlways(node) : node.test === undefined;
  if (isEndless && startsEndlessly(node.body)) {
    report({ ...scope, command: null }, "critical", "fork_bomb", "An endless loop starts processes without waiting.");
  }
  const condition = node.type === "While" ? runList(node.clause, inner) : silent;
  const body = runList(node.body, inner);
  scope.state.merge(loop);
  const output = concatOptions(condition, body);
  if (output.every((text) => text.text === "")) return output;
  return limitOptions([...output, emptyText, unknown(joinOrigins(output))]);
}

/** Names that the body of a loop assigns, so that they differ from round to round, and whether it counts with them. */
function findAssigned(body: CompoundList): Map<string, number> {
  const names = new Map<string, number>();
  const visit = (node: SyntaxNode): void => {
    if (node.type === "Assignment") names.set(node.name, isCalculated(node) ? origins.counter : 0);
    else if (node.type === "ArithmeticUnary" || node.type === "ArithmeticBinary") {
      const name = findChanged(node);
      if (name !== undefined) names.set(name, origins.counter);
    }
    forEachChild(node, visit);
  };
  visit(body);
  return names;
}

/** `i=$((i + 1))`. */
const isCalculated = ({ value }: Assignment): boolean =>
  value?.type === "Word" && (value.parts?.some(({ type }) => type === "ArithmeticExpansion") ?? false);

function isAlways({ kind, clause }: While): boolean {
  const last = clause.commands.at(-1)?.command;
  if (last?.type === "ArithmeticCommand") return /^\s*[1-9]\d*\s*$/.test(last.body) === (kind === "while");
  if (last?.type !== "Command") return false;
  const text = [last.name?.value, ...last.args.map((word) => (word.type === "Word" ? word.value : ""))].join(" ");
  return kind === "while" ? /^(?:true|:|\[ 1 \]|test 1|yes)$/.test(text) : /^(?:false)$/.test(text);
}

/** Whether each round leaves a process behind at once. */
function startsEndlessly(body: CompoundList): boolean {
  let starts = false;
  let waits = false;
  for (const { command, background } of body.commands) {
    if (background) starts = true;
    else if (command.type === "Command" && /^(?:sleep|wait|read|inotifywait|break)$/.test(command.name?.value ?? ""))
      waits = true;
    else if (command.type !== "Command") waits ||= command.type !== "BraceGroup";
  }
  return starts && !waits;
}
