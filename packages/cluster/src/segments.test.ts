import fc from "fast-check";
import { expect, test } from "vitest";
import { type LogMessage, Segments } from "./segments.ts";

/** Acts of a writer at the end of its log. */
type Step =
  | { kind: "append"; lengths: number[] }
  | { kind: "unfinished"; lengths: number[] }
  | { kind: "cut"; share: number }
  | { kind: "takeover" };

const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("append" as const), lengths }),
  // A writer that died: the next one begins with an empty message.
  fc.record({ kind: fc.constant("unfinished" as const), lengths }),
  fc.record({ kind: fc.constant("cut" as const), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({ kind: fc.constant("takeover" as const) }),
);

test("a log has the bytes of complete appends, whatever was cut off or left unfinished", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), fc.boolean(), (steps, isCached) => {
      let segments = new Segments();
      /** For each byte, the message and the place in it. */
      let expected: string[] = [];
      let seq = 0;
      const add = (message: Omit<LogMessage, "seq">) => segments.add({ ...message, seq: ++seq });
      for (const each of steps) {
        if (each.kind === "takeover") add({ position: expected.length, length: 0, hasMore: false });
        else if (each.kind === "cut") {
          expected = expected.slice(0, Math.floor(each.share * expected.length));
          add({ position: expected.length, length: 0, hasMore: false });
        } else {
          const isWhole = each.kind === "append";
          const added: string[] = [];
          for (const [index, length] of each.lengths.entries()) {
            const hasMore = !isWhole || index < each.lengths.length - 1;
            add({ position: expected.length + added.length, length, hasMore });
            for (let byte = 0; byte < length; byte++) added.push(`${seq}/${byte}`);
          }
          if (isWhole) expected.push(...added);
          else add({ position: expected.length, length: 0, hasMore: false });
        }
        if (isCached && segments.isWhole) segments = Segments.decode(segments.encode())!;
      }
      expect(segments.end).toBe(expected.length);
      expect(segments.lastSeq).toBe(seq);
      const found = segments
        .between(0, expected.length)
        .flatMap(({ seq: from, length }) => Array.from({ length }, (_, byte) => `${from}/${byte}`));
      expect(found).toEqual(expected);
      for (let start = 0; start < expected.length; start++) {
        const [first] = segments.between(start, start + 1);
        expect(`${first!.seq}/${start - first!.position}`).toBe(expected[start]);
      }
    }),
    { numRuns: 500 },
  );
});
