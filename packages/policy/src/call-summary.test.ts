import type { DescribedTool } from "@tau/tools";
import fc from "fast-check";
import { expect, test } from "vitest";
import { summariseCall, toVisibleLine } from "./call-summary.ts";

const summarise = (args: unknown, tool?: Partial<DescribedTool>) =>
  summariseCall({ tool: tool as DescribedTool | undefined, name: "weather", args });

test("a tool says what its call would do, else its name and arguments do", () => {
  expect(summarise({ city: "Ulm" }, { summarise: ({ city }) => `Look at the sky over ${String(city)}` })).toBe(
    "Look at the sky over Ulm",
  );
  expect(summarise({ city: "Ulm" }, { summarise: () => undefined })).toBe('Call weather with {"city":"Ulm"}');
  expect(summarise({ city: "Ulm" })).toBe('Call weather with {"city":"Ulm"}');
  expect(summarise(undefined)).toBe("Call weather with nothing");
});

test("a tool that cannot sum up its call does not keep a person from being asked", () => {
  const tool = {
    summarise: () => {
      throw new Error("no words");
    },
  };
  expect(summarise({ city: "Ulm" }, tool)).toBe('Call weather with {"city":"Ulm"}');
  expect(summarise({ city: "Ulm" }, { summarise: () => 7 as unknown as string })).toBe(
    'Call weather with {"city":"Ulm"}',
  );
});

test("whatever a call holds, its summary is one visible line of bounded length", () => {
  const anything = fc.nat(0x10ffff).map((code) => String.fromCodePoint(code));
  const character = fc.oneof(anything, fc.constantFrom("a", "\n", "\u001b", "\u202e", "\u2028", "\ud800"));
  const tool = { summarise: ({ command }: { command: string }) => `Run ${command}` } as unknown as DescribedTool;
  fc.assert(
    fc.property(fc.string({ unit: character, maxLength: 40 }), fc.nat(20), (text, times) => {
      const summary = summarise({ command: text.repeat(times) }, tool);
      expect(summary.length).toBeLessThanOrEqual(300);
      expect(summary).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    }),
  );
  expect(summarise({ command: "a\n\tb\u001b[2K\u202ec" }, tool)).toBe("Run a\\n\\tb\\u{1b}[2K\\u{202e}c");
  expect(toVisibleLine("x".repeat(11), 10)).toBe(`${"x".repeat(9)}…`);
  expect(toVisibleLine("x".repeat(10), 10)).toBe("x".repeat(10));
});
