/** Questions of servers to the person: forms, addresses, and the use of the model. */
import { call, text } from "@tau/ai/testing";
import { noUi } from "@tau/extensions";
import { describe, expect, test } from "vitest";
import { elicit } from "../../src/mcp/elicitation.ts";
import { Answering, makePlace, open, type Turns } from "./session-kit.ts";

/** A person who answers each dialog by its title. Undefined leaves it. */
function createPerson(answers: Readonly<Record<string, readonly (string | undefined)[]>> = {}, isWilling = true) {
  const notices: string[] = [];
  const confirmed: string[] = [];
  const asked = new Map<string, number>();
  const answer = async (title: string) => {
    const count = asked.get(title) ?? 0;
    asked.set(title, count + 1);
    return answers[title]?.[count];
  };
  const ui = {
    ...noUi,
    confirm: async (title: string, message: string) => {
      confirmed.push(`${title}\n${message}`);
      return isWilling;
    },
    input: answer,
    select: answer,
    notify: (message: string) => void notices.push(message),
  };
  return { ui, notices, confirmed, asked };
}

const ask = (person: ReturnType<typeof createPerson>, params: Record<string, unknown>) =>
  elicit(params, { ui: person.ui, server: "docs", signal: new AbortController().signal });

const form = (properties: object, required: readonly string[] = []) => ({
  message: "Tell me.",
  requestedSchema: { type: "object", properties, required },
});

test("a field that is filled in wrongly three times ends the form", async () => {
  const person = createPerson({ "docs: age": ["many", "7.5", "200", "36"] });
  const params = form({ age: { type: "integer", minimum: 0, maximum: 120 } }, ["age"]);
  expect(await ask(person, params)).toEqual({ action: "cancel" });
  expect(person.notices).toEqual(["age is not valid.", "age is not valid.", "age is not valid."]);
});

test("a form with fields of each kind comes back with values of the right types", async () => {
  const person = createPerson({
    "docs: Name": ["x", "Ada"],
    "docs: age": ["36"],
    "docs: ratio (optional)": ["0.5"],
    "docs: isHappy": ["No"],
    "docs: colour": ["Red"],
    "docs: size": ["Large"],
    "docs: tags": ["One, three", "One, b"],
    "docs: note (optional)": [""],
  });
  const properties = {
    name: { type: "string", title: "Name", minLength: 2 },
    age: { type: "integer", minimum: 0, maximum: 120 },
    ratio: { type: "number" },
    isHappy: { type: "boolean" },
    colour: {
      type: "string",
      oneOf: [
        { const: "#f00", title: "Red" },
        { const: "#00f", title: "Blue" },
      ],
    },
    size: { type: "string", enum: ["s", "l"], enumNames: ["Small", "Large"] },
    tags: {
      type: "array",
      items: {
        anyOf: [
          { const: "a", title: "One" },
          { const: "b", title: "Two" },
        ],
      },
    },
    note: { type: "string" },
  };
  const answer = await ask(person, form(properties, ["name", "age", "isHappy", "colour", "size", "tags"]));
  expect(answer).toEqual({
    action: "accept",
    content: { name: "Ada", age: 36, ratio: 0.5, isHappy: false, colour: "#f00", size: "l", tags: ["a", "b"] },
  });
  expect(person.notices).toEqual(["Name is not valid.", "tags is not valid."]);
});

test.each<[string, Record<string, unknown>]>([
  ["by its name", form({ password: { type: "string" } })],
  ["by a word of its name", form({ github_token: { type: "string" } })],
  ["by a word in the middle of its name", form({ userPinAgain: { type: "string" } })],
  ["by its title", form({ a: { type: "string", title: "Your API key" } })],
  ["by its description", form({ a: { type: "string", description: "The passphrase of your wallet" } })],
  ["by its format", form({ a: { type: "string", format: "password" } })],
  ["as a code of one use", form({ otp: { type: "string", title: "Enter the code" } })],
  ["in words of the message", { ...form({ a: { type: "string" } }), message: "Type your access token here" }],
])("a form that asks for a secret %s is declined before anybody sees it", async (_name, params) => {
  const person = createPerson({ "docs: a (optional)": ["leaked"] });
  expect(await ask(person, params)).toEqual({ action: "decline" });
  expect([person.confirmed, person.asked.size]).toEqual([[], 0]);
  expect(person.notices.join()).toContain("forms are not for secrets");
});

test("a person who does not want to, or leaves a field that is needed, sends nothing", async () => {
  const params = form({ name: { type: "string" }, isHappy: { type: "boolean" } }, ["isHappy"]);
  expect(await ask(createPerson({}, false), params)).toEqual({ action: "decline" });
  const left = createPerson({ "docs: name (optional)": [""], "docs: isHappy": [undefined] });
  expect(await ask(left, params)).toEqual({ action: "cancel" });
});

const callOfAct = (input: object = {}) => call("call_tool", { name: "mcp__docs__act", arguments: input });

describe.each(["2025-11-25", "2026-07-28"])("a server of the revision %s that wants to use the model", (REVISION) => {
  const openSampling = async (turns: Turns, input: object = {}) => {
    const place = await makePlace({}, "samples", { REVISION });
    const all = [[call("tool_search", { query: "act" })], [callOfAct(input)], ...turns] as Turns;
    return await open(all, place);
  };
  const getResult = ({ session }: Awaited<ReturnType<typeof open>>) =>
    JSON.stringify(session.messages.findLast((message) => message.role === "toolResult")?.content);

  test("gets its answer if the person allows what they are shown", async () => {
    const opened = await openSampling([[text("It is 4.")], [text("Done.")]]);
    const person = new Answering(true);
    await opened.session.attachSurface(person);
    await opened.prompt("go");
    expect(person.asked).toHaveLength(1);
    for (const part of ["docs wants to ask", "at your expense", "Be brief.", "What is 2 + 2?"])
      expect(person.asked[0]).toContain(part);
    expect(getResult(opened)).toContain("It is 4.");
    const { context, options } = opened.model.asked[2]!;
    expect([context.tools, options.maxTokens]).toEqual([undefined, 100]);
  });

  test("gets nothing if the person does not, and the model is not asked", async () => {
    const opened = await openSampling([[text("Done.")]]);
    await opened.session.attachSurface(new Answering(false));
    await opened.prompt("go");
    expect(opened.model.asked).toHaveLength(3);
    expect(getResult(opened)).toMatch(/did not allow|failed/);
  });

  test("gets nothing where nobody can be asked", async () => {
    const opened = await openSampling([[text("Done.")]]);
    await opened.prompt("go");
    expect(opened.model.asked).toHaveLength(3);
    expect(getResult(opened)).toMatch(/Nobody can be asked|failed/);
  });

  test("cannot hide the end of what it would send", async () => {
    const opened = await openSampling([[text("Ok.")], [text("Done.")]], { text: `${"x".repeat(5_000)} hidden end` });
    const person = new Answering(true);
    await opened.session.attachSurface(person);
    await opened.prompt("go");
    expect(person.asked[0]).toMatch(/\[\d+ characters are not shown here, but would be sent\]\n.* hidden end$/s);
  });
});
