import { expect, test } from "vitest";
import { getProxyVariables } from "./proxy-variables.ts";

test("every program is led to the proxy, and none of them to reach a server of another command", () => {
  const env = getProxyVariables(8080, { isOpen: false, nodeVersion: "24.1.0" });
  for (const name of ["HTTP_PROXY", "https_proxy", "ALL_PROXY"]) expect(env[name]).toBe("http://127.0.0.1:8080");
  expect(env["no_proxy"]).toContain("localhost");
});

test.each([
  ["20.20.2", false, "1"],
  ["24.1.0", false, "1"],
  // It would print a warning at each start, for a proxy that refuses everything.
  ["22.23.3", false, undefined],
  ["22.23.3", true, "1"],
])("with Node %s and an open host: %j, Node is told to use it: %j", (nodeVersion, isOpen, expected) => {
  expect(getProxyVariables(8080, { isOpen, nodeVersion })["NODE_USE_ENV_PROXY"]).toBe(expected);
});
