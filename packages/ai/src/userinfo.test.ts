import fc from "fast-check";
import { expect, test } from "vitest";
import { withoutUserinfo } from "./userinfo.ts";

test.each([
  ["http://ada:secret@127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"],
  ["https://ada@host.example/v1", "https://host.example/v1"],
  ["https://:secret@host.example", "https://host.example"],
  ["https://a@b:c@host.example/x@y", "https://host.example/x@y"],
  ["https://ada:{PASSWORD}@{HOST}/v1", "https://{HOST}/v1"],
  ["https:\\\\ada:secret@host.example", "https:\\\\host.example"],
  ["https:ada:secret@host.example", "https:host.example"],
  ["https://host.example/@scope?to=a@b#c@d", "https://host.example/@scope?to=a@b#c@d"],
  ["host.example", "host.example"],
  ["", ""],
])("%s is shown as %s", (url, shown) => {
  expect(withoutUserinfo(url)).toBe(shown);
});

test("the user name and password are removed from any URL, and the rest is unchanged", () => {
  const part = fc.string({ unit: "binary-ascii", minLength: 1 }).map(encodeURIComponent);
  fc.assert(
    fc.property(part, part, fc.webUrl(), (user, password, url) => {
      const original = new URL(url);
      original.username = user;
      original.password = password;
      const shown = new URL(withoutUserinfo(original.href));
      expect([shown.username, shown.password]).toEqual(["", ""]);
      original.username = "";
      original.password = "";
      expect(shown.href).toBe(original.href);
    }),
  );
});
