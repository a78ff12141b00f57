import { expect, test } from "vitest";
import { toSafeLink } from "./safe-link.ts";

test.each([
  ["https://example.com/a", "https://example.com/a"],
  ["HTTP://EXAMPLE.com", "http://example.com/"],
  ["https://еxample.com/", "https://xn--xample-2of.com/"],
  ["mailto:a@example.com", "mailto:a@example.com"],
  ["javascript:alert(1)", undefined],
  ["JavaScript:alert(1)", undefined],
  [" https://example.com", undefined],
  ["data:text/html,x", undefined],
  ["//example.com", undefined],
  ["/pair/claim", undefined],
  ["#x", undefined],
  ["file:///etc/passwd", undefined],
  ['https://example.com/"onclick="x', undefined],
  ["https://", undefined],
])("a link to %j leads to %j", (href, address) => {
  expect(toSafeLink(href)).toBe(address);
});
