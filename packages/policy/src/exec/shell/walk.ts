/** Walks the tree of a script, branch by branch, as a shell would run it. */
import {
  type AndOr,
  type CommandNode,
  type CompoundCommand,
  type CompoundList,
  forEachChild,
  type ParsedScript,
  type Pipeline,
  type PipelineNode,
  type Redirected,
  type Statement,
  type SyntaxNode,
  type TestExpression,
} from "unbash";
import { evaluateArithmetic } from "./arithmetic.ts";
import { deepen, inSubshell, report, type Scope } from "./analysis.ts";
import { expandParts, expandToText } from "./expand.ts";
import { runFor, runLoop } from "./loops.ts";
import { runEmbedded } from "./parameters.ts";
import { applyRedirects, finishRedirects } from "./redirects.ts";
import { runSimpleCommand } from "./simple-command.ts";
import { concatOptions, emptyText, limitOptions, type Options, type Text } from "./text.ts";

const silent: Options<Text> = [emptyText];

export function runScript(script: ParsedScript, scope: Scope): Options<Text> {
  if (script.errors && script.errors.length > 0) {
    scope.analysis.hasSyntaxError = true;
    const message = script.errors[0]!.message;
    report({ ...scope, command: null }, "high", "opaque_exec", `The command is not valid shell code: ${message}.`);
  }
  return runStatements(script.commands, scope);
}

function runStatements(statements: readonly Statement[], scope: Scope): Options<Text> {
  let output = silent;
  for (const statement of statements) output = concatOptions(output, runStatement(statement, scope));
  return output;
}

function runStatement({ command, background }: Statement, scope: Scope): Options<Text> {
  if (!background) return runNode(command, scope);
  return inSubshell({ ...scope, backgrounds: scope.backgrounds + 1 }, (inner) => runNode(command, inner));
}

function runNode(node: PipelineNode | AndOr, scope: Scope): Options<Text> {
  if (node.type === "AndOr") return runAndOr(node, scope);
  if (node.type === "Pipeline") return runPipeline(node, scope);
  return runCommandNode(node, scope);
}

/** `a && b || c`: what follows may or may not run, so both outcomes are kept. */
function runAndOr({ commands, operators }: AndOr, scope: Scope): Options<Text> {
  const { state } = scope;
  let earlier = state.earlierDirectories;
  let output = runNode(commands[0]!, scope);
  const skipped = [];
  for (const [index, operator] of operators.entries()) {
    scope.analysis.step(16);
    const next = commands[index + 1]!;
    const isAfterChange = isNamed(commands[index]!, /^(?:cd|pushd)$/);
    if (operator === "&&") {
      if (isAfterChange) state.earlierDirectories = earlier;
      skipped.push(state.clone());
      earlier = state.earlierDirectories;
      output = concatOptions(output, [...silent, ...runNode(next, scope)]);
    } else {
      const succeeded = state.clone();
      if (isAfterChange) succeeded.earlierDirectories = earlier;
      state.merge(skipped.splice(0));
      const failed = state.clone();
      output = concatOptions(output, [...silent, ...runNode(next, scope)]);
      if (isNamed(next, /^(?:exit|return|break|continue)$/)) state.replaceBy(succeeded);
      else state.merge([failed]);
      earlier = state.earlierDirectories;
    }
  }
  state.merge(skipped);
  return output;
}

const isNamed = (node: PipelineNode, names: RegExp) =>
  node.type === "Command" && node.name !== undefined && names.test(node.name.value);

function runPipeline({ commands }: Pipeline, scope: Scope): Options<Text> {
  if (commands.length === 1) return runCommandNode(commands[0]!, scope);
  const pipeline = {};
  let stdin = scope.stdin;
  for (const command of commands) {
    const input = stdin;
    stdin = inSubshell(scope, (inner) => runCommandNode(command, { ...inner, stdin: input, pipeline }));
  }
  return stdin;
}

function runCommandNode(node: CommandNode, scope: Scope): Options<Text> {
  switch (node.type) {
    case "Command":
      return runSimpleCommand(node, scope);
    case "Redirected":
      return runRedirected(node, scope);
    case "Function":
      scope.state.functions.set(node.name.value, node.body);
      return silent;
    case "Coproc": {
      const { body } = node;
      return inSubshell({ ...scope, backgrounds: scope.backgrounds + 1 }, (inner) =>
        body.type === "CompoundList" ? runList(body, inner) : runCommandNode(body, inner),
      );
    }
    default:
      return runCompound(node, scope);
  }
}

const runList = (list: CompoundList, scope: Scope) => runStatements(list.commands, scope);

export function runBody(body: CompoundCommand | Redirected | CompoundList, scope: Scope): Options<Text> {
  if (body.type === "CompoundList") return runList(body, scope);
  return body.type === "Redirected" ? runRedirected(body, scope) : runCompound(body, scope);
}

function runRedirected({ command, redirects }: Redirected, scope: Scope): Options<Text> {
  const applied = applyRedirects(redirects, scope);
  const output = runCompound(command, { ...scope, stdin: applied.stdin ?? scope.stdin });
  return finishRedirects(applied, output, scope);
}

function runCompound(node: CompoundCommand, outer: Scope): Options<Text> {
  const scope = deepen(outer);
  switch (node.type) {
    case "Subshell":
      return inSubshell(scope, (inner) => runList(node.body, inner));
    case "BraceGroup":
      return runList(node.body, scope);
    case "If":
      return runIf(node, scope);
    case "For":
    case "Select":
      return runFor(node, scope, runList);
    case "While":
      return runLoop(node, scope, runList);
    case "ArithmeticFor":
      for (const part of [node.initialize, node.test, node.update]) evaluateArithmetic(part, scope, expandParts);
      return runLoop(node, scope, runList);
    case "Case": {
      expandToText(node.word, scope);
      const branches = node.items.map((item) => {
        for (const pattern of item.pattern) expandToText(pattern, scope);
        return (inner: Scope) => runList(item.body, inner);
      });
      return runBranches([...branches, () => silent], scope);
    }
    case "TestCommand":
      runTest(node.expression, scope);
      return silent;
    case "ArithmeticCommand":
      evaluateArithmetic(node.expression, scope, expandParts);
      return silent;
  }
}

function runIf(node: Extract<CompoundCommand, { type: "If" }>, scope: Scope): Options<Text> {
  const before = runList(node.clause, scope);
  const branches = [(inner: Scope) => runList(node.then, inner)];
  for (const elif of node.elif) {
    branches.push((inner) => concatOptions(runList(elif.clause, inner), runList(elif.then, inner)));
  }
  const { else: otherwise } = node;
  branches.push((inner) => (otherwise ? runList(otherwise, inner) : silent));
  return concatOptions(before, runBranches(branches, scope));
}

/** Each branch begins with the same state; afterwards any of them may have run. */
function runBranches(branches: readonly ((scope: Scope) => Options<Text>)[], scope: Scope): Options<Text> {
  const states = branches.map(() => scope.state.clone());
  const outputs = branches.flatMap((run, index) => run({ ...scope, state: states[index]! }));
  scope.state.replaceBy(states[0]!);
  scope.state.merge(states.slice(1));
  return limitOptions(outputs);
}

/** Comparing numbers evaluates arithmetic, which may run substitutions in an index. */
function runTest(node: TestExpression, scope: Scope): void {
  switch (node.type) {
    case "TestUnary":
      for (const text of expandToText(node.operand, scope)) if (node.operator === "-v") runEmbedded([text], scope);
      return;
    case "TestBinary":
      for (const text of [...expandToText(node.left, scope), ...expandToText(node.right, scope)]) {
        if (/^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator)) runEmbedded([text], scope);
      }
      return;
    case "TestLogical":
      for (const operand of node.operands) runTest(operand, scope);
      return;
    case "TestNot":
      runTest(node.operand, scope);
      return;
    case "TestGroup":
      runTest(node.expression, scope);
  }
}

/** Counts the nodes of a tree, without those inside of words that are only text. */
export function countNodes(script: ParsedScript, max: number): number {
  let count = 0;
  const visit = (node: SyntaxNode): void => {
    if (node.type === "Literal" || node.type === "SingleQuoted" || node.type === "Glob") return;
    if (++count <= max) forEachChild(node, visit);
  };
  visit(script);
  return count;
}
