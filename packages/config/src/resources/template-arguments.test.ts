import { execFileSync } from "node:child_process";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fillTemplate, quoteArgument, splitArguments } from "./template-arguments.ts";

describe("arguments", () => {
  test.each<[string, string[]]>([
    ["", []],
    ["  \n ", []],
    ["one two\tthree\nfour", ["one", "two", "three", "four"]],
    [`"a b" 'c d'`, ["a b", "c d"]],
    [`"" ''`, ["", ""]],
    [String.raw`a\ b c\\d`, ["a b", String.raw`c\d`]],
    [String.raw`"say \"hi\" \n" '\"'`, [String.raw`say "hi" \n`, String.raw`\"`]],
    [`--name="a b"c --other='d e'`, ["--name=a bc", "--other=d e"]],
    ["don't break what isn't broken", ["don't", "break", "what", "isn't", "broken"]],
    [`5" wide and 'open`, [`5"`, "wide", "and", "'open"]],
    ["ends with \\", ["ends", "with", "\\"]],
  ])("%j are split as a shell does, and as prose needs it", (text, expected) => {
    expect(splitArguments(text)).toEqual(expected);
  });

  const argument = fc.oneof(fc.string({ unit: "grapheme" }), fc.stringMatching(/^[ab '"\\$`\n\t*~]{0,8}$/));

  test("are the same after they are quoted and split again", () => {
    fc.assert(
      fc.property(fc.array(argument), (args) => {
        expect(splitArguments(args.map(quoteArgument).join(" "))).toEqual(args);
      }),
    );
  });

  test("that are quoted are the same in a shell", () => {
    const plain = fc.stringMatching(/^[a-z '"\\$`\n*~!;&|<>()-]{0,12}$/);
    fc.assert(
      fc.property(fc.array(plain, { minLength: 1, maxLength: 20 }), (args) => {
        const line = args.map(quoteArgument).join(" ");
        const out = execFileSync("sh", ["-c", `printf '%s\\0' ${line}`], { encoding: "utf8" });
        expect(splitArguments(line)).toEqual(out.split("\0").slice(0, -1));
      }),
      { numRuns: 40 },
    );
  });
});

describe("a template", () => {
  test.each<[string, string[], string]>([
    ["$1 and $2", ["a", "b"], "a and b"],
    ["$@|$ARGUMENTS", ["a", "b c"], "a b c|a b c"],
    ["${@:2}|${@:0}|${@:2:1}|${@:9}", ["a", "b", "c"], "b c|a b c|b|"],
    ["${1:-none} ${2:-no two}", ["x"], "x no two"],
    ["${1:-none}", [""], "none"],
    ["${@:-nothing}|${ARGUMENTS:-nothing}", [], "nothing|nothing"],
    ["$10$1", ["1", "2", "3", "4", "5", "6", "7", "8", "9", "ten"], "ten1"],
    ["costs $0.50, $HOME, $$, ${x}, $ARGUMENTS_x", ["a"], "costs $0.50, $HOME, $$, ${x}, $ARGUMENTS_x"],
    ["${1:-$2}", ["", "b"], "$2"],
  ])("%j with %j becomes %j", (template, args, expected) => {
    expect(fillTemplate(template, args).text).toBe(expected);
  });

  test("reports missing arguments, each once, but not those with a default", () => {
    expect(fillTemplate("$1 $2 $2 ${3:-x} $@ ${@:4}", ["a"]).missing).toEqual(["$2"]);
    expect(fillTemplate("$1 $@", []).missing).toEqual(["$1"]);
    expect(fillTemplate("$1", [""]).missing).toEqual([]);
  });

  test("reports whether it has placeholders", () => {
    expect(fillTemplate("costs $0", []).takesArguments).toBe(false);
    expect(fillTemplate("${@:2}", []).takesArguments).toBe(true);
  });

  test("fills in every argument as it is, also one that looks like a placeholder", () => {
    const nasty = fc.constantFrom("$1", "$2", "$@", "$ARGUMENTS", "${1:-x}", "${@:1}", "$&", "$$", "$`", "a", " ");
    const value = fc.array(nasty, { maxLength: 4 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(fc.array(value, { minLength: 3, maxLength: 3 }), (args) => {
        const { text } = fillTemplate("<$1|$2|$3|$@|${@:2:1}>", args);
        expect(text).toBe(`<${args[0]}|${args[1]}|${args[2]}|${args.join(" ")}|${args[1]}>`);
      }),
    );
  });
});
