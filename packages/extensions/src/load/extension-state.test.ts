import { expect, test } from "vitest";
import type { ExtensionTrustState, StoredTrust } from "@tau/config/trust";
import type { ExtensionOrigin } from "../api/extension.ts";
import { resolveExtensionState } from "./extension-state.ts";

const same = (state: ExtensionTrustState): StoredTrust => ({ state, digest: "now" });
const other = (state: ExtensionTrustState): StoredTrust => ({ state, digest: "before" });

test.each<[ExtensionOrigin, StoredTrust | undefined, boolean, ExtensionTrustState]>([
  ["flag", undefined, false, "trusted"],
  ["user", undefined, false, "trusted"],
  ["inline", undefined, false, "trusted"],
  ["user", other("acknowledged"), false, "trusted"],
  ["user", other("killed"), true, "killed"],
  ["flag", same("killed"), true, "killed"],
  ["package", undefined, true, "pending"],
  ["package", same("acknowledged"), false, "acknowledged"],
  ["package", same("trusted"), false, "trusted"],
  ["package", other("trusted"), true, "pending"],
  ["package", other("killed"), true, "killed"],
  ["project", undefined, false, "pending"],
  ["project", same("trusted"), false, "pending"],
  ["project", undefined, true, "acknowledged"],
  ["project", same("trusted"), true, "trusted"],
  ["project", same("acknowledged"), true, "acknowledged"],
  ["project", other("trusted"), true, "pending"],
  ["project", other("killed"), true, "killed"],
])("%s with %j, in a project that is trusted: %s, is %s", (origin, stored, isProjectTrusted, expected) => {
  expect(resolveExtensionState({ origin, digest: "now" }, stored, { isProjectTrusted })).toBe(expected);
});

test.each<ExtensionOrigin>(["flag", "user"])("the files of the user's own extensions are not read: %s", (origin) => {
  const source = {
    origin,
    get digest(): string {
      throw new Error("The files were read.");
    },
  };
  expect(resolveExtensionState(source, other("trusted"), { isProjectTrusted: false })).toBe("trusted");
});
