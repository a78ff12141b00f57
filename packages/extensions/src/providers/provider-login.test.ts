import { expect, test } from "vitest";
import type { LoginEvent, LoginInteraction } from "@tau/config/auth";
import type { OAuthLoginCallbacks } from "./provider-config.ts";
import { toCustomLogin } from "./provider-login.ts";

const tokens = { access: "a1", refresh: "r1", expires: 9e15 };

const createLogin = (login: (callbacks: OAuthLoginCallbacks) => Promise<Record<string, unknown>>) =>
  toCustomLogin(
    "mine",
    { name: "Mine", login, refreshToken: async () => tokens, getApiKey: () => "key" },
    new AbortController().signal,
  );

/** A user who never answers. */
function createSilentUser() {
  const asked: AbortSignal[] = [];
  const events: LoginEvent[] = [];
  const interaction: LoginInteraction = {
    notify: (event) => void events.push(event),
    ask: (_question, signal) => {
      asked.push(signal);
      if (signal.aborted) return Promise.resolve(undefined);
      return new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
    },
  };
  return { asked, events, interaction };
}

test("a question that a login no longer waits for is closed at its end, and does not count as a failure", async () => {
  const { asked, interaction } = createSilentUser();
  const controller = new AbortController();
  const login = createLogin(async ({ onManualCodeInput }) => {
    void onManualCodeInput();
    return tokens;
  });
  expect(await login.login(interaction, controller.signal)).toEqual(tokens);
  expect(asked.map(({ aborted }) => aborted)).toEqual([true]);
  expect(controller.signal.aborted).toBe(false);
});

test.each<[string, (callbacks: OAuthLoginCallbacks) => unknown]>([
  ["url of onAuth has to be a text.", ({ onAuth }) => onAuth({} as never)],
  ["userCode of onDeviceCode has to be a text.", ({ onDeviceCode }) => onDeviceCode({ userCode: 7 } as never)],
  ["id of onSelect has to be a text.", ({ onSelect }) => onSelect({ message: "Which?", options: [{}] } as never)],
])("a login that gives something else to a callback fails: %s", async (message, call) => {
  const { asked, events, interaction } = createSilentUser();
  const login = createLogin(async (callbacks) => {
    await call(callbacks);
    return tokens;
  });
  await expect(login.login(interaction, new AbortController().signal)).rejects.toThrow(message);
  expect([asked, events]).toEqual([[], []]);
});

test("what a login says is a text", async () => {
  const { events, interaction } = createSilentUser();
  const login = createLogin(async ({ onProgress, onAuth }) => {
    onProgress(7 as never);
    onAuth({ url: "https://mine.test", instructions: 8 as never });
    return tokens;
  });
  await login.login(interaction, new AbortController().signal);
  expect(events).toEqual([
    { type: "message", text: "7" },
    { type: "auth_url", url: "https://mine.test", instructions: "8" },
  ]);
});

test("a login that goes on after it was cancelled neither tells nor asks the user anything", async () => {
  const { asked, events, interaction } = createSilentUser();
  const controller = new AbortController();
  const login = createLogin(async ({ onAuth, onPrompt }) => {
    controller.abort();
    onAuth({ url: "https://mine.test" });
    await onPrompt({ message: "Name" });
    return tokens;
  });
  await expect(login.login(interaction, controller.signal)).rejects.toThrow("It was cancelled.");
  expect([asked, events]).toEqual([[], []]);
});
