/** Expands words as bash does: tilde, braces, parameters, substitutions, arithmetic, field splitting. */
import { parse, type Command, type Word, type WordPart } from "unbash";
import { evaluateArithmetic } from "./arithmetic.ts";
import { deepen, type Scope } from "./analysis.ts";
import { expandBraces } from "./brace.ts";
import { combine, combineText } from "./combine.ts";
import { expandParameter, expandSimple, type Token } from "./parameters.ts";
import { substitute, substituteProcess } from "./substitute.ts";
import { concat, emptyText, known, limitOptions, origins, unknown, type Options, type Text } from "./text.ts";
import { getVariable } from "./variables.ts";

/** The fields that a word may become. */
export function expandWord(word: Word, scope: Scope): Options<readonly Text[]> {
  scope.analysis.step(0.25);
  if (!word.parts) return [[expandTilde(word.text, word.value, scope)]];
  if (word.parts.some((part) => part.type === "BraceExpansion")) return expandBraceWord(word, scope);
  return expandTokens(word.parts, scope).map((tokens) => splitFields(tokens, getSeparators(scope)));
}

/** A word that does not become several fields: the value of an assignment, the target of a redirection. */
export function expandToText(word: Word, scope: Scope): Options<Text> {
  scope.analysis.step(0.25);
  if (!word.parts) return [expandTilde(word.text, word.value, scope)];
  return joinTokens(expandTokens(word.parts, scope));
}

/** Text with expansions but without words: the body of a here-document. */
export function expandParts(parts: readonly WordPart[], scope: Scope): Options<Text> {
  return joinTokens(expandTokens(parts, scope, true));
}

/** Several words one after the other. */
export function expandWords(words: readonly Word[], scope: Scope): Options<readonly Text[]> {
  return combine(words.map((word) => expandWord(word, scope))).map((lists) => lists.flat());
}

function joinTokens(options: readonly (readonly Token[])[]): Options<Text> {
  return limitOptions(
    options.map((tokens) =>
      tokens.reduce((text, token) => concat(text, token.kind === "break" ? known(" ") : token.text), emptyText),
    ),
  );
}

function expandTokens(parts: readonly WordPart[], scope: Scope, isQuoted = false): Token[][] {
  scope.analysis.step(parts.length / 2);
  const options = parts.map((part, index) => expandPart(part, scope, isQuoted, index === 0));
  const rows = isQuoted ? combineText(options) : combine(options);
  return rows.map((lists) => lists.flat());
}

/** The possibilities of one part, each a list of tokens. */
function expandPart(part: WordPart, scope: Scope, isQuoted: boolean, isFirst: boolean): Token[][] {
  const kind = isQuoted ? "quoted" : "split";
  switch (part.type) {
    case "Literal": {
      const text = isFirst && !isQuoted ? expandTilde(part.text, part.value, scope) : known(part.value);
      return [[{ kind: isQuoted ? "quoted" : "plain", text }]];
    }
    case "Glob":
    case "ExtendedGlob":
    case "BraceExpansion":
      if (part.parts) expandTokens(part.parts, scope);
      return [[{ kind: "plain", text: known(part.text) }]];
    case "SingleQuoted":
    case "AnsiCQuoted":
      return [[{ kind: "quoted", text: known(part.value) }]];
    case "DoubleQuoted":
    case "LocaleString": {
      const inner = expandTokens(part.parts, scope, true);
      return inner.map((tokens) => (part.parts.length === 0 ? [{ kind: "quoted", text: emptyText }] : tokens));
    }
    case "SimpleExpansion":
      return expandSimple(part.text.slice(1), scope, isQuoted);
    case "ParameterExpansion":
      return expandParameter(part, scope, isQuoted, { expandToText });
    case "CommandExpansion":
      return substitute(part.script, scope).map((text) => [{ kind, text }]);
    case "ArithmeticExpansion":
      return [[{ kind, text: evaluateArithmetic(part.expression, scope, expandToTextParts) }]];
    case "ProcessSubstitution":
      return [[{ kind: "quoted", text: substituteProcess(part, scope) }]];
  }
}

const expandToTextParts = (parts: readonly WordPart[], scope: Scope) => joinTokens(expandTokens(parts, scope, true));

/** Bash expands braces in the source of a word, before it knows anything else about it. */
function expandBraceWord(word: Word, scope: Scope): Options<readonly Text[]> {
  const sources = expandBraces(word.text);
  if (!sources) return [[unknown(origins.counter)]];
  if (sources.length === 1 && sources[0] === word.text) return [[known(word.value)]];
  scope.analysis.step(sources.length / 4);
  const inner = deepen(scope);
  const fields = sources.map((source) => {
    if (source === "") return [[]];
    const command = parse(`: ${source}`).commands[0]?.command as Command | undefined;
    return expandWords(
      (command?.args ?? []).filter((argument) => argument.type === "Word"),
      inner,
    );
  });
  return combine<readonly Text[]>(fields).map((lists) => lists.flat());
}

function expandTilde(source: string, value: string, scope: Scope): Text {
  if (source[0] !== "~") return known(value);
  const { state, analysis } = scope;
  const match = /^~([^/]*)(.*)$/s.exec(value);
  if (!match) return known(value);
  const [, user = "", rest = ""] = match;
  const home = getVariable("HOME", state, analysis.context)[0]?.[0] ?? known(analysis.context.home);
  if (user === "" || analysis.context.home.endsWith(`/${user}`)) return concat(home, known(rest));
  if (user === "+") return known(state.directories[0]! + rest);
  if (user === "-") return concat(known(state.previousDirectory ?? unknown().text), known(rest));
  return known((user === "root" ? "/root" : `/home/${user}`) + rest);
}

function getSeparators(scope: Scope): string {
  return getVariable("IFS", scope.state, scope.analysis.context)
    .map((value) => value[0]?.text ?? " \t\n")
    .join("");
}

function splitFields(tokens: readonly Token[], separators: string): Text[] {
  const fields: Text[] = [];
  let field: Text | undefined;
  const end = () => {
    if (field) fields.push(field);
    field = undefined;
  };
  for (const token of tokens) {
    if (token.kind === "break") end();
    else if (token.kind !== "split") field = concat(field ?? emptyText, token.text);
    else {
      let rest = token.text.text;
      let part = "";
      const add = () => {
        if (part !== "") field = concat(field ?? emptyText, { text: part, origin: token.text.origin });
        part = "";
      };
      for (const char of rest) {
        if (!separators.includes(char)) part += char;
        else {
          add();
          end();
        }
      }
      add();
    }
  }
  end();
  return fields;
}
