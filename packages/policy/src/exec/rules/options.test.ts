import { expect, test } from "vitest";
import { known } from "../shell/text.ts";
import { parseOptions } from "./options.ts";

const spec = { options: "ab:c recursive recurse-submodules value= maybe=?" };
const parse = (line: string, more = {}) => {
  const options = parseOptions(
    line
      .split(" ")
      .filter(Boolean)
      .map((word) => known(word)),
    { ...spec, ...more },
  );
  return {
    names: [...options.names],
    operands: options.operands.map(({ text }) => text),
    values: options.get("b", "value", "maybe").map(({ text }) => text),
    unknown: options.unknown,
  };
};

test.for<[string, Partial<ReturnType<typeof parse>>]>([
  ["-a x", { names: ["a"], operands: ["x"] }],
  ["-ac x", { names: ["a", "c"], operands: ["x"] }],
  ["-abv x", { names: ["a", "b"], values: ["v"], operands: ["x"] }],
  ["-b v x", { values: ["v"], operands: ["x"] }],
  ["--value v x", { values: ["v"], operands: ["x"] }],
  ["--val=v", { names: ["value"], values: ["v"] }],
  ["--recurs", { names: ["recursive"] }],
  ["--maybe x", { names: ["maybe"], values: [], operands: ["x"] }],
  ["-- -a", { names: [], operands: ["-a"] }],
  ["-", { operands: ["-"] }],
  ["-z --other", { unknown: ["-z", "--other"] }],
])("%s", ([line, expected]) => {
  expect(parse(line)).toMatchObject(expected);
});

test("a program that runs another one stops at the first operand", () => {
  expect(parse("-a cmd -c", { stopsAtOperand: true })).toMatchObject({ names: ["a"], operands: ["cmd", "-c"] });
});
