import fc from "fast-check";
import { expect, test } from "vitest";
import { commands } from "./index.ts";
import { parseCommandArgs, parseUsage, parseUsages } from "./usage.ts";

test("a usage line has the subcommand, the arguments, the flags and the summary", () => {
  expect(
    parseUsage("tau x export ITEM [MORE...] --from ENTRY [--format a|b] [-o, --output FILE] [--yes]  Write it"),
  ).toEqual({
    line: "tau x export ITEM [MORE...] --from ENTRY [--format a|b] [-o, --output FILE] [--yes]",
    summary: "Write it",
    subcommand: "export",
    flags: [
      { name: "from", value: "ENTRY", isRequired: true },
      { name: "format", value: "a|b", choices: ["a", "b"], isRequired: false },
      { name: "output", short: "o", value: "FILE", isRequired: false },
      { name: "yes", isRequired: false },
    ],
    positionals: [
      { name: "ITEM", isOptional: false, isMany: false },
      { name: "MORE", isOptional: true, isMany: true },
    ],
  });
});

test("every line of the command table is restored from its parsed parts", () => {
  for (const command of commands) {
    for (const { line, subcommand, flags, positionals } of parseUsages(command)) {
      const parts = [
        `tau ${command.name}`,
        ...(subcommand === "" ? [] : [subcommand]),
        ...positionals.map(({ name, isOptional, isMany }) => bracketed(`${name}${isMany ? "..." : ""}`, isOptional)),
        ...flags.map(({ name, short, value, isRequired }) => {
          const dashes = `${short === undefined ? "" : `-${short}, `}--${name}`;
          return bracketed(value === undefined ? dashes : `${dashes} ${value}`, !isRequired);
        }),
      ];
      expect(line).toBe(parts.join(" "));
    }
  }
});

const bracketed = (text: string, isOptional: boolean) => (isOptional ? `[${text}]` : text);

const usages = [
  "tau x put ITEM [REST...] [--deep] [-o, --output FILE]  Put it",
  "tau x take --from SOURCE [--how fast|slow]  Take it",
].map(parseUsage);

test("arguments that fit a usage line are parsed", () => {
  const put = parseCommandArgs(usages, ["put", "a", "b", "--deep", "-o", "f", "--", "--c"]);
  expect(put.kind === "args" && [put.args.positionals, put.args.has("deep"), put.args.value("output")]).toEqual([
    ["a", "b", "--c"],
    true,
    "f",
  ]);
  const take = parseCommandArgs(usages, ["take", "--how=slow", "--from", "here"]);
  expect(take.kind === "args" && [take.args.value("from"), take.args.value("how")]).toEqual(["here", "slow"]);
});

test.each([
  [[], "name a subcommand: put, take"],
  [["pat"], 'there is no subcommand "pat"'],
  [["put"], "ITEM is missing"],
  [["take"], "--from SOURCE is missing"],
  [["take", "--from"], "--from needs a value: --from SOURCE"],
  [["take", "--from", "--how"], "--from needs a value: --from SOURCE"],
  [["take", "--from", "x", "--how", "quickly"], '--how takes fast, slow, not "quickly"'],
  [["take", "--from", "x", "y"], '"y" is one argument too many'],
  [["put", "a", "--deep=yes"], "--deep takes no value"],
  [["put", "a", "--fro", "x"], "there is no option --fro"],
])("%j is a mistake: %s", (args, message) => {
  expect(parseCommandArgs(usages, args)).toMatchObject({ kind: "invalid", message });
});

test("any input is arguments, help or a mistake; help wins at any position", () => {
  const word = fc.oneof(fc.constantFrom("put", "take", "--from", "--deep", "-o", "--how", "fast", "--"), fc.string());
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), (args) => {
      expect(["args", "help", "invalid"]).toContain(parseCommandArgs(usages, args).kind);
    }),
  );
  expect(parseCommandArgs(usages, ["--help"])).toEqual({ kind: "help" });
  expect(parseCommandArgs(usages, ["put", "a", "-h"])).toEqual({ kind: "help" });
});
