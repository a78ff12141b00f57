import fc from "fast-check";
import { expect, test } from "vitest";
import { getForms, parseForm, parseForms } from "./forms.ts";
import { commands } from "./index.ts";

test("a line says everything: the word, what is needed, what may be left out, and the summary", () => {
  expect(
    parseForm("tau x export ITEM [MORE...] --from ENTRY [--format a|b] [-o, --output FILE] [--yes]  Write it"),
  ).toEqual({
    usage: "tau x export ITEM [MORE...] --from ENTRY [--format a|b] [-o, --output FILE] [--yes]",
    summary: "Write it",
    word: "export",
    flags: [
      { name: "from", value: "ENTRY", isRequired: true },
      { name: "format", value: "a|b", choices: ["a", "b"], isRequired: false },
      { name: "output", short: "o", value: "FILE", isRequired: false },
      { name: "yes", isRequired: false },
    ],
    places: [
      { name: "ITEM", isOptional: false, isMany: false },
      { name: "MORE", isOptional: true, isMany: true },
    ],
  });
});

test("every line of the table is one that can be read back from its parts", () => {
  for (const command of commands) {
    for (const { usage, word, flags, places } of getForms(command)) {
      const parts = [
        `tau ${command.name}`,
        ...(word === "" ? [] : [word]),
        ...places.map(({ name, isOptional, isMany }) => bracketed(`${name}${isMany ? "..." : ""}`, isOptional)),
        ...flags.map(({ name, short, value, isRequired }) => {
          const dashes = `${short === undefined ? "" : `-${short}, `}--${name}`;
          return bracketed(value === undefined ? dashes : `${dashes} ${value}`, !isRequired);
        }),
      ];
      expect(usage).toBe(parts.join(" "));
    }
  }
});

const bracketed = (text: string, isOptional: boolean) => (isOptional ? `[${text}]` : text);

const forms = [
  "tau x put ITEM [REST...] [--deep] [-o, --output FILE]  Put it",
  "tau x take --from PLACE [--how fast|slow]  Take it",
].map(parseForm);

test("what is given in the terms of a form is understood", () => {
  const put = parseForms(forms, ["put", "a", "b", "--deep", "-o", "f", "--", "--c"]);
  expect(put.kind === "given" && [put.given.places, put.given.has("deep"), put.given.value("output")]).toEqual([
    ["a", "b", "--c"],
    true,
    "f",
  ]);
  const take = parseForms(forms, ["take", "--how=slow", "--from", "here"]);
  expect(take.kind === "given" && [take.given.value("from"), take.given.value("how")]).toEqual(["here", "slow"]);
});

test.each([
  [[], "say what to do: put, take"],
  [["pat"], 'there is no "pat"'],
  [["put"], "ITEM is missing"],
  [["take"], "--from PLACE is missing"],
  [["take", "--from"], "--from needs a value: --from PLACE"],
  [["take", "--from", "--how"], "--from needs a value: --from PLACE"],
  [["take", "--from", "x", "--how", "quickly"], '--how takes fast, slow, not "quickly"'],
  [["take", "--from", "x", "y"], '"y" is one argument too many'],
  [["put", "a", "--deep=yes"], "--deep takes no value"],
  [["put", "a", "--fro", "x"], "there is no option --fro"],
])("%j is a mistake: %s", (args, message) => {
  expect(parseForms(forms, args)).toMatchObject({ kind: "mistake", message });
});

test("whatever is typed is given, help or a mistake; help wins wherever it stands", () => {
  const word = fc.oneof(fc.constantFrom("put", "take", "--from", "--deep", "-o", "--how", "fast", "--"), fc.string());
  fc.assert(
    fc.property(fc.array(word, { maxLength: 6 }), (args) => {
      expect(["given", "help", "mistake"]).toContain(parseForms(forms, args).kind);
    }),
  );
  expect(parseForms(forms, ["--help"])).toEqual({ kind: "help" });
  expect(parseForms(forms, ["put", "a", "-h"])).toEqual({ kind: "help" });
});
