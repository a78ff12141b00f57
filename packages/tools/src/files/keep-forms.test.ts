import { expect, test } from "vitest";
import { applyChanges, planEdits } from "./match.ts";

test.each([
  {
    what: "full-width brackets on both sides of changes",
    file: "打印（甲）；打印（乙）",
    oldText: "打印(甲);打印(乙)",
    newText: "输出(甲);输出(丙)",
    result: "输出（甲）；输出（丙）",
  },
  {
    what: "full-width brackets after others that are new",
    file: "打印（甲，乙）。",
    oldText: "打印(甲,乙)。",
    newText: "如果(好):打印(甲,丙)。",
    result: "如果(好):打印（甲，丙）。",
  },
  {
    what: "whole lines between changes",
    file: "一（甲）：“x”  \r\n二（乙）—“y”  \r\n三（丙）：z",
    oldText: '一(甲):"x"\n二(乙)-"y"\n三(丙):z',
    newText: '一(A):"x"\n二(乙)-"y"\n三(C):z',
    result: "一（A）：“x”\r\n二（乙）—“y”  \r\n三（C）：z",
  },
  {
    what: "lines around one that goes",
    file: "（一）甲\n“二”\n（三）乙\n（四）丙",
    oldText: '(一)甲\n"二"\n(三)乙\n(四)丙',
    newText: "(一)丁\n(三)乙\n(四)戊",
    result: "（一）丁\n（三）乙\n（四）戊",
  },
  {
    what: "not the quotes of a sentence that becomes code",
    file: "// “hi” there",
    oldText: '// "hi" there',
    newText: 'print("hi") // there',
    result: 'print("hi") // there',
  },
])("a loose edit keeps $what", ({ file, oldText, newText, result }) => {
  const changes = planEdits(file, [{ oldText, newText }], "a.txt").map(({ change }) => change);
  expect(applyChanges(file, changes)).toBe(result);
});

test("an exact edit writes brackets as it says", () => {
  const [edit] = planEdits("打印（甲）", [{ oldText: "（甲）", newText: "(甲)" }], "a.txt");
  expect(edit?.change.text).toBe("(甲)");
});
