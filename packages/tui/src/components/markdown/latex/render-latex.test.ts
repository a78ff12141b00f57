import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { visibleWidth } from "../../../text/cells.ts";
import { renderLatex } from "./render-latex.ts";

const raw = String.raw;

describe("in a line of text", () => {
  test.each<[string, string]>([
    ["x^2", "x²"],
    ["x_{ij}^{2n+1}", "xᵢⱼ²ⁿ⁺¹"],
    [raw`a_\alpha + b^{i\pi}`, "a_α + b^(iπ)"],
    [raw`x^\prime = f'(x)`, "x′ = f′(x)"],
    [raw`\frac{a+b}{c} + \tfrac12`, "(a+b)/c + 1/2"],
    [raw`\sqrt{x+1} \sqrt[3]{x} \sqrt[n]{x}`, "√(x+1) ∛x ⁿ√x"],
    [raw`\alpha\beta\leq\Gamma`, "αβ ≤ Γ"],
    [raw`a\cdot b\to c`, "a · b → c"],
    [raw`\sum_{i=1}^{n} i^2`, "∑ᵢ₌₁ⁿ i²"],
    [raw`\sum_i x_i\log x_i`, "∑ᵢ xᵢ log xᵢ"],
    [raw`\int_0^\infty e^{-x}\,dx`, "∫₀^∞ e⁻ˣ dx"],
    [raw`\lim_{x\to 0} f(x)`, "lim[x→0] f(x)"],
    [raw`O(n\log n)`, "O(n log n)"],
    [raw`\text{if } x > 0`, "if x > 0"],
    [raw`x \in \mathbb{R}^n \quad \mathbf{v}`, "x ∈ ℝⁿ  v"],
    [raw`\hat{x} \overline{AB} \vec v`, "x̂ A̅B̅ v⃗"],
    [raw`\left\{ x \mid x>0 \right\}`, "{x ∣ x > 0}"],
    [raw`\left. x \right|`, "x|"],
    [raw`\bigl( x \bigr) \not= \|y\|`, "( x ) ≠ ‖y‖"],
    [raw`\binom{n}{k} \pmod p`, "(n choose k) (mod p)"],
    [raw`A \xrightarrow{f} B \stackrel{a}{=} C`, "A →ᶠ B =ᵃ C"],
    [raw`\operatorname{argmax}_x f \displaystyle x`, "argmax[x] f x"],
    [raw`\operatorname*{argmax}_x f = 2\pi*r`, "argmax[x] f = 2π*r"],
    [raw`50\% \{\$5\} \_ \dots`, "50% {$5} _ …"],
    ["a % a comment\nb", "a b"],
  ])("%s is %s", (source, expected) => {
    expect(renderLatex(source)).toBe(expected);
  });
});

describe("as a block", () => {
  test.each<[string, string[]]>([
    [raw`\frac{a+b}{c} = \frac{1}{1+\frac{1}{x}}`, ["a+b     1", "─── = ─────", " c    1+1/x"]],
    [raw`\frac a b\frac c d`, ["a c", "─ ─", "b d"]],
    [raw`\sum_{i=1}^{n} \frac{1}{i}`, [" n  1", " ∑  ─", "i=1 i"]],
    [raw`\lim_{x\to 0} f`, ["lim f", "x→0"]],
    [raw`x^Q_R + y^2`, [" Q", "x  + y²", " R"]],
    [raw`\left( \frac{a}{b} \right)^2`, ["⎛a⎞²", "⎜─⎟", "⎝b⎠"]],
    [raw`\sqrt{\frac a b}`, [" ⎛a⎞", "√⎜─⎟", " ⎝b⎠"]],
    [raw`\binom{n}{k}`, ["⎛n⎞", "⎝k⎠"]],
    [raw`A = \begin{bmatrix} 1 & 22 \\ 333 & 4 \end{bmatrix}^T`, ["A = ⎡  1   22 ⎤ᵀ", "    ⎣ 333  4  ⎦"]],
    [raw`f = \begin{cases} 1 & x>0 \\ 0 & \text{else} \end{cases}`, ["    ⎧ 1  x > 0", "f = ⎨", "    ⎩ 0  else"]],
    [raw`\begin{align*} a &= b \\ cc &= d \\ \end{align*}`, [" a = b", "cc = d"]],
    [raw`\begin{array}{cc} 1 & 2 \end{array}`, ["1  2"]],
    [raw`a &= b \\[2pt] &= c`, ["a = b", "  = c"]],
    [raw`\underbrace{a+b}_{2}`, ["a+b", " 2"]],
  ])("%s", (source, expected) => {
    expect(renderLatex(source, { display: true })?.split("\n")).toEqual(expected);
  });
});

test.each([
  "",
  " ",
  "{a",
  "a}",
  "x^",
  "x^2^3",
  raw`\frac{a}`,
  raw`\unknown{x}`,
  raw`\left( x`,
  raw`x \right)`,
  raw`\begin{matrix} 1`,
  raw`\begin{matrix} 1 \end{array}`,
  raw`\begin{tikzpicture} \end{tikzpicture}`,
  raw`\text{a`,
  raw`\sqrt[3`,
  "\\",
  "x".repeat(5_001),
  "{".repeat(2_000) + "}".repeat(2_000),
  raw`\bar`.repeat(51) + " x",
  "&".repeat(2_400) + raw`\\`.repeat(1_200),
])("nothing is drawn of what is not complete or not known: %s", (source) => {
  expect(renderLatex(source)).toBeUndefined();
});

test("what is negated has one line: no other line is left out", () => {
  expect(renderLatex(raw`a \not\subset b`, { display: true })).toBe("a ⊄ b");
  expect(renderLatex(raw`\not\frac{a}{b}`, { display: true })).toBeUndefined();
});

test("matrices in matrices take time that grows with what is drawn", () => {
  const source = raw`\begin{pmatrix}1&2\\3&4`.repeat(30) + raw`\end{pmatrix}`.repeat(30);
  const before = process.cpuUsage();
  expect(renderLatex(source)?.split("\n")).toHaveLength(31);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(1_000);
});

test("whatever is drawn has lines in columns, and whatever is given ends", () => {
  const parts = [
    "{",
    "}",
    "^",
    "_",
    "&",
    "\\\\",
    "[",
    "]",
    "a",
    " ",
    "2",
    "=",
    "\\frac",
    "\\sqrt",
    "\\left(",
    "\\right)",
  ];
  const more = [
    "\\sum",
    "\\text",
    "\\begin{cases}",
    "\\end{cases}",
    "\\hat",
    "\\not",
    "\\overset",
    "\\limits",
    "日",
    "é",
  ];
  const source = fc.array(fc.constantFrom(...parts, ...more), { maxLength: 20 }).map((list) => list.join(""));
  fc.assert(
    fc.property(source, fc.boolean(), (text, display) => {
      const drawn = renderLatex(text, { display });
      for (const line of drawn?.split("\n") ?? []) expect(visibleWidth(line)).toBeLessThan(200);
    }),
    { numRuns: 2_000 },
  );
});
