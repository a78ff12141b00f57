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

test("whatever the user and the password are, what is shown has neither and leads to the same place", () => {
  const part = fc.string({ unit: "binary-ascii", minLength: 1 }).map(encodeURIComponent);
  fc.assert(
    fc.property(part, part, fc.webUrl(), (user, password, url) => {
      const whole = new URL(url);
      whole.username = user;
      whole.password = password;
      const shown = new URL(withoutUserinfo(whole.href));
      expect([shown.username, shown.password]).toEqual(["", ""]);
      whole.username = "";
      whole.password = "";
      expect(shown.href).toBe(whole.href);
    }),
  );
});
