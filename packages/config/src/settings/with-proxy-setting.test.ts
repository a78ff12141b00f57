import { expect, test } from "vitest";
import { withProxySetting } from "./with-proxy-setting.ts";

const setting = "http://setting.example";

test.each<[Record<string, string>, string | undefined]>([
  [{}, setting],
  [{ all_proxy: "" }, setting],
  [{ all_proxy: "http://own.example" }, "http://own.example"],
  // It is asked for after `all_proxy`, and counts.
  [{ ALL_PROXY: "http://own.example" }, undefined],
])("with %j in the environment, the proxy for all addresses is %s", (variables, proxy) => {
  const env = withProxySetting(
    (name) => variables[name],
    () => setting,
  );
  expect(env("all_proxy")).toBe(proxy);
  expect(env("https_proxy")).toBe(undefined);
});
