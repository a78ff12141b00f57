/** Evaluates expressions, with a parser of its own. Pure. */
import {
  add,
  CalcError,
  compare,
  divide,
  floor,
  formatDecimal,
  limitWork,
  multiply,
  negate,
  parseNumber,
  power,
  type Rational,
  remainder,
  round,
} from "./rational.ts";
import { baseUnit, type Dimension, findUnit, type Unit } from "./units.ts";

/** A number with the powers of its dimensions: bytes per second are `{ bytes: 1, time: -1 }`. */
interface Quantity {
  readonly value: Rational;
  readonly powers: Readonly<Record<Dimension, number>>;
}

const maxLength = 2_000;
const maxDepth = 100;
const maxUnitPower = 100;
const dimensions: readonly Dimension[] = ["bytes", "time"];
const none = { bytes: 0, time: 0 };

type Token = { readonly kind: "number" | "name" | "sign"; readonly text: string };

const tokens =
  /\s*(?:(?<number>0[xX][\da-fA-F][\da-fA-F_]*|0[oO][0-7][0-7_]*|0[bB][01][01_]*|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?)|(?<name>[A-Za-zµμ]+)|(?<sign>\*\*|[-+*/%^(),]))/uy;

function tokenize(expression: string): Token[] {
  const list: Token[] = [];
  tokens.lastIndex = 0;
  const end = expression.trimEnd().length;
  while (tokens.lastIndex < end) {
    const start = tokens.lastIndex;
    const { number, name, sign } = tokens.exec(expression)?.groups ?? {};
    if (number !== undefined) list.push({ kind: "number", text: number });
    else if (name !== undefined) list.push({ kind: "name", text: name });
    else if (sign !== undefined) list.push({ kind: "sign", text: sign });
    else throw new CalcError(`${JSON.stringify(expression.slice(start).trim()[0])} cannot be read.`);
  }
  return list;
}

/** Returns the result as text: exact, or marked with ≈. Throws a `CalcError` that says what is wrong. */
export function evaluate(expression: string): string {
  if (expression.length > maxLength) throw new CalcError(`An expression may have ${maxLength} characters at most.`);
  const parser = new Parser(tokenize(expression));
  return limitWork(() => {
    const quantity = parser.parseSum();
    const target = parser.parseTarget();
    parser.mustEnd();
    return format(quantity, target);
  });
}

class Parser {
  readonly #tokens: readonly Token[];
  #index = 0;
  #depth = 0;

  constructor(list: readonly Token[]) {
    this.#tokens = list;
  }

  parseSum(): Quantity {
    if (++this.#depth > maxDepth) throw new CalcError("The expression is nested too deeply.");
    let left = this.#parseProduct();
    for (let sign = this.#take("+", "-"); sign; sign = this.#take("+", "-")) {
      const right = this.#parseProduct();
      left = addQuantities(left, sign === "+" ? right : negateQuantity(right));
    }
    this.#depth--;
    return left;
  }

  /** The unit after `in` or `to`. */
  parseTarget(): Unit | undefined {
    const token = this.#tokens[this.#index];
    if (token?.kind !== "name" || (token.text !== "in" && token.text !== "to")) return undefined;
    this.#index++;
    const name = this.#tokens[this.#index++]?.text ?? "";
    const unit = findUnit(name);
    if (!unit) throw new CalcError(`There is no unit ${JSON.stringify(name)}.`);
    return unit;
  }

  mustEnd(): void {
    const token = this.#tokens[this.#index];
    if (token) throw new CalcError(`${JSON.stringify(token.text)} is not expected there.`);
  }

  #parseProduct(): Quantity {
    let left = this.#parseSigned();
    for (let sign = this.#take("*", "/", "%"); sign; sign = this.#take("*", "/", "%")) {
      const right = this.#parseSigned();
      if (sign === "%") left = withValue(mustMatch(left, right), remainder(left.value, right.value));
      else left = sign === "*" ? multiplyQuantities(left, right, 1) : multiplyQuantities(left, right, -1);
    }
    return left;
  }

  #parseSigned(): Quantity {
    let isNegative = false;
    for (let sign = this.#take("+", "-"); sign; sign = this.#take("+", "-")) if (sign === "-") isNegative = !isNegative;
    const value = this.#parsePower();
    return isNegative ? negateQuantity(value) : value;
  }

  #parsePower(): Quantity {
    const base = this.#parseQuantity();
    if (!this.#take("^", "**")) return base;
    if (++this.#depth > maxDepth) throw new CalcError("The expression is nested too deeply.");
    const exponent = this.#parseSigned();
    this.#depth--;
    if (!isPlain(exponent)) throw new CalcError("An exponent has no unit.");
    const value = power(base.value, exponent.value);
    const times = Number(exponent.value.numerator);
    const powers = { bytes: base.powers.bytes * times, time: base.powers.time * times };
    if (dimensions.some((dimension) => Math.abs(powers[dimension]) > maxUnitPower))
      throw new CalcError(`A unit may be raised to the power of ${maxUnitPower} at most.`);
    return { value, powers };
  }

  /** Quantities that follow each other are added: `1h 30min`. */
  #parseQuantity(): Quantity {
    let quantity = this.#parseWithUnit();
    while (!isPlain(quantity) && this.#tokens[this.#index]?.kind === "number")
      quantity = addQuantities(quantity, this.#parseWithUnit());
    return quantity;
  }

  #parseWithUnit(): Quantity {
    let quantity = this.#parsePrimary();
    const unit = this.#takeUnit();
    if (unit)
      quantity = multiplyQuantities(quantity, { value: unit.size, powers: { ...none, [unit.dimension]: 1 } }, 1);
    return quantity;
  }

  #takeUnit(): Unit | undefined {
    const token = this.#tokens[this.#index];
    const unit = token?.kind === "name" ? findUnit(token.text) : undefined;
    if (unit) this.#index++;
    return unit;
  }

  #parsePrimary(): Quantity {
    const token = this.#tokens[this.#index++];
    if (!token) throw new CalcError("The expression ends too early.");
    if (token.kind === "number") return { value: parseNumber(token.text), powers: none };
    if (token.kind === "name") return this.#parseCall(token.text);
    if (token.text !== "(") throw new CalcError(`${JSON.stringify(token.text)} is not expected there.`);
    const value = this.parseSum();
    this.#mustTake(")");
    return value;
  }

  #parseCall(name: string): Quantity {
    const call = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (!call) throw new CalcError(`${JSON.stringify(name)} is neither a function nor a unit after a number.`);
    this.#mustTake("(");
    const args = [this.parseSum()];
    while (this.#take(",")) args.push(this.parseSum());
    this.#mustTake(")");
    return call(args);
  }

  #take(...signs: readonly string[]): string | undefined {
    const token = this.#tokens[this.#index];
    if (token?.kind !== "sign" || !signs.includes(token.text)) return undefined;
    this.#index++;
    return token.text;
  }

  #mustTake(sign: string): void {
    if (!this.#take(sign)) throw new CalcError(`${JSON.stringify(sign)} is missing.`);
  }
}

type CalcFunction = (args: readonly Quantity[]) => Quantity;

const onValue =
  (change: (value: Rational) => Rational): CalcFunction =>
  ([value, ...rest]) => {
    if (rest.length > 0) throw new CalcError("The function has one argument.");
    return withValue(value!, change(value!.value));
  };

const pick =
  (sign: 1 | -1): CalcFunction =>
  (args) =>
    args.reduce((best, next) => (compare(mustMatch(next, best).value, best.value) === sign ? next : best));

const functions: Readonly<Record<string, CalcFunction>> = {
  abs: onValue((value) => (value.numerator < 0n ? negate(value) : value)),
  floor: onValue(floor),
  ceil: onValue((value) => negate(floor(negate(value)))),
  round: onValue(round),
  max: pick(1),
  min: pick(-1),
};

const isPlain = ({ powers }: Quantity): boolean => dimensions.every((dimension) => powers[dimension] === 0);

const withValue = ({ powers }: Quantity, value: Rational): Quantity => ({ value, powers });

const negateQuantity = (quantity: Quantity): Quantity => withValue(quantity, negate(quantity.value));

function mustMatch(a: Quantity, b: Quantity): Quantity {
  if (dimensions.every((dimension) => a.powers[dimension] === b.powers[dimension])) return a;
  throw new CalcError(`${describePowers(a)} and ${describePowers(b)} cannot be combined.`);
}

const addQuantities = (a: Quantity, b: Quantity): Quantity => withValue(mustMatch(a, b), add(a.value, b.value));

const multiplyQuantities = (a: Quantity, b: Quantity, sign: 1 | -1): Quantity => ({
  value: sign === 1 ? multiply(a.value, b.value) : divide(a.value, b.value),
  powers: { bytes: a.powers.bytes + sign * b.powers.bytes, time: a.powers.time + sign * b.powers.time },
});

const describePowers = (quantity: Quantity): string =>
  isPlain(quantity) ? "a plain number" : `a value in ${unitsOf(quantity)}`;

/** `B/s`, `B^2`, `1/s`. */
function unitsOf({ powers }: Quantity): string {
  const write = (sign: 1 | -1) =>
    dimensions
      .filter((dimension) => powers[dimension] * sign > 0)
      .map((dimension) => baseUnit[dimension] + (powers[dimension] * sign > 1 ? `^${powers[dimension] * sign}` : ""))
      .join(" ");
  const below = write(-1);
  return `${write(1) || (below ? "1" : "")}${below ? `/${below}` : ""}`;
}

function format(quantity: Quantity, target: Unit | undefined): string {
  if (target) {
    const own = { value: target.size, powers: { ...none, [target.dimension]: 1 } };
    mustMatch(quantity, own);
    return `${formatNumber(divide(quantity.value, target.size))} ${target.name}`;
  }
  const unit = unitsOf(quantity);
  return `${formatNumber(quantity.value)}${unit === "" ? "" : ` ${unit}`}`;
}

function formatNumber(value: Rational): string {
  const { text, isExact } = formatDecimal(value);
  return isExact ? text : `${value.numerator}/${value.denominator} ≈ ${text}`;
}
