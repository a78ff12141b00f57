/** Parameter expansion: `$x`, `${x:-y}`, `${x#y}`, `${x:0:1}` and the others. */
import type { ParameterExpansionPart, ParameterOperation, Word } from "unbash";
import { deepen, type Scope } from "./analysis.ts";
import { isCheapPattern, toRegExp } from "./pattern.ts";
import type { Value } from "./state.ts";
import { concat, emptyText, isKnown, joinOrigins, known, unknown, type Options, type Text } from "./text.ts";
import { getPositional, getVariable, isCertain } from "./variables.ts";

/** A piece of a word. `split` pieces come from unquoted expansions and may become several fields. */
export type Token = { kind: "quoted" | "plain" | "split"; text: Text } | { kind: "break" };

/** Given by the caller: words of operations are expanded too. */
interface Expander {
  expandToText(word: Word, scope: Scope): Options<Text>;
}

/** `$x`, `$1`, `$@` and the special ones. */
export function expandSimple(name: string, scope: Scope, isQuoted: boolean): Token[][] {
  return getValues(name, scope).map((value) => toTokens(value, name === "@" || name === "*" ? name : "0", isQuoted));
}

export function expandParameter(
  part: ParameterExpansionPart,
  scope: Scope,
  isQuoted: boolean,
  expander: Expander,
): Token[][] {
  const { operation } = part;
  const index = part.index ? (expander.expandToText(part.index, scope)[0] ?? emptyText) : undefined;
  if (index) runIndex(index, scope);
  if (part.prefix === "!" && operation?.type === "Names") return [[{ kind: "split", text: unknown() }]];
  const values = part.prefix === "!" ? getIndirect(part.parameter, scope) : getValues(part.parameter, scope);
  const list = part.parameter === "@" || part.parameter === "*" ? part.parameter : (index?.text ?? "0");
  if (part.prefix === "#") return values.map((value) => toTokens([toLength(value, list)], "0", isQuoted));
  return values.flatMap((value) => {
    const picked = pick(value, list);
    return operation
      ? operate(picked, operation, { part, scope, expander }).map((result) => toTokens(result, list, isQuoted))
      : [toTokens(picked, list, isQuoted)];
  });
}

function getValues(name: string, scope: Scope): Options<Value> {
  const { state, analysis } = scope;
  if (name === "@" || name === "*") return state.positional;
  if (/^[1-9]\d*$/.test(name)) return getPositional(Number(name), state);
  if (name === "#") return state.positional.map((values) => [toLength(values, "@")]);
  return getVariable(name, state, analysis.context);
}

/** `${!x}`: the variable whose name is in `x`. */
function getIndirect(name: string, scope: Scope): Options<Value> {
  return getValues(name, scope).flatMap((value) => {
    const target = value[0]?.text ?? "";
    runEmbedded(value.slice(0, 1), scope);
    return /^\w+$/.test(target) ? getValues(target, scope) : [[unknown(value[0]?.origin)]];
  });
}

const isList = (index: string) => index === "@" || index === "*";

/** The elements that an index selects: all of them for `@` and `*`. */
function pick(value: Value, index: string): Value {
  if (isList(index)) return value;
  if (/^-?\d+$/.test(index)) {
    const position = Number(index);
    const item = value.at(position);
    // An element that is not known may be several, so that the others move.
    const isMoved = !isCertain(position < 0 ? value : value.slice(0, position));
    return isMoved ? [unknown(joinOrigins(value))] : item ? [item] : [];
  }
  return value.length === 0 ? [] : [unknown(value.reduce((mask, item) => mask | item.origin, 0))];
}

function toLength(value: Value, index: string): Text {
  if (isList(index)) return isCertain(value) ? known(String(value.length)) : unknown();
  const item = value[0] ?? emptyText;
  return isKnown(item.text) ? known(String(item.text.length)) : unknown();
}

function toTokens(value: Value, index: string, isQuoted: boolean): Token[] {
  const kind = isQuoted ? "quoted" : "split";
  if (index === "*" && isQuoted) {
    const joined = value.reduce((text, item, at) => concat(at > 0 ? concat(text, known(" ")) : text, item), emptyText);
    return [{ kind, text: joined }];
  }
  if (!isList(index)) return value.length > 0 || isQuoted ? [{ kind, text: value[0] ?? emptyText }] : [];
  return value.flatMap((text, at): Token[] => (at === 0 ? [{ kind, text }] : [{ kind: "break" }, { kind, text }]));
}

interface Operands {
  part: ParameterExpansionPart;
  scope: Scope;
  expander: Expander;
}

function operate(value: Value, operation: ParameterOperation, operands: Operands): Options<Value> {
  const { scope, expander } = operands;
  const expand = (word: Word) => expander.expandToText(word, scope);
  const first = (word: Word) => expand(word)[0] ?? emptyText;
  switch (operation.type) {
    case "Default":
      return operateDefault(value, operation.operator, expand(operation.operand), operands);
    case "Remove": {
      const pattern = first(operation.operand);
      return [mapPattern(value, pattern, [], (text) => removeMatch(text, pattern.text, operation.operator))];
    }
    case "Replace": {
      const [pattern, replacement] = [first(operation.pattern), first(operation.replacement)];
      return [
        mapPattern(value, pattern, [replacement], (text) =>
          replaceMatch(text, pattern.text, replacement.text, operation.operator),
        ),
      ];
    }
    case "Slice": {
      const offset = Number(first(operation.offset).text.trim());
      const length = operation.length ? Number(first(operation.length).text.trim()) : undefined;
      if (isList(operands.part.parameter) || operands.part.index) return [sliceList(value, offset, length, operands)];
      return [mapKnown(value, [], (text) => sliceText(text, offset, length))];
    }
    case "CaseModification":
      return [mapKnown(value, [], (text) => changeCase(text, operation.operator))];
    case "Transform": {
      // `@P` evaluates substitutions in the value of the variable.
      if (first(operation.operand).text === "P") runEmbedded(value, scope);
      return [value.map((item) => unknown(item.origin))];
    }
    case "Names":
    case "Unknown":
      return [[unknown()]];
  }
}

function operateDefault(
  value: Value,
  operator: string,
  operand: Options<Text>,
  { part, scope }: Operands,
): Options<Value> {
  const isSet = value.length > 0 && !(operator.startsWith(":") && value.every((item) => item.text === ""));
  const replacements = operand.map((text) => [text]);
  switch (operator.at(-1)) {
    case "-":
      return isSet && !isFromEnvironment(value, part, scope) ? [value] : replacements;
    case "=":
      if (!isSet) scope.state.set(part.parameter, replacements);
      return isSet ? [value] : replacements;
    case "+":
      return isSet ? replacements : [[]];
    default:
      return [isSet ? value : [unknown()]];
  }
}

/** A variable that nothing sets is most likely not set at all, so a default applies. */
const isFromEnvironment = (value: Value, part: ParameterExpansionPart, scope: Scope) =>
  value.length === 1 &&
  value[0]!.text === unknown().text &&
  value[0]!.origin === 0 &&
  !scope.state.variables.has(part.parameter);

/** An index of an array is computed: also the text of a variable that it names. */
export function runIndex(index: Text, scope: Scope): void {
  runEmbedded([index], scope);
  if (/^[a-zA-Z_]\w*$/.test(index.text)) for (const value of getValues(index.text, scope)) runEmbedded(value, scope);
}

/** Substitutions in the text of a variable, which some expansions evaluate. */
export function runEmbedded(value: Value, scope: Scope): void {
  for (const item of value) {
    if (!/\$\(|`|\$\{/.test(item.text)) continue;
    scope.interpreter.runText({ ...item, text: `: "${item.text.replaceAll('"', '\\"')}"` }, deepen(scope));
  }
}

const mapKnown = (value: Value, others: readonly Text[], map: (text: string) => string): Value =>
  value.map((item) =>
    isKnown(item.text) && others.every((other) => isKnown(other.text))
      ? known(map(item.text), item.origin)
      : unknown(item.origin | others.reduce((mask, other) => mask | other.origin, 0)),
  );

const mapPattern = (value: Value, pattern: Text, others: readonly Text[], map: (text: string) => string): Value =>
  value.every((item) => isCheapPattern(pattern.text, item.text))
    ? mapKnown(value, [pattern, ...others], map)
    : value.map((item) => unknown(item.origin | pattern.origin));

function removeMatch(text: string, pattern: string, operator: string): string {
  const match = toRegExp(pattern);
  const isGreedy = operator.length === 2;
  const isPrefix = operator.startsWith("#");
  const lengths = Array.from({ length: text.length + 1 }, (_, index) => index).slice(0, 4_096);
  for (const length of isGreedy ? lengths.toReversed() : lengths) {
    const part = isPrefix ? text.slice(0, length) : text.slice(text.length - length);
    if (match.test(part)) return isPrefix ? text.slice(length) : text.slice(0, text.length - length);
  }
  return text;
}

function replaceMatch(text: string, pattern: string, replacement: string, operator: string): string {
  if (pattern === "") return text;
  const body = toRegExp(pattern).source.slice(1, -1);
  const source = operator === "/#" ? `^(?:${body})` : operator === "/%" ? `(?:${body})$` : body;
  return text.replace(new RegExp(source, operator === "//" ? "gs" : "s"), () => replacement);
}

function sliceText(text: string, offset: number, length: number | undefined): string {
  const start = offset < 0 ? Math.max(text.length + offset, 0) : offset;
  if (length === undefined) return text.slice(start);
  return length < 0 ? text.slice(start, text.length + length) : text.slice(start, start + length);
}

function sliceList(value: Value, offset: number, length: number | undefined, { part }: Operands): Value {
  // `${@:1}` counts from one, since `$0` comes first.
  if (!isCertain(value) || !Number.isInteger(offset)) return [unknown(joinOrigins(value))];
  const start = isList(part.parameter) && offset > 0 ? offset - 1 : offset;
  return length === undefined ? value.slice(start) : value.slice(start, start + length);
}

function changeCase(text: string, operator: string): string {
  const change = operator.startsWith("^") ? (part: string) => part.toUpperCase() : (part: string) => part.toLowerCase();
  return operator.length === 2 ? change(text) : change(text.slice(0, 1)) + text.slice(1);
}
