import type { SessionEvent, WireUsage } from "@tau/protocol";
import { expect, test } from "vitest";
import { CacheMisses, countMissedTokens } from "./cache-misses.ts";

const use = (cacheReadTokens: number, cacheWriteTokens: number): WireUsage => ({
  inputTokens: 10,
  outputTokens: 5,
  cacheReadTokens,
  cacheWriteTokens,
});

test.each([
  ["everything is read", use(10_000, 500), use(10_500, 300), 0],
  ["nothing is read", use(10_000, 500), use(0, 10_800), 10_500],
  ["half is read", use(10_000, 0), use(5_000, 5_000), 5_000],
  ["a block at the end is read again", use(20_000, 0), use(17_000, 3_000), 0],
  ["it is little", use(1_500, 0), use(0, 1_500), 0],
  ["the provider has no cache", { inputTokens: 9_000, outputTokens: 1 }, { inputTokens: 9_500, outputTokens: 1 }, 0],
])("tokens that are missed are counted where they are many: %s", (_what, before, usage, missed) => {
  expect(countMissedTokens(before, usage)).toBe(missed);
});

function open(isOn = true) {
  const said: string[] = [];
  const misses = new CacheMisses({ isOn: () => isOn, say: (text) => said.push(text) });
  const end = (usage: WireUsage, stopReason: "end_turn" | "error" = "end_turn") =>
    misses.take({ type: "message_end", messageId: "m", stopReason, usage });
  return { misses, said, end };
}

test("a miss is reported once, with the reason if it is known", () => {
  const { misses, said, end } = open();
  end(use(0, 30_000));
  misses.take({ type: "cache_break", segment: "tools.bash", reason: "The tool bash has changed.", tokens: 30_000 });
  end(use(0, 31_000));
  end(use(31_000, 100));
  end(use(0, 31_500));
  expect(said).toEqual([
    "Cache miss: 30k tokens were not in the provider's cache any more. The tool bash has changed.",
    "Cache miss: 31k tokens were not in the provider's cache any more.",
  ]);
});

test("an answer that failed is not compared, and nothing is after another model, a summary or another branch", () => {
  const { misses, said, end } = open();
  end(use(0, 30_000));
  end({ inputTokens: 0, outputTokens: 0 }, "error");
  end(use(30_000, 10));
  for (const type of ["model_changed", "compaction_end", "session_branched"] as const) {
    misses.take({ type } as SessionEvent);
    end(use(0, 30_000));
  }
  misses.forget();
  end(use(0, 30_000));
  expect(said).toEqual([]);
});

test("nothing is said unless it is wanted", () => {
  const { said, end } = open(false);
  end(use(0, 30_000));
  end(use(0, 30_000));
  expect(said).toEqual([]);
});
