/** Arithmetic: constants are computed, and every substitution inside is walked. */
import type { ArithmeticBinary, ArithmeticExpression, ArithmeticUnary, WordPart } from "unbash";
import type { Scope } from "./analysis.ts";
import { runEmbedded } from "./parameters.ts";
import { substitute } from "./substitute.ts";
import { isKnown, known, origins, unknown, type Options, type Text } from "./text.ts";
import { getVariable } from "./variables.ts";

type ExpandParts = (parts: readonly WordPart[], scope: Scope) => Options<Text>;

export function evaluateArithmetic(
  expression: ArithmeticExpression | undefined,
  scope: Scope,
  expandParts: ExpandParts,
): Text {
  const result = expression ? evaluate(expression, scope, expandParts) : undefined;
  return result === undefined || !Number.isSafeInteger(result) ? unknown(origins.counter) : known(String(result));
}

/** Undefined where the value is not known. */
function evaluate(node: ArithmeticExpression, scope: Scope, expandParts: ExpandParts): number | undefined {
  const next = (inner: ArithmeticExpression) => evaluate(inner, scope, expandParts);
  switch (node.type) {
    case "ArithmeticGroup":
      return next(node.expression);
    case "ArithmeticTernary": {
      const [test, yes, no] = [next(node.test), next(node.consequent), next(node.alternate)];
      return test === undefined ? undefined : test === 0 ? no : yes;
    }
    case "ArithmeticUnary": {
      if (isStep.test(node.operator)) {
        forget(node.operand, scope);
        return undefined;
      }
      const value = next(node.operand);
      if (value === undefined) return undefined;
      return node.operator === "-"
        ? -value
        : node.operator === "!"
          ? Number(value === 0)
          : node.operator === "~"
            ? ~value
            : value;
    }
    case "ArithmeticBinary": {
      const [left, right] = [next(node.left), next(node.right)];
      if (isAssigning.test(node.operator)) forget(node.left, scope);
      return left === undefined || right === undefined ? undefined : compute(node.operator, left, right);
    }
    case "ArithmeticCommandExpansion":
      return toNumber(substitute(node.script, scope)[0]?.text ?? "");
    case "ArithmeticWord": {
      const text = node.parts ? (expandParts(node.parts, scope)[0]?.text ?? "") : node.value;
      return isKnown(text) ? toVariableNumber(text.trim(), scope) : undefined;
    }
  }
}

/** A variable that arithmetic changes is not known any more. In most cases it counts. */
function forget(node: ArithmeticExpression, scope: Scope): void {
  const name = findName(node);
  if (name !== undefined) scope.state.set(name, [[unknown(origins.counter)]]);
}

const findName = (node: ArithmeticExpression): string | undefined =>
  node.type === "ArithmeticWord" ? /^\w+/.exec(node.value)?.[0] : undefined;

/** The variable that `i++` or `i += 1` changes. */
export function findChanged(node: ArithmeticUnary | ArithmeticBinary): string | undefined {
  if (node.type === "ArithmeticUnary") return isStep.test(node.operator) ? findName(node.operand) : undefined;
  return isAssigning.test(node.operator) ? findName(node.left) : undefined;
}

const isStep = /^(?:\+\+|--)$/;
const isAssigning = /^(?:[-+*/%&|^]|<<|>>)?=$/;

function toVariableNumber(text: string, scope: Scope): number | undefined {
  if (!/^[A-Za-z_]\w*$/.test(text)) return toNumber(text);
  const values = getVariable(text, scope.state, scope.analysis.context);
  // The value of a variable is an expression too, and it may have substitutions in an index.
  for (const value of values) runEmbedded(value, scope);
  return values.length === 1 ? toNumber(values[0]?.[0]?.text ?? "0") : undefined;
}

function toNumber(text: string): number | undefined {
  if (/^-?(?:0|[1-9]\d*)$/.test(text)) return Number(text);
  if (/^0[0-7]+$/.test(text)) return Number.parseInt(text, 8);
  if (/^0[xX][\da-fA-F]+$/.test(text)) return Number.parseInt(text, 16);
  const based = /^(\d+)#(\w+)$/.exec(text);
  const base = Number(based?.[1]);
  return based && base >= 2 && base <= 36 ? Number.parseInt(based[2]!, base) : undefined;
}

function compute(operator: string, left: number, right: number): number | undefined {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      return right === 0 ? undefined : Math.trunc(left / right);
    case "%":
      return right === 0 ? undefined : left % right;
    case "**":
      return left ** right;
    case "<<":
      return left << right;
    case ">>":
      return left >> right;
    case "&":
      return left & right;
    case "|":
      return left | right;
    case "^":
      return left ^ right;
    case ",":
      return right;
    case "<":
      return Number(left < right);
    case ">":
      return Number(left > right);
    case "<=":
      return Number(left <= right);
    case ">=":
      return Number(left >= right);
    case "==":
      return Number(left === right);
    case "!=":
      return Number(left !== right);
    case "&&":
      return Number(left !== 0 && right !== 0);
    case "||":
      return Number(left !== 0 || right !== 0);
    default:
      return undefined;
  }
}
