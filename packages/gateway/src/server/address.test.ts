import fc from "fast-check";
import { expect, test } from "vitest";
import { isLoopback, toLimitKey } from "./address.ts";

test.each([
  ["127.0.0.1", true],
  ["127.255.0.9", true],
  ["localhost", true],
  ["::1", true],
  ["0:0:0:0:0:0:0:1", true],
  ["0000::0001", true],
  ["::ffff:127.0.0.1", true],
  ["0.0.0.0", false],
  ["::", false],
  ["::2", false],
  ["128.0.0.1", false],
  ["::ffff:128.0.0.1", false],
  ["127.evil.com", false],
  ["127.0.0.1.evil.com", false],
  ["localhost.evil.com", false],
  ["LOCALHOST.", false],
  ["2130706433", false],
  ["0x7f.1", false],
  ["", false],
])("whether only this machine reaches %s: %s", (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});

test("no name but localhost stands for this machine, however it begins", () => {
  fc.assert(
    fc.property(fc.domain(), fc.constantFrom("", "127.", "127.0.0.1.", "localhost."), (domain, start) => {
      expect(isLoopback(`${start}${domain}`)).toBe(false);
    }),
  );
});

test.each([
  ["127.0.0.1", "127.0.0.1"],
  ["::ffff:10.1.2.3", "10.1.2.3"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
  ["2001:db8:1:2::9", "2001:db8:1:2"],
  ["2001:db8::1", "2001:db8:0:0"],
  ["fe80::1%eth0", "fe80:0:0:0"],
  ["::1", "0:0:0:0"],
  ["64:ff9b::10.1.2.3", "64:ff9b:0:0"],
  [undefined, ""],
])("%s counts as %s", (address, expected) => {
  expect(toLimitKey(address)).toBe(expected);
});

test("all addresses of one IPv6 network count as one", () => {
  fc.assert(
    fc.property(fc.ipV6(), fc.ipV6(), (one, other) => {
      const half = toLimitKey(one);
      if (one.includes(".") || other.includes(".")) return;
      expect(toLimitKey(`${half}:1:2:3:4`)).toBe(half);
    }),
  );
});
