import { expect, test } from "vitest";
import { findProxy } from "./proxy.ts";

const getProxy = (url: string, env: Record<string, string>) => findProxy(new URL(url), (name) => env[name])?.host;

test.each([
  ["https://api.example.com/v1", { HTTPS_PROXY: "http://proxy:3128" }, "proxy:3128"],
  ["https://api.example.com/v1", { https_proxy: "http://lower:1", HTTPS_PROXY: "http://upper:1" }, "lower:1"],
  ["https://api.example.com/v1", { HTTP_PROXY: "http://proxy:3128" }, undefined],
  ["http://api.example.com/v1", { HTTP_PROXY: "http://proxy:3128" }, "proxy:3128"],
  ["https://api.example.com/v1", { ALL_PROXY: "proxy:3128" }, "proxy:3128"],
  ["https://api.example.com/v1", { HTTPS_PROXY: "socks5://proxy:1080" }, undefined],
  ["https://api.example.com/v1", { HTTPS_PROXY: "http://p:1", NO_PROXY: "example.com" }, undefined],
  ["https://api.example.com/v1", { HTTPS_PROXY: "http://p:1", NO_PROXY: ".example.com, other" }, undefined],
  ["https://api.example.com/v1", { HTTPS_PROXY: "http://p:1", no_proxy: "*.example.com" }, undefined],
  ["https://api.example.com/v1", { HTTPS_PROXY: "http://p:1", NO_PROXY: "*" }, undefined],
  ["https://badexample.com/v1", { HTTPS_PROXY: "http://p:1", NO_PROXY: "example.com" }, "p:1"],
  ["https://example.com:8443/", { HTTPS_PROXY: "http://p:1", NO_PROXY: "example.com:443" }, "p:1"],
  ["https://example.com/", { HTTPS_PROXY: "http://p:1", NO_PROXY: "example.com:443" }, undefined],
  ["http://localhost:11434/v1", { HTTP_PROXY: "http://p:1" }, undefined],
  ["http://127.0.0.1:11434/v1", { HTTP_PROXY: "http://p:1" }, undefined],
  ["http://[::1]:11434/v1", { HTTP_PROXY: "http://p:1" }, undefined],
  ["http://127.evil.com/v1", { HTTP_PROXY: "http://p:1" }, "p:1"],
] as [string, Record<string, string>, string | undefined][])("%s with %j goes through %s", (url, env, expected) => {
  expect(getProxy(url, env)).toBe(expected);
});
