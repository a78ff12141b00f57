import fc from "fast-check";
import { expect, test } from "vitest";
import { countLineFeeds, isPlainWord, toWords } from "./words.ts";

const isPlain = (byte: number) => (byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x09;

test("four bytes are plain together exactly if each of them is", () => {
  const byte = fc.oneof(fc.nat(255), fc.constantFrom(0, 8, 9, 10, 11, 0x1f, 0x20, 0x7e, 0x7f, 0x80, 0x8a, 0xff));
  const law = fc.property(fc.uint8Array({ minLength: 4, maxLength: 4 }), byte, fc.nat(3), (bytes, special, index) => {
    const word = Uint8Array.from(bytes, (each) => (each % 95) + 32);
    word[index] = special;
    expect(isPlainWord(toWords(word)[0]!)).toBe(word.every(isPlain));
    expect(isPlainWord(toWords(bytes)[0]!)).toBe(bytes.every(isPlain));
  });
  fc.assert(law, { numRuns: 5_000 });
});

test("line feeds are counted wherever the bytes begin and end", () => {
  const byte = fc.constantFrom(0x0a, 0x0a, 0x8a, 0x0b, 0x00, 0x78, 0xff);
  const law = fc.property(fc.array(byte, { maxLength: 40 }), fc.nat(9), (all, from) => {
    const bytes = Uint8Array.from(all).subarray(from);
    expect(countLineFeeds(bytes)).toBe(bytes.filter((each) => each === 0x0a).length);
  });
  fc.assert(law, { numRuns: 2_000 });
});
