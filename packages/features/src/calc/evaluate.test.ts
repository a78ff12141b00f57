import fc from "fast-check";
import { expect, test } from "vitest";
import { evaluate } from "./evaluate.ts";

test.each([
  ["1 + 2 * 3", "7"],
  ["0.1 + 0.2", "0.3"],
  ["2 ^ 100", "1267650600228229401496703205376"],
  ["2 ^ -2", "0.25"],
  ["2 ** 3 ^ 2", "512"],
  ["-2 ^ 2", "-4"],
  ["(-2) ^ 2", "4"],
  ["- -3", "3"],
  ["1 / 3", "1/3 ≈ 0.333333333333333333333333333333"],
  ["1 / 8", "0.125"],
  ["7 % 3", "1"],
  ["-7 % 3", "2"],
  ["5.5 % 2", "1.5"],
  ["1_000 * 0xff + 0b11 + 0o7", "255010"],
  ["1.5e3", "1500"],
  ["1e-3", "0.001"],
  [".5", "0.5"],
  ["floor(-1.5) + ceil(1.2) + round(2.5) + round(-2.5) + abs(-4)", "4"],
  ["max(1, 3, 2) - min(4, 2)", "1"],
  ["2 GiB in MB", "2147.483648 MB"],
  ["3 MB + 500 kB", "3500000 B"],
  ["1h 30min in s", "5400 s"],
  ["1h 30min", "5400 s"],
  ["1 GB / 8 s", "125000000 B/s"],
  ["10 MB / (5 MB / 1 s)", "2 s"],
  ["250 ms * 4", "1 s"],
  ["90 min to h", "1.5 h"],
  ["1 GiB / 1 MiB", "1024"],
  ["(1 + 2) kB", "3000 B"],
  ["1 / (2 s)", "0.5 1/s"],
])("%s is %s", (expression, result) => {
  expect(evaluate(expression)).toBe(result);
});

test.each([
  ["", /ends too early/],
  ["1 +", /ends too early/],
  ["1 2", /not expected/],
  ["(1", /"\)" is missing/],
  ["1 / 0", /Division by zero/],
  ["1 % 0", /Division by zero/],
  ["0 ^ -1", /Division by zero/],
  ["2 ^ 0.5", /whole number/],
  ["2 ^ 100001", /exponent may be/],
  ["9999999 ^ 9999", /more than 10000 digits/],
  ["1 s + 1 B", /cannot be combined/],
  ["1 s + 1", /cannot be combined/],
  ["1 s in MB", /cannot be combined/],
  ["1 in parsec", /no unit/],
  ["2 ^ (1 s)", /has no unit/],
  ["process(1)", /neither a function/],
  ["constructor(1)", /neither a function/],
  ["1; 2", /";" cannot be read/],
  ["1e99999", /too large/],
  [`${"(".repeat(200)}1${")".repeat(200)}`, /nested too deeply/],
  [`1${" ^ 1".repeat(200)}`, /nested too deeply/],
  ["1".repeat(3_000), /2000 characters/],
  [`1/3^3000${"+1/7^3000".repeat(200)}`, /too large to be calculated exactly/],
  [`1/(9^3000+1)${"+1/(7^3000/3^3000+2)".repeat(50)}`, /too large to be calculated exactly/],
  ["(1 s) ^ 101", /power of 100 at most/],
  ["((((1 s) ^ 90) ^ 90) ^ 90) ^ 90", /power of 100 at most/],
  ["0x", /not expected/],
  ["0x_", /cannot be read|not expected/],
])("%j fails", (expression, message) => {
  expect(() => evaluate(expression)).toThrow(message);
});

test("an expression that was refused leaves nothing behind for the next", () => {
  expect(() => evaluate(`1/3^3000${"+1/7^3000".repeat(200)}`)).toThrow("too large");
  expect(evaluate("1/3 + 1/6")).toBe("0.5");
});

interface Exact {
  readonly text: string;
  readonly numerator: bigint;
  readonly denominator: bigint;
}

const whole = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
const leaf = whole.map((value): Exact => ({ text: `(${value})`, numerator: value, denominator: 1n }));
const decimal = fc.tuple(whole, fc.integer({ min: 1, max: 12 })).map(([value, places]): Exact => {
  const digits = (value < 0n ? -value : value).toString().padStart(places + 1, "0");
  const text = `${digits.slice(0, -places)}.${digits.slice(-places)}`;
  return { text: `(${value < 0n ? "-" : ""}${text})`, numerator: value, denominator: 10n ** BigInt(places) };
});

const { tree } = fc.letrec<{ tree: Exact }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    leaf,
    decimal,
    fc
      .tuple(tie("tree"), fc.constantFrom("+", "-", "*", "/"), tie("tree"))
      .map(([a, sign, b]): Exact => combine(a, sign, b)),
  ),
}));

function combine(a: Exact, sign: string, b: Exact): Exact {
  const text = `(${a.text} ${sign} ${b.text})`;
  const [n, d] = [b.numerator, b.denominator];
  if (sign === "*") return { text, numerator: a.numerator * n, denominator: a.denominator * d };
  if (sign === "/") return { text, numerator: a.numerator * d, denominator: a.denominator * n };
  return {
    text,
    numerator: a.numerator * d + (sign === "+" ? n : -n) * a.denominator,
    denominator: a.denominator * d,
  };
}

test("results are those of whole numbers of any size", () => {
  fc.assert(
    fc.property(tree, ({ text, numerator, denominator }) => {
      if (denominator === 0n || /\/ \(?\(?0\)/.test(text)) return;
      let result: string;
      try {
        result = evaluate(text);
      } catch (error) {
        // A zero inside may be divided by, although the fraction above hides it.
        expect((error as Error).message).toMatch(/Division by zero|2000 characters/);
        return;
      }
      const [exact] = result.split(" ≈ ");
      const [top, bottom = "1"] = exact!.split("/");
      const [wholePart, fraction = ""] = top!.split(".");
      const value = BigInt(`${wholePart}${fraction}`);
      expect(value * denominator).toBe(numerator * BigInt(bottom) * 10n ** BigInt(fraction.length));
    }),
    { numRuns: 1_000 },
  );
});
