import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { TerminalQueries } from "./terminal-queries.ts";

const black = "\x1b]11;rgb:00/00/00\x07";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function create() {
  const writes: string[] = [];
  const queries = new TerminalQueries(
    (data) => void writes.push(data),
    () => {},
  );
  return { queries, writes };
}

describe("the background", () => {
  test("is asked for once, however many want to know it, so that no answer is left over as input", async () => {
    const { queries, writes } = create();
    const answers = [queries.queryBackground(100), queries.queryBackground(100)];
    expect(writes).toEqual(["\x1b]11;?\x07"]);
    expect(queries.takeAnswer(black)).toBe(true);
    expect(await Promise.all(answers)).toEqual([
      { r: 0, g: 0, b: 0 },
      { r: 0, g: 0, b: 0 },
    ]);
  });

  test("is taken when nobody waits any more, once for each question", async () => {
    const { queries } = create();
    const answers = [queries.queryBackground(10), queries.queryBackground(20)];
    vi.advanceTimersByTime(20);
    expect(await Promise.all(answers)).toEqual([undefined, undefined]);
    expect([queries.takeAnswer(black), queries.takeAnswer(black)]).toEqual([true, false]);
  });

  test("is not expected again after one has given up and another got the answer", async () => {
    const { queries } = create();
    const answers = [queries.queryBackground(10), queries.queryBackground(20)];
    vi.advanceTimersByTime(10);
    expect([queries.takeAnswer(black), queries.takeAnswer(black)]).toEqual([true, false]);
    expect(await Promise.all(answers)).toEqual([undefined, { r: 0, g: 0, b: 0 }]);
  });
});
