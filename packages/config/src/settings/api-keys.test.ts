import { expect, test } from "vitest";
import { listKeys as listWritten } from "../models/key-ring.ts";
import { createWrittenValues, hideKeys, hideValue } from "./api-keys.ts";
import { resolveSettings } from "./resolve.ts";
import { checkSettings } from "./check.ts";
import type { Settings } from "./schema.ts";

const listKeys = ({ apiKeys }: Settings, provider: string, yml: ReadonlyMap<string, string[]> = new Map()) =>
  listWritten(provider, { settings: apiKeys, yml });

const location = { directory: "/agent", cwd: "/work", home: "/home/u" };
const read = (value: unknown) => {
  const { values, errors } = checkSettings(value, { trusted: true });
  return { settings: resolveSettings([{ values, location }]), errors };
};

test("a provider has a list of keys, or one key without a list", () => {
  const { settings, errors } = read({ apiKeys: { lab: ["$A", "b"], one: "$C" } });
  expect(errors).toEqual([]);
  expect(listKeys(settings, "lab")).toEqual(["$A", "b"]);
  expect(listKeys(settings, "one")).toEqual(["$C"]);
  expect(listKeys(settings, "none")).toEqual([]);
});

test("keys of the settings come before those of models.yml", () => {
  const yml = new Map([
    ["lab", ["y"]],
    ["other", ["z"]],
  ]);
  const { settings } = read({ apiKeys: { lab: ["s"] } });
  expect([listKeys(settings, "lab", yml), listKeys(settings, "other", yml)]).toEqual([["s"], ["z"]]);
});

test("a former name of a provider means the same provider", () => {
  const { settings } = read({ apiKeys: { "azure-openai-responses": ["a"] } });
  expect(listKeys(settings, "azure")).toEqual(["a"]);
});

test.each([{ lab: 12345678 }, { lab: ["secret-key-1234", 5] }, { lab: { key: "secret-key-1234" } }])(
  "a value that is wrong is not repeated: %j",
  (apiKeys) => {
    const { settings, errors } = read({ apiKeys });
    expect(errors.map(({ message }) => message)).toEqual(['"apiKeys.lab" has to be a list of keys.']);
    expect(listKeys(settings, "lab")).toEqual([]);
  },
);

test("a project cannot set keys, also if it is trusted", () => {
  const { values, errors } = checkSettings({ apiKeys: { lab: ["a"] } }, { trusted: true, isProject: true });
  expect(values).not.toHaveProperty("apiKeys.lab");
  expect(errors).toMatchObject([{ kind: "not_for_projects" }]);
});

test("settings that are shown have names of keys, and variables and commands as written", () => {
  const { settings } = read({ apiKeys: { lab: ["secret-key-1234", "$NAME", "a$NAME-of-secret", "!pass show lab"] } });
  const shown = ["…1234", "$NAME", "…cret", "!pass show lab"];
  expect(hideKeys(settings).apiKeys).toEqual({ lab: shown });
  expect(hideKeys({ theme: "dark" })).toEqual({ theme: "dark" });
  expect(hideValue("apiKeys", settings.apiKeys)).toEqual({ lab: shown });
  expect(hideValue("apiKeys.lab", settings.apiKeys["lab"])).toEqual(shown);
  expect(hideValue("apiKeys.one", "secret-key-1234")).toBe("…1234");
  expect(hideValue("theme", "dark")).toBe("dark");
});

test("the list of written values stays the same until something changes", () => {
  const ofModels = ["$MODELS"];
  let { settings } = read({ apiKeys: { lab: ["$A"] } });
  const list = createWrittenValues({ writtenValues: () => ofModels }, () => settings);
  const first = list();
  expect(first).toEqual(["$MODELS", "$A"]);
  expect(list()).toBe(first);
  ({ settings } = read({ apiKeys: { lab: ["$B"] } }));
  expect(list()).toEqual(["$MODELS", "$B"]);
});

test("chains are lists of lists, or lists by name", () => {
  const chains = (fallbackChains: unknown) => {
    const { settings, errors } = read({ retry: { fallbackChains } });
    return { chains: settings.retry.fallbackChains, errors: errors.map(({ message }) => message) };
  };
  expect(chains([["a", "b"], ["c"]])).toEqual({ chains: [["a", "b"], ["c"]], errors: [] });
  expect(chains({ slow: ["a"], "lab/*": ["b"] })).toEqual({ chains: { slow: ["a"], "lab/*": ["b"] }, errors: [] });
  expect(chains("a").errors).toHaveLength(1);
  expect(chains(["a"]).errors).toHaveLength(1);
  expect(chains({ slow: "a" }).errors).toHaveLength(1);
});
