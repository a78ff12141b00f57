import { expect, test } from "vitest";
import { getOrigin } from "./share-link.ts";

const own = { host: "127.0.0.1", port: 7433, allowedHosts: [], allowedOrigins: [], tls: { cert: undefined } };

test.each([
  ["the gateway that runs", own, "ws://127.0.0.1:7500", "http://127.0.0.1:7500"],
  ["one with a certificate", own, "wss://localhost:7433", "https://localhost:7433"],
  ["where it would listen", own, undefined, "http://127.0.0.1:7433"],
  [
    "where it would listen, over IPv6 and with a certificate",
    { ...own, host: "::1", tls: { cert: "a.pem" } },
    undefined,
    "https://[::1]:7433",
  ],
  [
    "the name that people outside use",
    {
      ...own,
      allowedHosts: ["tau.example.com:443"],
      allowedOrigins: ["https://other.example", "https://tau.example.com"],
    },
    "ws://127.0.0.1:7433",
    "https://tau.example.com",
  ],
  [
    "not the page of another program, which is no name of the gateway",
    { ...own, allowedOrigins: ["https://other.example"] },
    "ws://127.0.0.1:7433",
    "http://127.0.0.1:7433",
  ],
])("the address of a link is %s", (_name, settings, url, origin) => {
  expect(getOrigin(settings, url)).toBe(origin);
});
