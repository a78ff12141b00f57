import { expect, test } from "vitest";
import { encodeLine } from "@tau/harness/session";
import { createUsedKeys } from "@tau/config/internal";

const env = { MY_VAR: "named-in-the-file-1", OPENAI_API_KEY: "openai-key-12345", UNRELATED: "42" };
const createKeys = (used: string[], written: string[], stored: string[] = []) =>
  createUsedKeys({
    auth: { usedKeys: () => [...used], storedKeys: () => stored },
    registry: { writtenValues: () => written },
    provider: "openai",
    env,
  });

test("a variable is a secret if it holds a key in use, in any form, or if models.json names it", () => {
  const keys = createKeys(["runtime/key-9"], ["$MY_VAR", "Bearer literal-key-77", "!a command", "${SHORT}"]);
  for (const [name, value] of [
    ["WORK", "runtime/key-9"],
    ["URL", "https://host/?k=runtime%2Fkey-9"],
    ["BASE64", btoa("user:runtime/key-9")],
    ["ALIAS", "openai-key-12345"],
    ["OTHER", "x literal-key-77"],
    ["COPY", "named-in-the-file-1"],
    ["SHORT", "x"],
  ] as const) {
    expect(keys.createIsSecret()(name, value), name).toBe(true);
  }
  expect(keys.createIsSecret()("UNRELATED", "42")).toBe(false);
});

test("keys are removed from texts and from lines of a log, and nothing else changes", () => {
  const used: string[] = [];
  const keys = createKeys(used, []);
  const line = encodeLine({ type: "message", id: "00000001", text: "it is late-key-0123 \u2713" });
  expect(keys.redactLine(line)).toBeUndefined();
  used.push("late-key-0123");
  expect(keys.redactLine(line)).toEqual({ type: "message", id: "00000001", text: "it is [secret] \u2713" });
  expect(keys.redact("a late-key-0123, b")).toBe("a [secret], b");
});

test("a key of digits is removed from the texts of a line, and its numbers stay", () => {
  const keys = createKeys(["12345678"], []);
  const line = encodeLine({ type: "message", id: "00000001", time: 123456789, text: 'it is "12345678", \\ 12345678' });
  expect(keys.redactLine(line)).toEqual({
    type: "message",
    id: "00000001",
    time: 123456789,
    text: 'it is "[secret]", \\ [secret]',
  });
});

test("a plain word that a server of one's own takes as a key stays in texts", () => {
  expect(createKeys(["anything"], []).redact("anything else")).toBe("anything else");
});

test("every variable of the provider counts, whichever of them is used", () => {
  const keys = createUsedKeys({
    auth: { usedKeys: () => [], storedKeys: () => [] },
    registry: { writtenValues: () => [] },
    provider: "anthropic",
    env: { ANTHROPIC_AUTH_TOKEN: "token-of-a-gateway", ANTHROPIC_API_KEY: "key-of-the-company-1" },
  });
  expect(keys.redact("token-of-a-gateway, key-of-the-company-1")).toBe("[secret], [secret]");
  expect(keys.createIsSecret()("COPY", "key-of-the-company-1")).toBe(true);
});

test("a key counts from its first use on, and a variable of the models file with the value that it has at the moment", () => {
  const changing: Record<string, string> = { MY_VAR: "first-value-1" };
  let used: readonly string[] = [];
  // The same array as long as nothing changes, as the registry has it.
  const written = ["Bearer $MY_VAR"];
  const keys = createUsedKeys({
    auth: { usedKeys: () => used, storedKeys: () => [] },
    registry: { writtenValues: () => written },
    provider: "openai",
    env: changing,
  });
  expect(keys.redact("first-value-1, second-value-2, openai-key-12345")).toBe(
    "[secret], second-value-2, openai-key-12345",
  );
  changing["MY_VAR"] = "second-value-2";
  expect(keys.redact("second-value-2")).toBe("[secret]");
  changing["OPENAI_API_KEY"] = "openai-key-12345";
  used = ["openai-key-12345"];
  expect(keys.redact("openai-key-12345")).toBe("[secret]");
});

test("a stored key that was never used is removed from texts, and commands may have it", () => {
  const keys = createKeys([], [], ["stored-key-4711"]);
  expect(keys.redact("printed: stored-key-4711")).toBe("printed: [secret]");
  expect(keys.createIsSecret()("GH_TOKEN", "stored-key-4711")).toBe(false);
});
