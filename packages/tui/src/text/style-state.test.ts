import fc from "fast-check";
import { expect, test } from "vitest";
import { plainStyle } from "./style-state.ts";

const parameters = fc.oneof(
  fc.constantFrom("0", "1", "2", "3", "4", "7", "9", "22", "23", "24", "27", "29", "39", "49", "53", "55", "4:3"),
  fc.nat(255).map((color) => `38;5;${color}`),
  fc.nat(255).map((color) => `48;2;${color};0;0`),
);
const styles = fc.array(
  parameters.map((parameter) => `\x1b[${parameter}m`),
  { maxLength: 8 },
);

const apply = (escapes: readonly string[], start = plainStyle) =>
  escapes.reduce((state, escape) => state.after(escape), start);

test("a transition leads from any style to any other", () => {
  fc.assert(
    fc.property(styles, styles, (some, others) => {
      const [from, to] = [apply(some), apply(others)];
      const bytes = to.transitionFrom(from);
      expect((bytes === "" ? from : from.after(bytes)).open).toBe(to.open);
    }),
  );
});

test("what switches a style on leads to it", () => {
  fc.assert(
    fc.property(styles, (escapes) => {
      const state = apply(escapes);
      expect((state.open === "" ? plainStyle : plainStyle.after(state.open)).open).toBe(state.open);
    }),
  );
});

test("any number of colors is followed, also more than are remembered", () => {
  for (let color = 0; color < 30_000; color++) {
    const parameter = `38;2;${color % 256};${Math.floor(color / 256)};7`;
    const state = plainStyle.after("\x1b[1m").after(`\x1b[${parameter}m`);
    expect(state.open).toBe(`\x1b[1;${parameter}m`);
    expect(plainStyle.transitionFrom(state)).toBe("\x1b[22;39m");
  }
});
